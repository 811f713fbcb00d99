"""What the scores of a run come to, and against those of the run before: in memory are three numbers an analysis."""

import math
import statistics
from array import array
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal, NamedTuple, get_args

from pydantic import BaseModel, Field

from ralph_grounding.result import Scores, Tier

__all__ = [
    "ALERT_DROP",
    "METRICS",
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
"""A mean that falls by more than so many percent of what it was is told of."""

_ROUNDING = 1e-9


class Point(NamedTuple):
    """One score of one analysis."""

    score: float
    tier: Tier


class MetricSummary(BaseModel, frozen=True):
    """What one metric comes to. The five numbers are None where nothing was measured.

    Attributes:
        measured: how many analyses have this score: what it was not measured for counts nowhere here.
        distribution: how many are in each of the four tiers; together `measured`.
    """

    measured: int = Field(ge=0)
    mean: float | None = None
    median: float | None = None
    min: float | None = None
    max: float | None = None
    distribution: Mapping[Tier, int]


class ScoreTrend(BaseModel, frozen=True):
    """This run's means less those of the domain's last completed run; None where one of the two has none.

    Attributes:
        same_queries: whether both asked the same.
        note: in what the two runs differ, besides the answers, so that they compare with care; empty if in nothing.
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
    """What a run's scores come to.

    Attributes:
        run_at: when the run began.
        query_count: the responses that were analysed; those that failed are in `failed_count` and in no mean. Each
            metric's distribution sums to this, less those that it was not measured for.
        trend: absent for a domain's first run.
    """

    domain: str
    run_id: str
    run_at: datetime
    query_count: int = Field(ge=0)
    failed_count: int = Field(default=0, ge=0)
    accuracy: MetricSummary
    completeness: MetricSummary
    attribution: MetricSummary
    trend: ScoreTrend | None = None
    alerts: tuple[ScoreAlert, ...] = ()

    def metric(self, name: Metric) -> MetricSummary:
        """The summary of the metric of that name."""
        return {"accuracy": self.accuracy, "completeness": self.completeness, "attribution": self.attribution}[name]

    def against(
        self, previous: "DomainScoreSummary", *, same_queries: bool, otherwise: Sequence[str] = ()
    ) -> "DomainScoreSummary":
        """The same with what changed since an earlier run of the domain.

        Args:
            otherwise: what else the earlier run did in another way, such as "used other scoring settings".
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
        return self.model_copy(update={"trend": trend, "alerts": tuple(alert for alert in found if alert)})


class ScoreTally:
    """Takes scores one analysis after the other. The median is exact: eight bytes a score are kept for it."""

    def __init__(self) -> None:
        self._count = 0
        self._metrics = {name: _MetricTally() for name in METRICS}

    def add(self, *points: Point | None) -> None:
        """Counts one analysis: its scores in the order of `METRICS`, None for what was not measured."""
        self._count += 1
        for name, point in zip(METRICS, points, strict=True):
            if point is not None:
                self._metrics[name].add(point)

    def summary(self, *, domain: str, run_id: str, run_at: datetime, failed: int = 0) -> DomainScoreSummary:
        """What was counted so far."""
        return DomainScoreSummary(
            domain=domain,
            run_id=run_id,
            run_at=run_at,
            query_count=self._count,
            failed_count=failed,
            accuracy=self._metrics["accuracy"].summary(),
            completeness=self._metrics["completeness"].summary(),
            attribution=self._metrics["attribution"].summary(),
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
    """The scores of an analysis in the order of `METRICS`."""
    return (
        scores.accuracy and Point(scores.accuracy.score, scores.accuracy.tier),
        scores.completeness and Point(scores.completeness.score, scores.completeness.tier),
        scores.attribution and Point(scores.attribution.score, scores.attribution.tier),
    )


def _delta(previous: float | None, current: float | None) -> float | None:
    return None if previous is None or current is None else current - previous


def _alert(name: Metric, previous: float | None, current: float | None) -> ScoreAlert | None:
    if previous is None or current is None or previous <= 0:
        return None
    drop = 100 * (previous - current) / previous
    if drop <= ALERT_DROP + _ROUNDING:
        return None
    return ScoreAlert(metric=name, previous=previous, current=current, drop=drop)
