"""Geometry of the charts; the template draws them."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ralph_grounding.comparison import MetricDifference
from ralph_grounding.summary import METRICS, DomainScoreSummary, Metric

__all__ = ["MOST_RUNS", "Interval", "LineChart", "Series", "interval", "line_charts"]

MOST_RUNS = 60
_TOP, _BOTTOM, _LEFT = 12, 26, 34
_LABEL_GAP = 15


class Dot(NamedTuple):
    x: float
    y: float
    note: str


class Series(NamedTuple):
    """One line.

    Attributes:
        paths: the points of each unbroken stretch, in SVG's notation; a run without this score breaks the line.
        label_y: the position of the name, clear of the others.
    """

    name: str
    paths: tuple[str, ...]
    dots: tuple[Dot, ...]
    label_x: float
    label_y: float


class Tick(NamedTuple):
    at: float
    label: str


class LineChart(NamedTuple):
    """Scores over time, from 0 at the bottom to 100 at the top, with all runs equally far apart."""

    name: str
    width: int
    height: int
    left: int
    right: float
    levels: tuple[Tick, ...]
    dates: tuple[Tick, ...]
    series: tuple[Series, ...]


class _Frame(NamedTuple):
    """A size: `margin` is for the names on the right, `dates` the number of dates that fit."""

    name: str
    width: int
    height: int
    margin: int
    dates: int


_FRAMES = (_Frame("wide", 860, 260, 112, 7), _Frame("narrow", 340, 230, 104, 3))


class Interval(NamedTuple):
    """A mean difference with its confidence interval on a scale from -reach to +reach, in percent of the width."""

    low: float
    high: float
    mean: float


def line_charts(runs: Sequence[DomainScoreSummary]) -> tuple[LineChart, ...]:
    """Draw the same chart for wide and for narrow screens; none if there is no data."""
    if not any(run.metric(name).mean is not None for run in runs for name in METRICS):
        return ()
    return tuple(_line_chart(frame, runs) for frame in _FRAMES)


def interval(difference: MetricDifference, reach: float) -> Interval | None:
    """Place a difference on the scale; None without one."""
    if difference.mean is None:
        return None
    low = difference.mean if difference.low is None else difference.low
    high = difference.mean if difference.high is None else difference.high

    def place(value: float) -> float:
        return round(50 + 50 * max(-1.0, min(1.0, value / reach)), 2)

    return Interval(place(low), place(high), place(difference.mean))


def _line_chart(frame: _Frame, runs: Sequence[DomainScoreSummary]) -> LineChart:
    right, bottom = frame.width - frame.margin, frame.height - _BOTTOM
    step = (right - _LEFT - 12) / max(1, len(runs) - 1)
    xs = [round(_LEFT + 6 + place * step, 1) if len(runs) > 1 else (_LEFT + right) / 2 for place in range(len(runs))]

    label = "%H:%M" if runs[0].run_at.date() == runs[-1].run_at.date() else "%d %b"

    def y(score: float) -> float:
        return round(bottom - (bottom - _TOP) * score / 100, 1)

    series = [_series(metric, runs, xs, y) for metric in METRICS]
    return LineChart(
        name=frame.name,
        width=frame.width,
        height=frame.height,
        left=_LEFT,
        right=right,
        levels=tuple(Tick(y(level), str(level)) for level in (0, 25, 50, 75, 100)),
        dates=tuple(Tick(xs[place], runs[place].run_at.strftime(label)) for place in _spread(len(runs), frame.dates)),
        series=_labelled([one for one in series if one.dots], right + 10),
    )


def _series(
    metric: Metric, runs: Sequence[DomainScoreSummary], xs: Sequence[float], y: Callable[[float], float]
) -> Series:
    paths: list[list[str]] = []
    stretch: list[str] = []
    dots: list[Dot] = []
    for run, x in zip(runs, xs, strict=True):
        mean = run.metric(metric).mean
        if mean is None:
            paths.append(stretch)
            stretch = []
            continue
        stretch.append(f"{x},{y(mean)}")
        dots.append(Dot(x, y(mean), f"{metric} {mean:.1f}, {run.run_at:%Y-%m-%d %H:%M}"))
    paths.append(stretch)
    return Series(metric, tuple(" ".join(path) for path in paths if len(path) > 1), tuple(dots), 0, 0)


def _labelled(series: Sequence[Series], x: float) -> tuple[Series, ...]:
    """Put names beside the last points, moved down where they would overlap."""
    placed: list[Series] = []
    for one in sorted(series, key=lambda one: one.dots[-1].y):
        at = max(one.dots[-1].y + 4, placed[-1].label_y + _LABEL_GAP if placed else 0)
        placed.append(one._replace(label_x=x, label_y=at))
    return tuple(placed)


def _spread(count: int, most: int) -> range:
    """Choose at most `most` places, equally far apart, the last one among them."""
    step = max(1, -(-(count - 1) // (most - 1)))
    return range((count - 1) % step, count, step)
