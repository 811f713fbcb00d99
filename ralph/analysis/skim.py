"""A cheap search of what is too long to be read closely, for the phrases that matter most."""

from collections.abc import Iterable, Sequence

from ahocorasick_rs import BytesAhoCorasick

from ralph.analysis.text import Span

__all__ = ["FIRST", "LAST", "Skim"]

FIRST, LAST = 16, 16
"""Places of each rank that are given, from the beginning and from the end."""

_CHUNK = 65_536
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
        chunks = [
            (begin, min(begin + _CHUNK + _LONGEST, end))
            for first, end in spans
            if end - first > 1
            for begin in range(first, end, _CHUNK)
        ]
        return sorted({place for rank in self._ranks for place in _ends(rank, text, chunks)})


def _ends(rank: BytesAhoCorasick, text: str, chunks: Sequence[Span]) -> list[int]:
    """The first and the last places."""
    first: list[int] = []
    looked_at = 0
    while looked_at < len(chunks) and len(first) < FIRST:
        first += _places(rank, text, chunks[looked_at])
        looked_at += 1
    last: list[int] = []
    for chunk in reversed(chunks[looked_at:]):
        if len(last) >= LAST:
            break
        last = [*_places(rank, text, chunk), *last]
    return [*first, *last]


def _places(rank: BytesAhoCorasick, text: str, chunk: Span) -> list[int]:
    """The first and the last places in a chunk."""
    piece = text[chunk[0] : chunk[1]]
    raw = piece.encode(errors="replace").lower()
    found = rank.find_matches_as_indexes(raw)
    if len(found) > FIRST + LAST:
        found = [*found[:FIRST], *found[-LAST:]]
    if piece.isascii():
        return [chunk[0] + start for _, start, _ in found]
    return [chunk[0] + len(raw[:start].decode()) for _, start, _ in found]
