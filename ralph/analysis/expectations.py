"""What may be expected of a reply (Ralph Runtime guide): the ladder, the quality score, and the guide's messages."""

from itertools import islice

from ralph.analysis.result import Level, Metrics
from ralph.system.text import pattern

__all__ = [
    "CATASTROPHIC_ERRORS",
    "STAGNATION",
    "expectation_messages",
    "level",
    "output_quality",
    "quality_score",
]

STAGNATION = 3
"""Percent of progress below which a loop stagnates."""
CATASTROPHIC_ERRORS = 5

_SPECIFIC = pattern(
    r"[.`0-9(](?:(?<=[\w-]\.)[a-z]{1,5}\b(?:\.[\w-]+)?|(?<=`)[^`\n]{1,80}`|(?<=\b[0-9])\d{0,8}\b|(?<=\w\()\))"
)
"""The end of a file's name, code, a number, a call. The first character is one of a set, to which `re` skips ahead."""
_FILE = pattern(r"\.(?<=[\w-]\.)[a-z]{1,5}\b(?:\.[\w-]+)?")
_NO_FILE = "(`0123456789"
"""What all but the names of files begin with. To a single character `re` skips in a tenth of the time."""


def level(confidence: int, errors: int, *, length: int, progress: int | None = None, fatal: bool = False) -> Level:
    """The step of the ladder that a reply reaches.

    Args:
        confidence: the agent's own, 0–100.
        errors: distinct patterns.
        length: characters, after trimming.
        progress: percent; left out of it where it is unknown, as in a first iteration.
        fatal: an error without a way on was found.
    """
    catastrophic = fatal or errors >= CATASTROPHIC_ERRORS
    if catastrophic or not length or (progress is not None and progress <= 0):
        return "below_minimum"
    if errors == 0 and confidence > 80 and (progress is None or progress > 10):
        return "excellent"
    if errors < 3 and confidence > 50 and (progress is None or progress > STAGNATION):
        return "good"
    return "minimum"


def output_quality(text: str) -> float:
    """Length and specificity, 0–100: half for 500 characters or more, half for five names of files, numbers or pieces
    of code or more.
    """
    length = min(1.0, len(text.strip()) / 500)
    begun = text[:20_000]
    sought = _SPECIFIC if any(map(begun.__contains__, _NO_FILE)) else _FILE
    specific = len(list(islice(sought.finditer(begun), 5)))
    return 50 * length + 10 * specific


def quality_score(completion: int, confidence: int, errors: int, output: float) -> int:
    """All metrics together: 40 % completion, 30 % the agent's certainty, 20 % freedom from errors (each distinct
    pattern costs a fifth of it), 10 % the quality of the output. High from 70, low below 40.
    """
    clean = max(0, 100 - 20 * errors)
    whole = 0.4 * completion + 0.3 * confidence + 0.2 * clean + 0.1 * output
    return min(100, max(0, round(whole)))


def expectation_messages(metrics: Metrics, *, threshold: float = STAGNATION) -> tuple[str, ...]:
    """The guide's messages for a reply, each by itself."""
    messages: list[str] = []
    if metrics.progress is not None and metrics.progress <= 0:
        messages.append("⚠️  Warning: No progress detected")
    elif metrics.progress is not None and metrics.progress < threshold:
        messages.append("⚠️  Warning: Progress below stagnation threshold")
    if metrics.completion_score == 100:
        messages.append("✅ Completion detected")
    return tuple(messages)
