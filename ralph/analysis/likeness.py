"""How alike two replies are, by the words that they have in common."""

from collections import Counter
from functools import lru_cache

__all__ = ["LIKENESS", "alike"]

LIKENESS = 0.8
"""Share of words in common from which two replies are nearly the same."""

_COMPARED = 20_000
_SHORT = 90
"""Words that two replies have together, below which they are short."""
_LONGER = 1.6
"""How much longer one of two replies is whose words cannot be the same."""
_DENSE = 1.5
"""Bytes for a character from which a text is most likely of a language that does not set its words apart."""


def alike(left: str, right: str) -> float:
    """How many of their words two replies have in common, 0–1. Short ones are alike only when they are the same: a
    single word of a command makes another command of it, and a number that moves in an error is another error.
    """
    if left == right:
        return 1.0
    if max(len(left), len(right)) > _LONGER * min(len(left), len(right)):
        return 0.0
    ours, theirs = _words(left), _words(right)
    if ours == theirs:
        return 1.0
    total = ours.total() + theirs.total()
    common = sum(min(count, theirs[word]) for word, count in ours.items() if word in theirs)
    return 2 * common / total if total >= _SHORT else 0.0


@lru_cache(maxsize=16)
def _words(text: str) -> Counter[str]:
    """How often each word occurs, or each character where words are not set apart. Every reply is compared with a few
    that come after it.
    """
    text = text[:_COMPARED].lower()
    dense = len(text.encode(errors="replace")) > _DENSE * len(text)
    return Counter("".join(text.split()) if dense else text.split())
