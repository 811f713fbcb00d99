"""Summary of a run's scores, and the change since the run before; memory holds three numbers per analysis."""

import math
import statistics
from array import array
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal, NamedTuple, get_args

from pydantic import BaseModel, Field

from ralph.types import evolve
from ralph_grounding.claim_rates import ClaimRate
from ralph_grounding.result import Scores, Tier

__all__ = [
    "ALERT_DROP",
    "APART",
    "METRICS",
    "MOST_CLAIMS",
    "DomainScoreSummary",
    "Metric",
    "MetricSummary",
    "Point",
    "ScoreAlert",
    "ScoreTally",
    "ScoreTrend",
    "points_of",
]

Metric = Literal["accuracy", "completeness", "attribution"]
METRICS: tuple[Metric, ...] = get_args(Metric)
TIERS: tuple[Tier, ...] = get_args(Tier)

ALERT_DROP = 10.0
"""The fall of a mean, in percent of its former value, above which there is an alert."""

APART = "other_language"
"""The flag of analyses that count in no mean."""

MOST_CLAIMS = 100
"""The maximum number of claims in a summary."""

_ROUNDING = 1e-9


class Point(NamedTuple):
    """One score of one analysis."""

    score: float
    tier: Tier


class MetricSummary(BaseModel, frozen=True):
    """The summary of one metric. The five numbers are None if nothing was measured.

    Attributes:
        measured: the number of analyses with this score; the others count nowhere here.
        distribution: the number in each of the four tiers; their sum is `measured`.
    """

    measured: int = Field(ge=0)
    mean: float | None = None
    median: float | None = None
    min: float | None = None
    max: float | None = None
    distribution: Mapping[Tier, int]


class ScoreTrend(BaseModel, frozen=True):
    """This run's means minus those of the domain's last completed run; None if either has none.

    Attributes:
        same_queries: whether both runs asked the same.
        note: the differences between the two runs, besides the answers, that limit the comparison; empty if there are
            none.
    """

    previous_run_id: str
    previous_run_at: datetime
    accuracy_delta: float | None = None
    completeness_delta: float | None = None
    attribution_delta: float | None = None
    same_queries: bool = True
    note: str = ""


class ScoreAlert(BaseModel, frozen=True):
    """A mean that fell by more than `ALERT_DROP` percent. `drop` is in percent of `previous`."""

    metric: Metric
    previous: float
    current: float
    drop: float

    def __str__(self) -> str:
        return f"{self.metric} fell by {self.drop:.1f} %, from {self.previous:.1f} to {self.current:.1f}"


class DomainScoreSummary(BaseModel, frozen=True):
    """The summary of a run's scores.

    Attributes:
        run_at: the run's start.
        query_count: the number of analysed responses; failures count in `failed_count` and in no mean. Each metric's
            distribution sums to this, less its unmeasured ones.
        trend: absent for a domain's first run.
        other_language: the number of analysed responses in another language than the expected text. Words cannot judge
            them, so they count in no mean.
        support_rate, contradiction_rate: the means over the analyses that have them, in percent; None if none has.
        claims: the claims that are missed most, at most 100; empty if the run has not ended.
    """

    domain: str
    run_id: str
    run_at: datetime
    query_count: int = Field(ge=0)
    failed_count: int = Field(default=0, ge=0)
    other_language: int = Field(default=0, ge=0)
    accuracy: MetricSummary
    completeness: MetricSummary
    attribution: MetricSummary
    support_rate: float | None = None
    contradiction_rate: float | None = None
    trend: ScoreTrend | None = None
    alerts: tuple[ScoreAlert, ...] = ()
    claims: tuple[ClaimRate, ...] = ()

    def metric(self, name: Metric) -> MetricSummary:
        """Return the summary of the metric with that name."""
        return {"accuracy": self.accuracy, "completeness": self.completeness, "attribution": self.attribution}[name]

    def against(
        self, previous: "DomainScoreSummary", *, same_queries: bool, otherwise: Sequence[str] = ()
    ) -> "DomainScoreSummary":
        """Return the summary with the changes since an earlier run of the domain.

        Args:
            previous: the earlier run's summary.
            same_queries: both runs asked the same.
            otherwise: other differences of the earlier run, such as "used other scoring settings".
        """
        differing = [*(() if same_queries else ("asked another set of queries",)), *otherwise]
        deltas = {name: _delta(previous.metric(name).mean, self.metric(name).mean) for name in METRICS}
        trend = ScoreTrend(
            previous_run_id=previous.run_id,
            previous_run_at=previous.run_at,
            accuracy_delta=deltas["accuracy"],
            completeness_delta=deltas["completeness"],
            attribution_delta=deltas["attribution"],
            same_queries=same_queries,
            note=f"The previous run {' and '.join(differing)}, so compare with care." if differing else "",
        )
        found = [_alert(name, previous.metric(name).mean, self.metric(name).mean) for name in METRICS]
        return evolve(self, trend=trend, alerts=tuple(alert for alert in found if alert))


