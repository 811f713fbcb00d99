"""How alike two replies are, by the words that they have in common."""

from collections import Counter
from functools import lru_cache

from ralph.analysis.pattern import pattern

__all__ = ["LIKENESS", "alike"]

LIKENESS = 0.85
"""Share of words in common from which two replies are nearly the same."""

_COMPARED = 20_000
_SHORT = 120
"""Words that two replies have together, below which they are short."""
_WORD = pattern(r"[a-z0-9_]+|[^\w\s]|[\u3400-\u9fff]")


def alike(left: str, right: str) -> float:
    """How many of their words two replies have in common, 0–1. Short ones are alike only when they are the same: a
    single word of a command makes another command of it, and a number that moves in an error is another error.
    """
    if left == right:
        return 1.0
    ours, theirs = _words(left), _words(right)
    if ours == theirs:
        return 1.0
    total = ours.total() + theirs.total()
    common = sum(min(count, theirs[word]) for word, count in ours.items() if word in theirs)
    return 2 * common / total if total >= _SHORT else 0.0


@lru_cache(maxsize=16)
def _words(text: str) -> Counter[str]:
    """How often each word occurs. Every reply is compared with a few that come after it."""
    return Counter(_WORD.findall(text[:_COMPARED].lower()))
