"""Whether the loop goes in circles.

Repeated outputs, repeated test-only replies and the absence of progress decide. Error patterns that repeat are
always told and counted; by themselves they decide only where nothing else is known: productive loops meet the same
error again and again.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from ralph.analysis.result import Past, Stuck
from ralph.analysis.signatures import normalised

__all__ = ["REPEATS", "WINDOW", "Pass", "alike", "detect_stuck_loop", "stuck"]

REPEATS = 3
WINDOW = 5
LIKENESS = 0.85
"""Share of words in common from which two replies are nearly the same."""

_COMPARED = 20_000
_SHORT = 60
"""Words that two replies have together, below which they are short."""
_WORD = re.compile(r"[a-z0-9_]+|[^\w\s]|[\u3400-\u9fff]")


class Pass(NamedTuple):
    """One iteration, as far as repetition goes.

    Attributes:
        errors: normalised; a pattern counts once however often one iteration met it.
        progressed: whether workspace or plan moved; None where unknown.
    """

    text: str
    errors: frozenset[str] = frozenset()
    test_only: bool = False
    progressed: bool | None = None

    @classmethod
    def of(cls, past: Past) -> "Pass":
        return cls(past.text, frozenset(past.error_signatures), past.test_only, past.progressed)


def detect_stuck_loop(error_history: Sequence[str], *, window: int = WINDOW, repeats: int = REPEATS) -> Stuck:
    """Nity Loop's rule by itself: the same error pattern so many times among the last errors.

    Args:
        error_history: one error text an iteration, oldest first.
        window: how many of them are looked at.
    """
    recent = [pattern for error in error_history[-window:] if (pattern := normalised(error))]
    return _found(Counter(recent), (), len(recent), repeats, by_errors=True)


def stuck(
    passes: Sequence[Pass],
    errors: Iterable[str] = (),
    *,
    window: int = WINDOW,
    repeats: int = REPEATS,
) -> Stuck:
    """Whether the last iterations go in circles.

    Args:
        passes: the iterations, oldest first, the one at hand last.
        errors: error patterns from outside, counted as often as they stand there.
    """
    recent = passes[-window:]
    frequency = Counter(pattern for one in recent for pattern in one.errors)
    frequency.update(errors)
    last = recent[-repeats:]
    circles: list[str] = []
    if len(last) == repeats and not any(one.progressed for one in last):
        circles += _circles(last)
    only_errors = all(one.progressed is None for one in recent) and not _varied(recent)
    return _found(frequency, circles, len(recent), repeats, by_errors=only_errors)


def alike(left: str, right: str) -> float:
    """How many of their words two replies have in common, 0–1. Short ones are alike only when they are the same: a
    single word of a command makes another command of it.
    """
    ours, theirs = _words(left), _words(right)
    if ours == theirs:
        return 1.0
    total = ours.total() + theirs.total()
    common = sum(min(ours[word], theirs[word]) for word in ours.keys() & theirs.keys())
    return 2 * common / total if total >= _SHORT else 0.0


@lru_cache(maxsize=16)
def _words(text: str) -> Counter[str]:
    """How often each word occurs. Every reply is compared with a few that come after it."""
    return Counter(_WORD.findall(text[:_COMPARED].lower()))


def _circles(last: Sequence[Pass]) -> list[str]:
    found: list[str] = []
    if all(one.text.strip() and alike(one.text, last[-1].text) >= LIKENESS for one in last):
        found.append("repeated output")
    if all(one.test_only for one in last):
        found.append("test-only loop")
    if all(one.progressed is False for one in last):
        found.append("no progress")
    return found


def _varied(recent: Sequence[Pass]) -> bool:
    """Whether the replies are known to differ."""
    texts = {one.text.strip() for one in recent if one.text.strip()}
    return len(texts) > 1


def _found(frequency: Counter[str], circles: Sequence[str], size: int, repeats: int, *, by_errors: bool) -> Stuck:
    repeated = [pattern for pattern, count in frequency.most_common() if count >= repeats]
    most = max([repeats] * bool(circles) + [frequency[pattern] for pattern in repeated[:1]], default=0)
    return Stuck(
        detected=bool(circles) or (by_errors and bool(repeated)),
        repeated_patterns=(*circles, *repeated),
        error_frequency=dict(frequency.most_common(50)),
        confidence=min(100.0, round(100 * most / max(size, most, 1), 1)),
    )
