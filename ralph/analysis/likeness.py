"""How alike two replies are, by the pairs of neighbouring words that they have in common."""

from functools import lru_cache
from itertools import pairwise

__all__ = ["LIKENESS", "alike"]

LIKENESS = 0.75
"""Share of pairs of words in common from which two replies are nearly the same."""

_COMPARED = 20_000
_SHORT = 500
"""Bytes that two replies have together, below which they are short."""
_LONGER = 1.6
"""How much longer one of two replies is whose words cannot be the same."""
_SAMPLES, _STRETCH = 6, 12
"""Stretches of the shorter reply that are looked for in the longer one, and how many characters each has."""
_DENSE = 1.5
"""Bytes for a character from which a text is most likely of a language that does not set its words apart."""


def alike(left: str, right: str) -> float:
    """How many of their pairs of words two replies have in common, 0–1, however often each has them. Short ones are
    alike only when they are the same: a single word of a command makes another command of it, and a number that moves
    in an error another error.
    """
    if left == right:
        return 1.0
    short, long = sorted((left[:_COMPARED], right[:_COMPARED]), key=lambda text: (len(text), text))
    if len(long) > _LONGER * len(short) or _size(short) + _size(long) < _SHORT or not _akin(short, long):
        return 0.0
    ours, theirs = _pairs(short), _pairs(long)
    return 2 * len(ours & theirs) / max(len(ours) + len(theirs), 1)


def _size(text: str) -> int:
    return len(text.encode(errors="replace"))


def _akin(short: str, long: str) -> bool:
    """Whether a few stretches of one reply stand in the other: a quick look."""
    step = len(short) // (_SAMPLES + 1)
    samples = (short[place : place + _STRETCH] for place in range(step, step * _SAMPLES + 1, step))
    return sum(sample in long for sample in samples) >= _SAMPLES // 3


@lru_cache(maxsize=16)
def _pairs(text: str) -> frozenset[tuple[str, str]]:
    """The pairs of neighbouring words, or characters where words are not set apart. Every reply is compared with a few
    that come after it.
    """
    words = text.lower().split()
    dense = _size(text) > _DENSE * len(text)
    return frozenset(pairwise("".join(words) if dense else words))
