"""The summary of a run, for people."""

from typing import TYPE_CHECKING

from ralph_grounding.summary import METRICS, DomainScoreSummary, Metric

if TYPE_CHECKING:
    from rich.text import Text

__all__ = ["summary_rows"]


def summary_rows(summary: DomainScoreSummary) -> "list[tuple[str | Text, ...]]":
    """A row for each metric that was measured: mean, median, lowest, highest, how the mean changed, and tiers."""
    rows: list[tuple[str | Text, ...]] = []
    for name in METRICS:
        metric = summary.metric(name)
        if metric.mean is None:
            continue
        numbers = [
            f"{number:.1f}" for number in (metric.mean, metric.median, metric.min, metric.max) if number is not None
        ]
        tiers = ", ".join(f"{count} {tier}" for tier, count in metric.distribution.items() if count)
        rows.append((name, *numbers, _change(summary, name), tiers))
    return rows


def _change(summary: DomainScoreSummary, name: Metric) -> str:
    """Of the mean against the run before: an arrow and by how much."""
    trend = summary.trend
    if trend is None:
        return ""
    delta = {
        "accuracy": trend.accuracy_delta,
        "completeness": trend.completeness_delta,
        "attribution": trend.attribution_delta,
    }[name]
    if delta is None:
        return ""
    arrow = "→" if abs(delta) < 0.05 else "↑" if delta > 0 else "↓"
    return f"{arrow} {abs(delta):.1f}"
