"""The pieces of a response to look up in the ground truth: usually sentences."""

import re
from collections.abc import Iterator, Sequence

from ralph_grounding.text.sentences import sentences
from ralph_grounding.text.span import Span
from ralph_grounding.text.tokens import tokens

__all__ = ["is_statement", "pieces"]

_LONGEST = 1000
_MOST = 2000
_FEWEST_WORDS = 3
_HEADING = re.compile(r"\s{0,8}#{1,6}\s")
_CLOSING = " \t\r\n\"'”’»)]*_`"
_LOOKED_AT = 400
_ADDRESS = re.compile(r"\bhttps?://\S+")


def pieces(response: str) -> list[Span]:
    """Cut the response into stretches that together cover it, each with the white space after it.

    A sentence of more than 1,000 characters is cut at white space; beyond 2,000 pieces neighbours are joined.
    """
    cut = [piece for sentence in sentences(response) for piece in _cut(response, sentence)]
    return list(_joined(cut, -(-len(cut) // _MOST)))


def is_statement(text: str) -> bool:
    """Return True if a piece states something.

    It needs three words or more besides addresses, and is not a question, a heading or an announcement.
    """
    if _HEADING.match(text) or text.rstrip(_CLOSING).endswith(("?", "？", ":", "：")):
        return False
    return len(tokens(_ADDRESS.sub(" ", text[:_LOOKED_AT]))) >= _FEWEST_WORDS


def _cut(text: str, span: Span) -> Iterator[Span]:
    start = span.start
    while span.end - start > _LONGEST:
        space = max(text.rfind(" ", start, start + _LONGEST), text.rfind("\n", start, start + _LONGEST))
        end = space + 1 if space > start else start + _LONGEST
        yield Span(start, end)
        start = end
    yield Span(start, span.end)


def _joined(spans: Sequence[Span], size: int) -> Iterator[Span]:
    for first in range(0, len(spans), max(size, 1)):
        yield Span(spans[first].start, spans[min(first + size, len(spans)) - 1].end)
