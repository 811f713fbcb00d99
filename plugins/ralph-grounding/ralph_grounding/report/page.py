"""Rendering of the HTML page; the variables of its template are computed beforehand."""

from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from ralph_grounding.comparison import Comparison, MetricDifference, PairComparison
from ralph_grounding.report.charts import MOST_RUNS, Interval, interval, line_charts
from ralph_grounding.report.data import (
    LONGEST_RESPONSE,
    MarkedSpan,
    ReportData,
    clipped,
    marked_spans,
    number,
    web_address,
)
from ralph_grounding.result import AnalysisResult, Tier
from ralph_grounding.scoring.tiers import tier_of
from ralph_grounding.settings import TierSettings
from ralph_grounding.summary import METRICS, TIERS, DomainScoreSummary, Metric

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["render_report", "templates", "view_of"]

_SIGNIFICANT = 0.05
_MOST_LISTED = 30


class Card(NamedTuple):
    """One metric of the last run. `shares` are the tiers' shares of the answers in percent, with their counts."""

    metric: Metric
    mean: str
    tier: Tier | None
    median: str
    low: str
    high: str
    measured: int
    trend: str
    direction: str
    shares: tuple[tuple[Tier, int, float, float], ...]


class Case(NamedTuple):
    """One answer with its evidence."""

    number: int
    analysis: AnalysisResult
    scores: tuple[tuple[str, str, Tier | None], ...]
    marked_spans: tuple[MarkedSpan, ...]
    left_out: int


class Difference(NamedTuple):
    """One metric of two sides."""

    found: MetricDifference
    drawn: Interval | None
    verdict: str


class Pair(NamedTuple):
    """Two sides. `reach` is the end of the scale for their differences."""

    found: PairComparison
    reach: int
    differences: tuple[Difference, ...]


def view_of(data: ReportData) -> dict[str, Any]:
    """Compute the template's variables."""
    last = data.runs[-1] if data.runs else None
    return {
        "data": data,
        "last": last,
        "cards": [_card(last, metric, data.tiers) for metric in METRICS] if last else [],
        "charts": line_charts(data.runs[-MOST_RUNS:]),
        "cases": [_case(place, analysis, data.tiers) for place, analysis in enumerate(data.analyses, 1)],
        "pairs": _pairs(data.comparison) if data.comparison else [],
        "missed": [rate for rate in last.claims if rate.missed_by][:_MOST_LISTED] if last else [],
        "most": _MOST_LISTED,
    }


def _card(run: DomainScoreSummary, metric: Metric, tiers: TierSettings) -> Card:
    summary = run.metric(metric)
    deltas = run.trend and {
        "accuracy": run.trend.accuracy_delta,
        "completeness": run.trend.completeness_delta,
        "attribution": run.trend.attribution_delta,
    }
    delta = deltas[metric] if deltas else None
    return Card(
        metric=metric,
        mean=number(summary.mean),
        tier=None if summary.mean is None else tier_of(summary.mean, tiers),
        median=number(summary.median),
        low=number(summary.min),
        high=number(summary.max),
        measured=summary.measured,
        trend="" if delta is None else f"{'+' if delta > 0.05 else ''}{number(delta, 1)}",
        direction="" if delta is None else "up" if delta > 0.05 else "down" if delta < -0.05 else "same",
        shares=_shares(summary.distribution),
    )


def _shares(distribution: Mapping[Tier, int]) -> tuple[tuple[Tier, int, float, float], ...]:
    total = sum(distribution.values()) or 1
    shares: list[tuple[Tier, int, float, float]] = []
    at = 0.0
    for tier in TIERS:
        count = distribution.get(tier, 0)
        share = 100 * count / total
        shares.append((tier, count, round(at, 3), round(share, 3)))
        at += share
    return tuple(shares)


def _case(place: int, analysis: AnalysisResult, tiers: TierSettings) -> Case:
    scores = analysis.scores
    parts = (("accuracy", scores.accuracy), ("completeness", scores.completeness), ("attribution", scores.attribution))
    rows: list[tuple[str, str, Tier | None]] = [
        (name, number(part.score if part else None), part.tier if part else None) for name, part in parts
    ]
    combined = scores.combined
    rows.append(("combined", number(combined), None if combined is None else tier_of(combined, tiers)))
    return Case(
        number=place,
        analysis=analysis,
        scores=tuple(rows),
        marked_spans=tuple(marked_spans(analysis)),
        left_out=max(0, len(analysis.response) - LONGEST_RESPONSE),
    )


def _pairs(comparison: Comparison) -> list[Pair]:
    return [_pair(found) for found in comparison.pairs]


def _pair(found: PairComparison) -> Pair:
    ends = [abs(end) for one in found.metrics for end in (one.low, one.high, one.mean) if end is not None]
    reach = next((reach for reach in (5, 10, 20, 50) if max(ends, default=0) <= reach), 100)
    return Pair(
        found=found,
        reach=reach,
        differences=tuple(Difference(one, interval(one, reach), _verdict(one, found)) for one in found.metrics),
    )


def _verdict(one: MetricDifference, pair: PairComparison) -> str:
    """Describe the difference in words, so that chance is not taken for one."""
    if one.mean is None or one.adjusted_p is None:
        return one.note
    if one.adjusted_p >= _SIGNIFICANT:
        return one.note or "no difference shown"
    first = (one.mean > 0) is (one.metric != "contradiction")
    return f"{clipped(pair.first if first else pair.second, 60)} is better"


def render_report(data: ReportData) -> str:
    """Render the report as one HTML page: no scripts, no external resources, and a policy that forbids both.

    The contents of answers and ground truth stay text. The page can be encoded as UTF-8.
    """
    environment = templates()
    css, _, _ = environment.loader.get_source(environment, "page.css")  # pyright: ignore[reportOptionalMemberAccess]
    css = css.strip()
    style_hash = b64encode(sha256(css.encode()).digest()).decode()
    return environment.get_template("page.html").render(css=css, style_hash=style_hash, **view_of(data))


@cache
def templates() -> "Environment":
    """Return the templates of this package: they escape everything."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("ralph_grounding.report", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(clip=clipped, number=number, web_address=web_address)
    return environment
