"""A cheap search of what is too long to be read closely, for the phrases that matter most."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate

from ahocorasick_rs import BytesAhoCorasick

from ralph.analysis.text import Span

__all__ = ["FIRST", "LAST", "Skim"]

FIRST, LAST = 16, 16
"""Places of each rank that are given, from the beginning and from the end."""

_CHUNK = 16_384
_LONGEST = 100
"""Characters that a phrase may reach from one chunk into the next."""


class Skim:
    """Finds phrases in any case, written with single spaces, wherever they stand: also within words and quotes.

    It looks from the beginning until it has enough, and then from the end: what is full of phrases is not looked
    through. Bytes are searched, for this takes a third of the time that searching characters takes.

    Args:
        ranks: phrases in lower case. Those of one rank do not crowd out those of another.
    """

    def __init__(self, *ranks: Iterable[str]) -> None:
        self._ranks = [BytesAhoCorasick([phrase.encode() for phrase in phrases]) for phrases in ranks]

    def __call__(self, text: str, spans: Sequence[Span]) -> list[int]:
        """The places of the first and the last phrases of each rank within the spans, in order."""
        chunks = [_Chunk(text, parts) for parts in _together(spans)]
        return sorted({place for rank in self._ranks for place in _ends(rank, chunks)})


class _Chunk:
    """Spans of a text that are searched together, a line feed between each two of them."""

    def __init__(self, text: str, spans: Sequence[Span]) -> None:
        self._text, self._spans = text, spans

    @cached_property
    def _piece(self) -> str:
        return "\n".join([self._text[begin:end] for begin, end in self._spans])

    @cached_property
    def _raw(self) -> bytes:
        return self._piece.encode(errors="replace").lower()

    @cached_property
    def _starts(self) -> list[int]:
        """Where in the piece each of the spans begins."""
        return list(accumulate([end - begin + 1 for begin, end in self._spans[:-1]], initial=0))

    def places(self, rank: BytesAhoCorasick) -> list[int]:
        """The first and the last places."""
        found = rank.find_matches_as_indexes(self._raw)
        if len(found) > FIRST + LAST:
            found = [*found[:FIRST], *found[-LAST:]]
        ascii_only = self._piece.isascii()
        return [self._place(start if ascii_only else len(self._raw[:start].decode())) for _, start, _ in found]

    def _place(self, position: int) -> int:
        """Where a position in the piece is in the text."""
        index = bisect_right(self._starts, position) - 1
        return self._spans[index][0] + position - self._starts[index]


def _together(spans: Iterable[Span]) -> Iterator[list[Span]]:
    """What is searched at once: parts of a long span, and many short ones."""
    parts: list[Span] = []
    length = 0
    for first, end in spans:
        for begin in range(first, end if end - first > 1 else first, _CHUNK):
            part = begin, min(begin + _CHUNK + _LONGEST, end)
            if length > _CHUNK:
                yield parts
                parts, length = [], 0
            parts.append(part)
            length += part[1] - begin
    if parts:
        yield parts


def _ends(rank: BytesAhoCorasick, chunks: Sequence[_Chunk]) -> list[int]:
    """The first and the last places."""
    first: list[int] = []
    looked_at = 0
    while looked_at < len(chunks) and len(first) < FIRST:
        first += chunks[looked_at].places(rank)
        looked_at += 1
    last: list[int] = []
    for chunk in reversed(chunks[looked_at:]):
        if len(last) >= LAST:
            break
        last = [*chunk.places(rank), *last]
    found = [*first, *last]
    return found if len(found) <= FIRST + LAST else [*found[:FIRST], *found[-LAST:]]
