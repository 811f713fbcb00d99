"""How alike two replies are, by the pairs of neighbouring words that they have in common."""

from functools import lru_cache
from itertools import pairwise

__all__ = ["LIKENESS", "alike"]

LIKENESS = 0.75
"""Share of pairs of words in common from which two replies are nearly the same."""

_COMPARED = 20_000
_SHORT = 500
"""Characters that two replies have together, below which they are short."""
_LONGER = 1.6
"""How much longer one of two replies is whose words cannot be the same."""
_DENSE = 1.5
"""Bytes for a character from which a text is most likely of a language that does not set its words apart."""


def alike(left: str, right: str) -> float:
    """How many of their pairs of words two replies have in common, 0–1, however often each has them. Short ones are
    alike only when they are the same: a single word of a command makes another command of it, and a number that moves
    in an error another error.
    """
    if left == right:
        return 1.0
    if len(left) + len(right) < _SHORT or max(len(left), len(right)) > _LONGER * min(len(left), len(right)):
        return 0.0
    ours, theirs = _pairs(left), _pairs(right)
    return 2 * len(ours & theirs) / max(len(ours) + len(theirs), 1)


@lru_cache(maxsize=16)
def _pairs(text: str) -> frozenset[tuple[str, str]]:
    """The pairs of neighbouring words, or characters where words are not set apart. Every reply is compared with a few
    that come after it.
    """
    words = text[:_COMPARED].lower().split()
    dense = len(text.encode(errors="replace")) > _DENSE * len(text)
    return frozenset(pairwise("".join(words) if dense else words))
