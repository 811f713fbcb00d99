"""The summary of a run as text for readers."""

from typing import TYPE_CHECKING

from ralph_grounding.summary import METRICS, DomainScoreSummary, Metric

if TYPE_CHECKING:
    from rich.text import Text

__all__ = ["summary_rows"]


def summary_rows(summary: DomainScoreSummary) -> "list[tuple[str | Text, ...]]":
    """Make a row for each measured metric: mean, median, lowest, highest, change of the mean, and tiers."""
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
    """Format the change of the mean since the run before: an arrow and the difference."""
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
