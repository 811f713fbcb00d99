"""The content of the screen of one run: its record, its view, its iterations and its latest events.

The end of the run is read first, so that a run of any length opens at once; older iterations follow in the background.
"""

from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from datetime import datetime
from typing import NamedTuple

from ralph.records.events import Event, IterationFinished, IterationStarted, RunStarted
from ralph.records.projection import RunView, describe
from ralph.records.record import IterationRecord, RunRecord
from ralph.store import Store
from ralph.types import evolve

TAIL_EVENTS = 300
TAIL_ITERATIONS = 60
_KEPT = 3_000
_MOST_OF_ITERATION = 2_000
_BATCH = 250


class Facts(NamedTuple):
    """An iteration in the list and in the plots.

    Attributes:
        decision: continue, complete, halt or pause; "running" while it has none.
        tokens, cost: None if they were not measured.
    """

    number: int
    decision: str
    state: str = ""
    tokens: int | None = None
    cost: float | None = None
    duration: float = 0.0
    score: int | None = None
    breaker: str = "closed"
    warning: bool = False
    reason: str = ""
    at: datetime | None = None

    @classmethod
    def of(cls, done: IterationRecord | IterationFinished) -> "Facts":
        record = isinstance(done, IterationRecord)
        breaker, usage = done.breaker, done.usage
        return cls(
            number=done.number if record else done.iteration,
            decision=done.decision.kind,
            state=done.analysis.state,
            tokens=usage.tokens,
            cost=usage.cost,
            duration=done.duration,
            score=done.analysis.metrics.completion_score,
            breaker=breaker.state,
            warning=breaker.warning,
            reason=breaker.reason,
            at=done.finished_at if record else done.at,
        )


class Reading:
    """A run as it is read from a store.

    Attributes:
        facts: of the iterations read so far, by number.
        events: the latest.
    """

    def __init__(self, store: Store, run: RunRecord) -> None:
        self.store, self.run = store, run
        self.view = RunView(run_id=run.id, task=run.task, workspace=run.workspace)
        self.facts: dict[int, Facts] = {}
        self.events: deque[Event] = deque(maxlen=_KEPT)
        self.seq = 0
        self.first_tail = 0

    async def open(self) -> None:
        """Read the first event and the end of the run."""
        last = await self.store.last_iteration(self.run.id)
        end = await self.store.last_seq(self.run.id)
        async for event in self.store.events(self.run.id):
            self._add(event)
            break
        is_whole = end - TAIL_EVENTS <= self.seq
        self.seq = max(self.seq, end - TAIL_EVENTS)
        if not is_whole:
            self.events.clear()
        async for event in self.store.events(self.run.id, after=self.seq):
            self._add(event)
        self.run = await self.store.run(self.run.id) or self.run  # not older than its events
        last = max((last, *(each.number for each in self.oldest_first)))
        for number in range(last, max(0, last - TAIL_ITERATIONS), -1):
            record = None if number in self.facts else await self.store.iteration(self.run.id, number)
            if record is not None:
                self.facts[number] = Facts.of(record)
        self.first_tail = min(self.facts, default=1)
        record = None if is_whole else await self.store.iteration(self.run.id, last)
        if record is not None:
            await self._set_totals(record)

    async def _set_totals(self, last: IterationRecord) -> None:
        """Set what the view would have from all events, of which it has only seen the last ones."""
        view, breaker = self.view, last.breaker
        changes = {
            "usage": last.spent.usage,
            "denials": last.spent.denials,
            "limited": last.number - last.spent.iterations,
            "iteration": max(view.iteration, last.number),
            "limits": await self._limits(),
            "model": last.model or view.model,
            "plan": last.plan or view.plan,
            "breaker": breaker.state,
            "breaker_warning": breaker.reason if breaker.warning else "",
            "last_decision": describe(last.decision),
        }
        if not any(isinstance(event, RunStarted) for event in self.events):
            changes |= {"before": last.spent.duration, "started_at": last.finished_at}
        self.view = evolve(view, **changes)

    async def _limits(self) -> dict[str, float]:
        """Return the limits that the run started with, and what the user has added since."""
        own: Mapping[str, float | None] = self.run.settings.get("limits") or self.view.limits
        limits = {name: value for name, value in own.items() if value is not None}
        for request in await self.store.requests(self.run.id):
            for name, amount in request.limits.items():
                if request.kind == "extend" and name in limits and request.seq > self.run.limits_set.get(name, 0):
                    limits[name] += amount
        return limits

    def _add(self, event: Event) -> None:
        self.seq = max(self.seq, event.seq)
        self.view = self.view.after(event)
        self.events.append(event)
        if isinstance(event, IterationStarted):
            self.facts[event.iteration] = Facts(event.iteration, "running", at=event.at)
        elif isinstance(event, IterationFinished):
            self.facts[event.iteration] = Facts.of(event)

    async def follow(self) -> AsyncGenerator[None]:
        """Add events as they are stored; yield after each."""

        def going(run: RunRecord) -> bool:
            self.run = run
            return True  # it may be resumed at any time

        async with aclosing(self.store.follow(self.run.id, after=self.seq, going=going)) as events:
            async for event in events:
                self._add(event)
                yield  # noqa: ASYNC119 - the caller closes it as well

    async def older(self) -> AsyncIterator[None]:
        """Read the facts of the iterations before the tail; yield now and then."""
        if self.first_tail <= 1:
            return
        async for record in self.store.iterations(self.run.id):
            if record.number >= self.first_tail:
                break
            self.facts[record.number] = Facts.of(record)
            if record.number % _BATCH == 0:
                yield
        yield

    @property
    def newest_first(self) -> list[Facts]:
        return [self.facts[number] for number in sorted(self.facts, reverse=True)]

    @property
    def oldest_first(self) -> list[Facts]:
        """The finished iterations, the oldest first."""
        return [self.facts[number] for number in sorted(self.facts) if self.facts[number].decision != "running"]

    async def events_of(self, iteration: int) -> list[Event]:
        if self.events and (self.events[0].iteration < iteration or self.events[0].seq == 1):
            return [event for event in self.events if event.iteration == iteration][-_MOST_OF_ITERATION:]
        found: deque[Event] = deque(maxlen=_MOST_OF_ITERATION)
        async for event in self.store.events(self.run.id, after=await self._seq_before(iteration)):
            if event.iteration > iteration:
                break
            if event.iteration == iteration:
                found.append(event)
        return list(found)

    async def _seq_before(self, iteration: int) -> int:
        """Return the `seq` of an event before an iteration and close to it."""
        low, high = 0, self.seq
        while high - low > TAIL_EVENTS:
            middle = (low + high) // 2
            is_before = False
            async for first in self.store.events(self.run.id, after=middle):
                is_before = first.iteration < iteration
                break
            low, high = (middle, high) if is_before else (low, middle)
        return low


def breaker_changes(facts: list[Facts]) -> list[tuple[Facts, str]]:
    """Return the iterations after which the breaker was in another state, with the state before."""
    before = ["closed", *(each.breaker for each in facts)]
    return [
        (each, was)
        for each, was, warned in zip(facts, before, [False, *(each.warning for each in facts)], strict=False)
        if each.breaker != was or (each.warning and not warned)
    ]
