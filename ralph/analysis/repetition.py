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


class _Rounds(NamedTuple):
    """How a phrase goes round.

    Attributes:
        first: the first piece of it.
        period: pieces from there until it begins anew.
        times: how often it begins.
        places: of all places where something begins that begins `_TIMES` times.
    """

    first: int
    period: int
    times: int
    places: int


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
    return _repeated(pieces) if len(pieces) >= _PHRASE * 2 else None


def _suspect(tail: str) -> bool:
    """Whether a stretch from the middle or from near an end comes again and again: a quick look."""
    for place in (len(tail) // 5, len(tail) // 2, 4 * len(tail) // 5):
        if tail.count(tail[place : place + _STRETCH]) >= _TIMES - 2:
            return True
    return False


def _spoken(text: str, tail: str) -> str:
    """The end of a text without what stands in its fences and tables."""
    within = text.count(_FENCE, 0, len(text) - len(tail)) % 2
    prose = "\n".join(tail.split(_FENCE)[within::2])
    return "\n".join(line for line in prose.split("\n") if not line.lstrip().startswith("|"))


def _repeated(pieces: Sequence[str]) -> Chant | None:
    """A chant is found from each of its places: where one phrase begins anew the same words follow as before."""
    found = _exactly(pieces) or _nearly(pieces)
    if found is None or found.times < _TIMES or found.places < _SHARE * (len(pieces) - _PHRASE + 1):
        return None
    phrase = _joined(pieces[found.first : found.first + found.period])
    return Chant(phrase, found.times) if sum(map(str.isalpha, phrase)) * 2 > len(phrase) else None


def _exactly(pieces: Sequence[str]) -> _Rounds | None:
    """The rounds of one phrase and nothing else. Its places come in turns, so that none of them has to be read."""
    for period in range(1, _PHRASE + 1):
        if pieces[period] == pieces[0] and pieces[period:] == pieces[:-period]:
            whole, more = divmod(len(pieces) - _PHRASE + 1, period)
            times = whole + (more > 0)
            return _Rounds(0, period, times, whole * period + more if whole >= _TIMES else more * times)
    return None


def _nearly(pieces: Sequence[str]) -> _Rounds | None:
    """The rounds of the phrase that comes most often."""
    if 2 * len(set(pieces)) > len(pieces):
        return None
    rows = [hash(tuple(pieces[index : index + _PHRASE])) for index in range(len(pieces) - _PHRASE + 1)]
    counts = Counter(rows)
    most, times = counts.most_common(1)[0]
    if times < _TIMES:
        return None
    first = rows.index(most)
    again = rows.index(most, first + 1)
    return _Rounds(first, again - first, times, sum(count for count in counts.values() if count >= _TIMES))


def _joined(pieces: Sequence[str]) -> str:
    return ("" if all(len(piece) == 1 for piece in pieces) else " ").join(pieces)[:200]
