"""Texts in portions that a model reads at once: most models cut off silently what is longer.

How many tokens a text has is guessed by its letters, since no two models agree in it: in English a token is about four
letters, in Chinese or Thai hardly more than one.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ralph_grounding.text.sentences import sentences
from ralph_grounding.text.span import Span, trimmed

__all__ = ["portions", "windows"]

_LATIN = 3
"""Letters of the Latin alphabet in a token: less than on the average, since names and numbers have fewer."""

_MOST_WINDOWS = 2_000
"""Where a response has more sentences, neighbours are taken together."""


def portions(text: str, span: Span, tokens: int) -> Iterator[Span]:
    """The span in stretches of at most so many tokens, by the guess. They are parted at white space where there is
    some, and have none at their ends.
    """
    start = span.start
    while (end := _reach(text, start, span.end, tokens)) < span.end:
        space = max(text.rfind(" ", start, end), text.rfind("\n", start, end))
        end = space + 1 if space > start else end
        yield trimmed(text, Span(start, end))
        start = end
    yield trimmed(text, Span(start, span.end))


def windows(text: str, tokens: int) -> Iterator[Span]:
    """The sentences, and then each two neighbours that have at most so many tokens together."""
    cut = (portion for sentence in _grouped(sentences(text)) for portion in portions(text, sentence, tokens))
    spans = [span for span in cut if span.start < span.end]
    yield from spans
    for one, other in pairwise(spans):
        if _reach(text, one.start, other.end, tokens) == other.end:
            yield Span(one.start, other.end)


def _reach(text: str, start: int, end: int, tokens: int) -> int:
    """Where so many tokens from `start` on end, but not after `end`, and not before one letter."""
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
    """How many tokens a letter makes, by its script."""
    if letter < "\u0250":  # Latin
        return 1 / _LATIN
    if letter < "\u0590":  # Greek, Cyrillic, Armenian
        return 0.5
    return 1.0 if letter <= "\uffff" else 2.0  # emoji and rare signs are taken apart into bytes


def _grouped(spans: Sequence[Span]) -> Iterator[Span]:
    size = -(-len(spans) // _MOST_WINDOWS) or 1
    for first in range(0, len(spans), size):
        yield Span(spans[first].start, spans[min(first + size, len(spans)) - 1].end)