class ScoreTally:
    """Collector of scores, one analysis after the other. The median is exact, at eight bytes per score."""

    def __init__(self) -> None:
        self._count = self._apart = 0
        self._metrics = {name: _MetricTally() for name in METRICS}
        self._rates = (array("d"), array("d"))

    def add(self, *points: Point | None, rates: tuple[float | None, float | None] = (None, None)) -> None:
        """Count one analysis: its scores in the order of `METRICS`, None for unmeasured ones, and its two rates."""
        self._count += 1
        for name, point in zip(METRICS, points, strict=True):
            if point is not None:
                self._metrics[name].add(point)
        for kept, rate in zip(self._rates, rates, strict=True):
            if rate is not None:
                kept.append(rate)

    def add_apart(self) -> None:
        """Count an analysis in another language, without its scores."""
        self._count += 1
        self._apart += 1

    def summary(self, *, domain: str, run_id: str, run_at: datetime, failed: int = 0) -> DomainScoreSummary:
        """Summarise the scores so far."""
        return DomainScoreSummary(
            domain=domain,
            run_id=run_id,
            run_at=run_at,
            query_count=self._count,
            failed_count=failed,
            other_language=self._apart,
            accuracy=self._metrics["accuracy"].summary(),
            completeness=self._metrics["completeness"].summary(),
            attribution=self._metrics["attribution"].summary(),
            support_rate=_mean(self._rates[0]),
            contradiction_rate=_mean(self._rates[1]),
        )


class _MetricTally:
    def __init__(self) -> None:
        self._scores = array("d")
        self._distribution = dict.fromkeys(TIERS, 0)

    def add(self, point: Point) -> None:
        self._scores.append(point.score)
        self._distribution[point.tier] += 1

    def summary(self) -> MetricSummary:
        scores, distribution = self._scores, dict(self._distribution)
        if not scores:
            return MetricSummary(measured=0, distribution=distribution)
        lowest, highest = min(scores), max(scores)
        return MetricSummary(
            measured=len(scores),
            mean=min(max(math.fsum(scores) / len(scores), lowest), highest),
            median=statistics.median(scores),
            min=lowest,
            max=highest,
            distribution=distribution,
        )


def points_of(scores: Scores) -> tuple[Point | None, Point | None, Point | None]:
    """Return the scores of an analysis in the order of `METRICS`."""
    return (
        scores.accuracy and Point(scores.accuracy.score, scores.accuracy.tier),
        scores.completeness and Point(scores.completeness.score, scores.completeness.tier),
        scores.attribution and Point(scores.attribution.score, scores.attribution.tier),
    )


def _mean(rates: Sequence[float]) -> float | None:
    return math.fsum(rates) / len(rates) if rates else None


def _delta(previous: float | None, current: float | None) -> float | None:
    return None if previous is None or current is None else current - previous


def _alert(name: Metric, previous: float | None, current: float | None) -> ScoreAlert | None:
    if previous is None or current is None or previous <= 0:
        return None
    drop = 100 * (previous - current) / previous
    if drop <= ALERT_DROP + _ROUNDING:
        return None
    return ScoreAlert(metric=name, previous=previous, current=current, drop=drop)
