"""A stretch of a text."""

from typing import NamedTuple

__all__ = ["Span", "trimmed"]


class Span(NamedTuple):
    """`text[start:end]`, with 0 ≤ `start` ≤ `end` ≤ the text's length."""

    start: int
    end: int


def trimmed(text: str, span: Span) -> Span:
    """Return the same stretch without white space at its ends; empty, at its start, if there is nothing else."""
    piece = text[span.start : span.end]
    start = span.start + len(piece) - len(piece.lstrip())
    end = span.start + len(piece.rstrip())
    return Span(start, end) if start < end else Span(span.start, span.start)
