"""Texts in portions that fit a model's input: most models silently cut off longer ones.

The number of tokens is estimated by letters, because no two models agree on it: in English a token is about four
letters, in Chinese or Thai hardly more than one.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ralph_grounding.text.sentences import sentences
from ralph_grounding.text.span import Span, trimmed

__all__ = ["portions", "windows"]

_LATIN = 3
"""Letters of the Latin alphabet in a token: less than the average, because names and numbers have fewer."""

_MOST_WINDOWS = 2_000
"""Beyond so many sentences of a response, neighbours are joined."""


def portions(text: str, span: Span, tokens: int) -> Iterator[Span]:
    """Cut the span into stretches of at most so many estimated tokens.

    The cuts are at white space if there is some, and the stretches have none at their ends.
    """
    start = span.start
    while (end := _reach(text, start, span.end, tokens)) < span.end:
        space = max(text.rfind(" ", start, end), text.rfind("\n", start, end))
        end = space + 1 if space > start else end
        yield trimmed(text, Span(start, end))
        start = end
    yield trimmed(text, Span(start, span.end))


def windows(text: str, tokens: int) -> Iterator[Span]:
    """Yield the sentences, and then each two neighbours that fit into so many tokens together."""
    cut = (portion for sentence in _grouped(sentences(text)) for portion in portions(text, sentence, tokens))
    spans = [span for span in cut if span.start < span.end]
    yield from spans
    for one, other in pairwise(spans):
        if _reach(text, one.start, other.end, tokens) == other.end:
            yield Span(one.start, other.end)


def _reach(text: str, start: int, end: int, tokens: int) -> int:
    """Return the end of so many tokens from `start` on, within `end` and after at least one letter."""
    most = text[start : min(end, start + tokens * _LATIN)]
    if most.isascii():
        return start + len(most)
    left = float(tokens)
    for place, letter in enumerate(most):
        left -= _tokens(letter)
        if left < 0:
            return start + max(place, 1)
    return start + len(most)


def _tokens(letter: str) -> float:
    """Return the number of tokens in a letter, by its script."""
    if letter < "\u0250":  # Latin
        return 1 / _LATIN
    if letter < "\u0590":  # Greek, Cyrillic, Armenian
        return 0.5
    return 1.0 if letter <= "\uffff" else 2.0  # emoji and rare signs are split into bytes


def _grouped(spans: Sequence[Span]) -> Iterator[Span]:
    size = -(-len(spans) // _MOST_WINDOWS) or 1
    for first in range(0, len(spans), size):
        yield Span(spans[first].start, spans[min(first + size, len(spans)) - 1].end)
