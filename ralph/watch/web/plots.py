"""Plots of a run's iterations, as shapes of SVG: the page says in words what they show."""

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import NamedTuple

from ralph.watch.web.library import Point

BARS = 240
"""Bars of a plot; with more iterations each bar is the greatest value of several."""

_WIDEST = 40.0

WIDTH, HEIGHT = 1000, 100
"""The size of the drawing, which the page stretches to its own."""


class Plot(NamedTuple):
    """A plot with one bar for each iteration.

    Attributes:
        path: the bars, as the `d` of an SVG path.
        unit: "s" for seconds, "$" for dollars, "%" or empty.
        most, last: of the measured values.
    """

    name: str
    unit: str
    path: str
    most: float
    last: float


class Span(NamedTuple):
    """Iterations in a row in which the breaker was in one state, with their place in the drawing."""

    state: str
    first: int
    last: int
    x: float
    width: float


def plots_of(points: Sequence[Point]) -> list[Plot]:
    """Return the plots of the quantities that were measured."""
    found = (
        _plot("Tokens", "", points, lambda point: point.tokens),
        _plot("Cost", "$", points, lambda point: point.cost),
        _plot("Time", "s", points, lambda point: point.duration),
        _plot("Completion score", "%", points, lambda point: point.score, top=100.0),
    )
    return [plot for plot in found if plot is not None]


def _plot(
    name: str,
    unit: str,
    points: Sequence[Point],
    value: Callable[[Point], float | None],
    *,
    top: float = 0.0,
) -> Plot | None:
    values = [value(point) for point in points]
    measured = [each for each in values if each is not None]
    if not measured:
        return None
    most = max(measured)
    return Plot(name, unit, bars(values, top or most), most, measured[-1])


def bars(values: Sequence[float | None], top: float) -> str:
    """Return the bars of some values, scaled so that `top` is the height of the drawing."""
    size = -(-len(values) // BARS) or 1
    heights = [max((each or 0.0 for each in values[at : at + size]), default=0.0) for at in range(0, len(values), size)]
    step = min(_WIDEST, WIDTH / max(1, len(heights)))
    width = step * (0.8 if len(heights) <= BARS // 2 else 1.0)
    drawn = ((at, round(HEIGHT * min(1.0, height / top), 1) if top else 0.0) for at, height in enumerate(heights))
    return "".join(f"M{at * step:.1f} {HEIGHT}v-{height}h{width:.1f}v{height}z" for at, height in drawn if height)


def breaker_band(points: Sequence[Point]) -> list[Span]:
    """Return the states of the breaker over the iterations; of many, the first."""
    spans: list[Span] = []
    done = 0
    for state, group in groupby(points, key=lambda point: point.breaker):
        same = list(group)
        x, width = WIDTH * done / len(points), WIDTH * len(same) / len(points)
        spans.append(Span(state, same[0].number, same[-1].number, round(x, 2), round(width, 2)))
        done += len(same)
        if len(spans) == BARS:
            break
    return spans
