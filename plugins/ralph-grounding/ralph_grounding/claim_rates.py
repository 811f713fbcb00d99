"""Claims over all answers to a query: how often each is made, and which providers miss it."""

import math
from collections import Counter
from typing import NamedTuple

from pydantic import BaseModel, Field

from ralph_grounding.materials import Importance
from ralph_grounding.result import AnalysisResult

__all__ = ["ClaimRate", "ClaimTally", "side_of", "wilson"]

_NORMAL = 1.959964


class ClaimRate(BaseModel, frozen=True):
    """One expected claim over all answers to its query.

    Attributes:
        answers: the number of answers: of each provider and model, one per trial.
        found, contradicted: the number of answers that make it, and that contradict it.
        missed_by: the providers and models that made it in fewer than half of their answers.
        sides: the number of providers and models.
        rate: the share of the answers that make it, in percent.
        low, high: the bounds of Wilson's 95 % interval of the rate.
    """

    query_id: str
    claim: str
    importance: Importance = "required"
    answers: int = Field(ge=1)
    found: int = Field(ge=0)
    contradicted: int = Field(default=0, ge=0)
    missed_by: tuple[str, ...] = ()
    sides: int = Field(default=1, ge=1)
    rate: float
    low: float
    high: float

    def __str__(self) -> str:
        shares = f"{self.rate:.0f} %, 95 % interval {self.low:.0f}–{self.high:.0f} %"
        against = f", {self.contradicted} contradict it" if self.contradicted else ""
        answers = f"{self.found} of {self.answers} answers make it ({shares}){against}"
        return f"missed by {len(self.missed_by)} of {self.sides} providers; {answers}"


class _Count(NamedTuple):
    importance: Importance
    answers: Counter[str]
    found: Counter[str]
    contradicted: Counter[str]


class ClaimTally:
    """Collector of claims, one analysis after the other; memory grows with claims and providers only."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str], _Count] = {}

    def add(self, result: AnalysisResult) -> None:
        """Count the claims of one analysis."""
        side = side_of(result.ai_provider, result.model)
        for judged in result.scores.completeness.matches if result.scores.completeness else ():
            key = result.query_id, judged.claim
            count = self._counts.setdefault(key, _Count(judged.importance, Counter(), Counter(), Counter()))
            count.answers[side] += 1
            count.found[side] += judged.found
            count.contradicted[side] += bool(judged.conflicts)

    def rates(self, most: int | None = None) -> tuple[ClaimRate, ...]:
        """Return the claims, those that most providers miss first, then the least frequent."""
        found = (_rate(*key, count) for key, count in self._counts.items())
        return tuple(sorted(found, key=lambda each: (-len(each.missed_by) / each.sides, each.rate))[:most])


def side_of(provider: str, model: str) -> str:
    """Return the name of who answered: provider and model, as far as known."""
    return " ".join(part for part in (provider, model) if part) or "unnamed"


def wilson(found: int, total: int) -> tuple[float, float]:
    """Return the bounds of Wilson's 95 % interval of a share, in percent."""
    square = _NORMAL**2
    middle = (found + square / 2) / (total + square)
    reach = _NORMAL / (total + square) * math.sqrt(found * (total - found) / total + square / 4)
    return max(0.0, 100 * (middle - reach)), min(100.0, 100 * (middle + reach))


def _rate(query_id: str, claim: str, count: _Count) -> ClaimRate:
    answers, found = count.answers.total(), count.found.total()
    low, high = wilson(found, answers)
    return ClaimRate(
        query_id=query_id,
        claim=claim,
        importance=count.importance,
        answers=answers,
        found=found,
        contradicted=count.contradicted.total(),
        missed_by=tuple(sorted(side for side, number in count.answers.items() if 2 * count.found[side] < number)),
        sides=len(count.answers),
        rate=100 * found / answers,
        low=low,
        high=high,
    )
