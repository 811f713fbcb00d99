"""Reading of runs for the pages: bounded, so that a run of 10,000 iterations costs no more than one of ten."""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from anyio import Lock
from pydantic import BaseModel

from ralph.errors import RalphError
from ralph.records.events import Event, IterationFinished, RunFinished, RunStarted
from ralph.records.projection import RunView
from ralph.records.record import IterationRecord, PlanCount, RunRecord
from ralph.types import evolve
from ralph.types.output import Usage
from ralph.watch.web.rows import LARGEST, PAGE, RunPage, RunQuery, RunRow
from ralph.watch.web.totals import Totals, day_of, totals_of

if TYPE_CHECKING:
    from ralph.store import Store

MOST_POINTS, SAMPLES = 2_000, 480
"""Iterations that are read for plots; of a run with more of them, so many samples."""

TAIL = 300
"""Events that the present state of a run is read from."""

_ALL = 1_000_000
_FRESH = 2.0
_SEARCH = 10.0
"""Seconds for a search in replies."""

_SERIES_KEPT = 8
_OWN_STATES = ("running", "paused", "crashed")

Asks = Callable[["Store", RunRecord, str, Mapping[str, str]], Awaitable[str]]


class NoSuchThingError(RalphError):
    """A run, an iteration or a page that does not exist."""


class Difference(BaseModel, frozen=True):
    """The changes of an iteration or of a run, according to its checkpoints.

    Attributes:
        before, after: the commits of the checkpoints.
        files: each changed file with the lines added and removed; None for a binary file.
        diff: as git shows it; cut if it is long.
        repositories_changed: nested repositories whose changes are not in it.
    """

    before: str
    after: str
    files: list[tuple[str, int | None, int | None]]
    diff: str
    repositories_changed: list[str] = []


@dataclass(frozen=True)
class Commands:
    """The parts of the command line that the pages share, so that both give the same answer.

    Attributes:
        state: returns why a run stopped, or "running", "paused" or "crashed".
        ask: sends a request to a run: its kind, and what it takes by name; returns what happens next, in words.
            Raises `UsageError`.
        chain: returns the stages from the signals of an iteration to its decision, given the iteration before.
        difference: returns the changes of an iteration, or of the whole run for None. Raises `RalphError`.
    """

    state: Callable[[RunRecord], str]
    ask: Asks
    chain: Callable[[RunRecord, IterationRecord | None, IterationRecord], Sequence[Any]]
    difference: Callable[["Store", RunRecord, int | None], Awaitable[Difference]]


class Limit(NamedTuple):
    """A limit with what is used of it; `most` is None without one."""

    name: str
    used: float | None
    most: float | None
    unit: str


class Overview(NamedTuple):
    """The present state of a run.

    Attributes:
        last: its last finished iteration; None before the first.
        view: what its last events tell.
        events: these events, oldest first.
    """

    row: RunRow
    run: RunRecord
    last: IterationRecord | None
    view: RunView
    events: list[Event]

    @property
    def allowed(self) -> dict[str, float]:
        """The limits by name: those of the settings, which an extension changes, else those that it began with."""
        found: object = self.run.settings.get("limits")
        known = cast("dict[str, Any]", found) if isinstance(found, dict) else {**self.view.limits}
        return {name: most for name, most in known.items() if isinstance(most, int | float)}

    @property
    def limits(self) -> list[Limit]:
        """The used amounts with their limits."""
        most = self.allowed
        usage = self.last.spent.usage if self.last else Usage()
        return [
            Limit("iterations", self.last.spent.iterations if self.last else 0, most.get("max_iterations"), ""),
            Limit("time", self.elapsed, most.get("max_duration"), "s"),
            Limit("tokens", usage.tokens, most.get("max_tokens"), ""),
            Limit("cost", usage.cost, most.get("max_cost"), "$"),
        ]

    @property
    def elapsed(self) -> float:
        """Seconds that the run has taken so far."""
        since = self.view.since or self.view.started_at
        if self.row.state != "running" or since is None or (self.last and self.last.finished_at > since):
            return self.row.duration
        return self.row.duration + max(0.0, (datetime.now(UTC) - since).total_seconds())

    @property
    def plan(self) -> PlanCount | None:
        return self.view.plan or (self.last.plan if self.last else None)


