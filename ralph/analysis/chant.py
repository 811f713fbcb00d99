"""A reply that says one thing over and over: an agent, or its model, that is caught in a loop of its own words."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Chant", "chant"]

_READ = 5_000
"""Characters of a reply's end that are looked at."""
_LONG = 400
"""Characters below which nothing is a chant."""
_FENCE = "```"
_STRETCH = 40
_TIMES = 6
_SHARE = 0.6
_PHRASE = 20
"""Words, or characters where words are not set apart, that have to be the same in a row: more than items of a list or
lines of a log have in common before they differ in a name or a number."""


class Chant(NamedTuple):
    """What is repeated, and how often."""

    phrase: str
    times: int


def chant(text: str) -> Chant | None:
    """The phrase that makes up most of the end of a long reply; None where none does. Code, tables and lines without
    words say nothing.
    """
    tail = text[-_READ:]
    if len(tail) < _LONG or not _suspect(tail):
        return None
    tail = _spoken(text, tail)
    pieces = tail.split()
    if len(tail.encode(errors="replace")) > 2 * len(tail):  # most likely of a language that sets no words apart
        pieces = list("".join(pieces))
    if len(pieces) < _PHRASE * 2 or 2 * len(set(pieces)) > len(pieces):
        return None
    return _repeated(pieces)


def _suspect(tail: str) -> bool:
    """Whether a stretch from the middle or from near an end comes again and again: a quick look."""
    places = (len(tail) // 5, len(tail) // 2, 4 * len(tail) // 5)
    return any(tail.count(tail[place : place + _STRETCH]) >= _TIMES - 2 for place in places)


def _spoken(text: str, tail: str) -> str:
    """The end of a text without what stands in its fences and tables."""
    within = text.count(_FENCE, 0, len(text) - len(tail)) % 2
    prose = "\n".join(tail.split(_FENCE)[within::2])
    return "\n".join(line for line in prose.split("\n") if not line.lstrip().startswith("|"))


def _repeated(pieces: Sequence[str]) -> Chant | None:
    """A chant is found from each of its places: where one phrase begins anew the same words follow as before."""
    rows = [hash(tuple(pieces[index : index + _PHRASE])) for index in range(len(pieces) - _PHRASE + 1)]
    counts = Counter(rows)
    most, times = counts.most_common(1)[0]
    if times < _TIMES or sum(count for count in counts.values() if count >= _TIMES) < _SHARE * len(rows):
        return None
    first = rows.index(most)
    period = rows.index(most, first + 1) - first
    phrase = _joined(pieces[first : first + period])
    return Chant(phrase, times) if sum(map(str.isalpha, phrase)) * 2 > len(phrase) else None


def _joined(pieces: Sequence[str]) -> str:
    return ("" if all(len(piece) == 1 for piece in pieces) else " ").join(pieces)[:200]
