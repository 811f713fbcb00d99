"""Totals over many runs, and two runs beside each other."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import date, timedelta
from typing import TypeVar

from pydantic import BaseModel

from ralph.watch.web.rows import RunRow

_N = TypeVar("_N", int, float)
_MOST_DAYS = 366


class Day(BaseModel, frozen=True):
    """The runs that started on a day, by the zone of this machine.

    Attributes:
        outcomes: how many ended with which stop reason; unfinished ones count as "running", "paused" or "crashed".
        cost: in US dollars; None if none was measured.
        duration: in seconds, of all of them.
    """

    day: date
    runs: int
    completed: int
    verified: int
    outcomes: dict[str, int]
    cost: float | None
    tokens: int | None
    duration: float


class Totals(BaseModel, frozen=True):
    """Totals of runs.

    Attributes:
        cost_per_completed: the cost of all runs for each completed one; None if nothing completed or was measured.
        outcomes: as in `Day`, the most frequent first.
        days: oldest first, days without runs included, the last 366.
    """

    runs: int
    completed: int
    verified: int
    cost: float | None
    tokens: int | None
    duration: float
    iterations: int
    cost_per_completed: float | None
    outcomes: dict[str, int]
    days: list[Day]


def totals_of(runs: Iterable[RunRow]) -> Totals:
    """Return the totals of runs."""
    every = list(runs)
    by_day: defaultdict[date, list[RunRow]] = defaultdict(list)
    for run in every:
        by_day[day_of(run)].append(run)
    cost = _sum(run.cost for run in every)
    completed = sum(run.stop_reason == "completed" for run in every)
    return Totals(
        runs=len(every),
        completed=completed,
        verified=sum(run.verified for run in every),
        cost=cost,
        tokens=_sum(run.tokens for run in every),
        duration=sum(run.duration for run in every),
        iterations=sum(run.iterations for run in every),
        cost_per_completed=cost / completed if completed and cost is not None else None,
        outcomes=dict(Counter(run.word for run in every).most_common()),
        days=[_total(day, by_day.get(day, [])) for day in _days(by_day)],
    )


def _days(found: Iterable[date]) -> list[date]:
    days = sorted(found)
    if not days:
        return []
    first = max(days[0], days[-1] - timedelta(days=_MOST_DAYS - 1))
    return [first + timedelta(days=number) for number in range((days[-1] - first).days + 1)]


def day_of(run: RunRow) -> date:
    """Return the day on which a run started, by the zone of this machine."""
    try:
        return run.started_at.astimezone().date()
    except (OverflowError, ValueError):  # an imported run may hold any time
        return run.started_at.date()


def _total(day: date, runs: list[RunRow]) -> Day:
    return Day(
        day=day,
        runs=len(runs),
        completed=sum(run.stop_reason == "completed" for run in runs),
        verified=sum(run.verified for run in runs),
        outcomes=dict(Counter(run.word for run in runs).most_common()),
        cost=_sum(run.cost for run in runs),
        tokens=_sum(run.tokens for run in runs),
        duration=sum(run.duration for run in runs),
    )


def _sum(values: Iterable[_N | None]) -> _N | None:
    measured = [value for value in values if value is not None]
    return sum(measured[1:], measured[0]) if measured else None