class Point(NamedTuple):
    """The figures of one iteration."""

    number: int
    tokens: int | None
    cost: float | None
    duration: float
    score: int
    breaker: str
    decision: str


class Series(NamedTuple):
    """The figures of iterations: of every one, or of each of which the number is a multiple of `step`."""

    points: list[Point]
    step: int


@dataclass
class Library:
    """The runs of a store, for the pages."""

    store: "Store"
    commands: Commands
    _rows: list[RunRow] = field(default_factory=list[RunRow])
    _rows_until: float = 0.0
    _searching: Lock = field(default_factory=Lock)
    _series: "OrderedDict[str, list[Point]]" = field(default_factory=OrderedDict[str, list[Point]])

    async def run(self, run_id: str) -> RunRecord:
        """Return a run. Raises `NoSuchThingError`."""
        if found := await self.store.run(run_id) if run_id else None:
            return found
        raise NoSuchThingError(f"There is no run {run_id[:80]!r} in the store.", "The list has all runs.")

    async def runs(self, query: RunQuery) -> RunPage:
        partial = False
        if query.filters:
            fitting = [row for row in await self.every_run() if query.fits(row)]
            if query.replies:
                fitting, partial = await self._saying(fitting, query)
            rows = fitting[query.offset : query.offset + query.limit + 1]
        else:
            found = await self.store.runs(limit=query.offset + query.limit + 1)
            rows = [await self.row(run) for run in found[query.offset :]]
        more = query.offset + query.limit if len(rows) > query.limit else None
        places = dict.fromkeys(row.workspace for row in self._rows or rows if row.workspace)
        return RunPage(runs=rows[: query.limit], next=more, workspaces=sorted(places)[:200], partial=partial)

    async def _saying(self, rows: list[RunRow], query: RunQuery) -> tuple[list[RunRow], bool]:
        """Return the first runs that have the words, perhaps in a reply, and whether time ran out before the end."""
        found: list[RunRow] = []
        async with self._searching:
            ends = monotonic() + _SEARCH
            for row in rows:
                if monotonic() > ends or len(found) > query.offset + query.limit:
                    break
                if query.finds(row.text) or await self._says(row.id, query, ends):
                    found.append(row)
            return found, monotonic() > ends

    async def _says(self, run_id: str, query: RunQuery, ends: float) -> bool:
        async for each in self.store.iterations(run_id):
            if (over := monotonic() > ends) or query.finds(each.text):
                return not over
        return False

    async def every_run(self) -> list[RunRow]:
        """Return all runs, newest first, as they were at most some seconds ago."""
        began = monotonic()
        if began > self._rows_until:
            self._rows = [await self.row(run) for run in await self.store.runs(limit=_ALL)]
            self._rows_until = monotonic() + max(_FRESH, 10 * (monotonic() - began))
        return self._rows

    async def totals(self, days: int) -> Totals:
        """Return the totals of the runs that started in the last days."""
        since = datetime.now(UTC).astimezone().date() - timedelta(days=days - 1)
        return totals_of([row for row in await self.every_run() if day_of(row) >= since])

    async def row(self, run: RunRecord) -> RunRow:
        """Return a run as the list shows it; an unfinished one with what its last iteration tells."""
        word = self.commands.state(run)
        usage, iterations, took, denials = run.usage, run.iterations, run.duration, run.denials
        if run.state != "finished":
            iterations = await self.store.last_iteration(run.id)
            last = await self.store.iteration(run.id, iterations) if iterations else None
            if last:
                usage, took, denials = last.spent.usage, last.spent.duration, last.spent.denials
        return RunRow(
            **run.model_dump(
                include={
                    "id", "task", "workspace", "stop_reason", "verified", "already_green", "detail", "started_at",
                    "finished_at",
                }
            ),
            state=word if word in _OWN_STATES else "finished",
            iterations=iterations,
            tokens=usage.tokens,
            cost=usage.cost,
            denials=denials,
            duration=took,
        )  # fmt: skip

    async def overview(self, run_id: str) -> Overview:
        """Return the present state of a run. Raises `NoSuchThingError`."""
        known = await self.run(run_id)
        events = await self.events(known, after=max(0, await self.store.last_seq(known.id) - TAIL), limit=TAIL)
        run = await self.run(known.id)  # after its events, each of which is stored with the record that it changes
        if run.state != known.state and run.state == "finished":  # its last events came meanwhile, and no others follow
            events += await self.events(run, after=events[-1].seq if events else 0)
        row = await self.row(run)
        last = await self.store.iteration(run.id, row.iterations) if row.iterations else None
        view = RunView(run_id=run.id, task=run.task, workspace=run.workspace)
        for event in await self.events(run, limit=1):
            view = view.after(event)
        if last is not None:
            view = evolve(view, iteration=last.number, breaker=last.breaker.state, plan=last.plan)
        for event in events:
            view = view.after(event)
        return Overview(row, run, last, view, events)

    async def events(self, run: RunRecord, *, after: int = 0, limit: int = TAIL) -> list[Event]:
        found: list[Event] = []
        async for event in self.store.events(run.id, after=after):
            if len(found) >= limit:
                break
            found.append(event)
        return found

    async def first_event(self, run: RunRecord, iteration: int) -> int:
        """Return the `seq` before the first event of an iteration, found by guessing and halving in turns."""
        low, high = 0, await self.store.last_seq(run.id)
        first, last = 0, max(iteration, await self.store.last_iteration(run.id)) + 1
        halve = False
        while low < high:
            share = 0.5 if halve else (iteration - first) / (last - first)
            guess = max(low, min(high - 1, low + int((high - low) * share) - PAGE))
            halve = not halve
            found = [event for event in await self.events(run, after=guess) if event.iteration]  # some are outside
            if not found or found[0].iteration >= iteration:
                high, last = guess, found[0].iteration if found else last
            elif begun := next((event for event in found if event.iteration >= iteration), None):
                return begun.seq - 1
            else:
                low, first = found[-1].seq, found[-1].iteration
            last = max(last, first + 1, iteration)
        return low

    async def iteration(self, run: RunRecord, number: int) -> IterationRecord:
        """Return an iteration of a run. Raises `NoSuchThingError`."""
        if 0 < number <= LARGEST and (found := await self.store.iteration(run.id, number)):
            return found
        raise NoSuchThingError(f"Run {run.id} has no iteration {number}.", "The page of the run lists them.")

    async def iterations(self, run: RunRecord, *, before: int, limit: int) -> list[IterationRecord]:
        """Return the iterations before a number, the last one first."""
        numbers = range(before - 1, max(0, before - 1 - limit), -1)
        found = [await self.store.iteration(run.id, number) for number in numbers]
        return [each for each in found if each is not None]

    async def series(self, run: RunRecord) -> Series:
        """Return the figures of the iterations; of a long run, of as many as a plot can show."""
        last = await self.store.last_iteration(run.id)
        if last > MOST_POINTS:
            step = -(-last // SAMPLES)
            return Series([await self._sampled(run, number) for number in range(step, last + 1, step)], step)
        points = self._series.setdefault(run.id, [])
        self._series.move_to_end(run.id)
        while len(self._series) > _SERIES_KEPT:
            self._series.popitem(last=False)
        if points and last - points[-1].number < PAGE:
            fresh = [await self._sampled(run, number) for number in range(points[-1].number + 1, last + 1)]
            points += [point for point in fresh if point.number > points[-1].number]  # another page may have been first
        elif not points or points[-1].number < last:
            points[:] = [_point(each) async for each in self.store.iterations(run.id)]
        return Series(points, 1)

    async def _sampled(self, run: RunRecord, number: int) -> Point:
        return _point(await self.iteration(run, number))


def _point(each: IterationRecord) -> Point:
    warns = "warning" if each.breaker.warning and each.breaker.state == "closed" else each.breaker.state
    return Point(
        each.number,
        each.usage.tokens,
        each.usage.cost,
        each.duration,
        each.analysis.metrics.completion_score,
        warns,
        each.decision.kind,
    )


def changes_run(event: Event) -> bool:
    """Return whether an event changes more than what the agent is doing."""
    return isinstance(event, IterationFinished | RunFinished | RunStarted) or event.type in {
        "paused", "resumed", "extended", "breaker_changed",
    }  # fmt: skip
