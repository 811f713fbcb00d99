"""The shortfalls of an answer, in sentences for an agent."""

from collections.abc import Callable
from typing import NamedTuple, Protocol, Self

from ralph_grounding.result import AnalysisResult, CompletenessResult

__all__ = ["Minimums", "shortfalls"]

_MOST = 20
_LONG = 300


class _Asking(Protocol):
    @property
    def min_accuracy(self) -> float | None: ...
    @property
    def min_completeness(self) -> float | None: ...
    @property
    def min_attribution(self) -> float | None: ...


class Minimums(NamedTuple):
    """The lowest acceptable scores; None accepts any."""

    accuracy: float | None = None
    completeness: float | None = None
    attribution: float | None = None

    @classmethod
    def of(cls, asking: _Asking) -> Self:
        return cls(asking.min_accuracy, asking.min_completeness, asking.min_attribution)


def shortfalls(result: AnalysisResult, minimums: Minimums, place: Callable[[int], str] = lambda _: "it") -> list[str]:
    """Describe each score that is too low, or not measured although it has a minimum.

    Args:
        result: the analysis.
        minimums: the lowest acceptable scores.
        place: names the place of a position in the text.
    """
    said: list[str] = []
    for name, part, least in (
        ("completeness", result.scores.completeness, minimums.completeness),
        ("accuracy", result.scores.accuracy, minimums.accuracy),
        ("attribution", result.scores.attribution, minimums.attribution),
    ):
        if least is None or (part is not None and part.score >= least):
            continue
        if part is None:
            said.append(f"{name} was not measured, because there is nothing to measure it by")
            continue
        said.append(f"{name} is {part.score:.0f}, but must be at least {least:g}")
        if isinstance(part, CompletenessResult):
            said += _of_claims(part, place)
    return said


def _of_claims(part: CompletenessResult, place: Callable[[int], str]) -> list[str]:
    """Describe the missing required claims, and what the text says instead."""
    lacking = [judged for judged in part.matches if judged.importance == "required" and not judged.found]
    said: list[str] = []
    for judged in lacking[:_MOST]:
        claim = " ".join(judged.claim.split())[:_LONG]
        if judged.conflicts:
            there = " ".join(judged.matched_text.split())[:_LONG]
            said.append(f"contradicted: {claim} ({place(judged.position.start)} says: {there})")
        else:
            said.append(f"missing: {claim}")
    if len(lacking) > _MOST:
        said.append(f"and {len(lacking) - _MOST} more claims are missing")
    return said
