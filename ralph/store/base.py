"""The store interface: runs, iterations, events, leases and requests; records as JSON; and the store in memory."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import NamedTuple, Self

from pydantic import ValidationError

from ralph.errors import OwnershipLostError, RunOwnedError, StoreError, plainly
from ralph.records.events import Event
from ralph.records.record import IterationRecord, RunRecord, RunState, Trace, weighty
from ralph.system.text import one_line
from ralph.types import evolve
from ralph.types.requests import Request

TRANSCRIPT = frozenset({"message_received", "tool_started", "tool_finished"})
"""The types of events that make up a run's transcript."""

LEASE = 30.0
"""Seconds that a lease lasts if its owner does not renew it."""


class Health(NamedTuple):
    """The result of checking a store.

    Attributes:
        runs: the number of runs.
        problems: the damage, one sentence each; at most twenty.
    """

    runs: int
    problems: tuple[str, ...] = ()


class Store:
    """A place for runs. Several users may enter one store with `async with`; the last one to leave closes it.

    Every method raises `StoreError` if it fails; those that read raise `RecordError` if a record cannot be parsed.

    A run has one owner at a time, identified by a token. The owner has a lease, by the store's clock, and renews it;
    when the lease of a dead owner has expired, another process can take the run over.

    `append` is atomic: after a crash, all or nothing of its arguments is stored. When it returns, they are durable. A
    cancelled call stores all or nothing, too.

    Attributes:
        unreadable: why `runs` has left out runs, in a sentence for each.
    """

    unreadable: tuple[str, ...] = ()

    async def create(self, run: RunRecord, events: Sequence[Event] = (), *, owner: str = "") -> None:
        """Add a run with a new id, owned by the token if one is given."""
        raise NotImplementedError

    async def append(
        self,
        run_id: str,
        events: Sequence[Event],
        *,
        iteration: IterationRecord | None = None,
        run: RunRecord | None = None,
        owner: str = "",
    ) -> None:
        """Add events (with consecutive `seq`), one finished iteration, and the run's new state.

        Events without a `seq` are not stored. An event with an existing `seq` is refused, and so is an existing
        iteration.

        Raises:
            OwnershipLostError: the token does not own the run, or no longer does.
            RunOwnedError: no token is given, and another owner has a valid lease.
        """
        raise NotImplementedError

    async def acquire(self, run_id: str, owner: str, *, dead: str = "", seconds: float = LEASE) -> None:
        """Make a token the owner of a run for some seconds. If two try at once, one succeeds.

        Args:
            dead: the token of an owner that is known to have died; its lease does not count.
            seconds: the lease's length.

        Raises:
            RunOwnedError: another owner has a valid lease.
        """
        raise NotImplementedError

    async def renew(self, run_id: str, owner: str, *, seconds: float = LEASE) -> None:
        """Renew the lease from now. Raises `OwnershipLostError` if the token does not own the run."""
        raise NotImplementedError

    async def release(self, run_id: str, owner: str) -> None:
        """End a lease; do nothing if the token does not own the run."""
        raise NotImplementedError

    async def leased(self, run_id: str) -> bool:
        """Return whether any owner has a valid lease."""
        raise NotImplementedError

    async def holder(self, run_id: str) -> str:
        """Return the token of the run's owner, even after the lease; empty if none exists."""
        raise NotImplementedError

    async def ask(self, run_id: str, request: Request) -> int:
        """Add a request to the run's owner without waiting for an answer; return its `seq`."""
        raise NotImplementedError

    async def requests(self, run_id: str, *, after: int = 0) -> list[Request]:
        """Return the requests to a run with a greater `seq`, in order."""
        raise NotImplementedError

    async def run(self, run_id: str) -> RunRecord | None:
        """Return the run with that id, or the only one with an id that begins so; else None."""
        raise NotImplementedError

    async def runs(self, *, workspace: str | None = None, limit: int = 100) -> list[RunRecord]:
        """Return the newest runs that can be read, newest first; `unreadable` names the others."""
        raise NotImplementedError

    def iterations(self, run_id: str) -> AsyncIterator[IterationRecord]:
        """Yield the finished iterations of a run, in order."""
        raise NotImplementedError

    async def iteration(self, run_id: str, number: int) -> IterationRecord | None:
        """Return one finished iteration of a run; None if it does not exist."""
        raise NotImplementedError

    async def traces(self, run_id: str) -> list[Trace]:
        """Return the traces of a run's finished iterations, for folding, in order."""
        raise NotImplementedError

    async def state(self, run: RunRecord) -> RunState:
        """Return the run's state: the fold over its iterations, most of which need not be read whole."""
        traces = await self.traces(run.id)
        read = [await self.iteration(run.id, number) for number in sorted(weighty(traces))]
        whole = {record.number: record for record in read if record is not None}
        return RunState.of(run, [whole.get(trace.number, trace) for trace in traces])

    def events(self, run_id: str, *, after: int = 0) -> AsyncIterator[Event]:
        """Yield the events of a run with a greater `seq`, in order. Unknown types of events are skipped."""
        raise NotImplementedError

    async def last_seq(self, run_id: str) -> int:
        """Return the `seq` of the run's last event; 0 if it has none."""
        raise NotImplementedError

    async def last_iteration(self, run_id: str) -> int:
        """Return the number of the run's last finished iteration; 0 if it has none."""
        raise NotImplementedError

    async def remove(self, run_id: str, *, owner: str = "") -> None:
        """Remove a run, if it exists, and everything of it. Raises what `append` does for the owner."""
        raise NotImplementedError

    async def forget_transcript(self, run_id: str) -> int:
        """Remove the messages and tool calls of a run without an owner from its events, and count them in its record.

        Everything else stays. Returns the number of removed events: 0 also for a store that keeps them.
        """
        return 0

    async def check(self) -> Health:
        """Check everything except the transcripts; may take a while."""
        raise NotImplementedError

    def hurry(self) -> None:
        """Wait only briefly for answers from now on: the program is about to end."""

    async def compact(self) -> None:
        """Return freed space to the disk; other processes may have to wait."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: object) -> None: ...


def named(owner: str) -> str:
    """Return the token. Raises `ValueError` if it is empty, which means no owner."""
    if not owner:
        raise ValueError("an owner's token must not be empty")
    return owner


def described(error: ValidationError) -> str:
    """Return the first problem of a record with its place in it, in one line."""
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"]))
    return one_line(f"{place[:200]}: {plainly(first['msg'])}" if place else plainly(first["msg"]), 500)


@dataclass
class _Kept:
    run: RunRecord
    iterations: dict[int, IterationRecord] = field(default_factory=dict[int, IterationRecord])
    events: dict[int, Event] = field(default_factory=dict[int, Event])
    requests: list[Request] = field(default_factory=list[Request])
    owner: str = ""
    until: float = 0.0

    def lease(self, owner: str, seconds: float) -> None:
        self.owner, self.until = owner, monotonic() + seconds

    def require(self, owner: str) -> None:
        if owner and self.owner != owner:
            raise OwnershipLostError(self.run.id)
        if not owner and self.until > monotonic():
            raise RunOwnedError(self.run.id)


class MemoryStore(Store):
    """A store that lasts as long as the object. Runs outlive the `async with`."""

    def __init__(self) -> None:
        self._kept: dict[str, _Kept] = {}

    async def create(self, run: RunRecord, events: Sequence[Event] = (), *, owner: str = "") -> None:
        if run.id in self._kept:
            raise StoreError(f"Run {run.id} is in the store already.")
        kept = _Kept(run)
        kept.events.update(_new(events, kept.events))
        if owner:
            kept.lease(owner, LEASE)
        self._kept[run.id] = kept

    async def append(
        self,
        run_id: str,
        events: Sequence[Event],
        *,
        iteration: IterationRecord | None = None,
        run: RunRecord | None = None,
        owner: str = "",
    ) -> None:
        kept = self._found(run_id)
        kept.require(owner)
        if iteration and iteration.number in kept.iterations:
            raise StoreError(f"Iteration {iteration.number} of run {run_id} is in the store already.")
        kept.events.update(_new(events, kept.events))
        if iteration:
            kept.iterations[iteration.number] = iteration
        kept.run = run or kept.run

    async def acquire(self, run_id: str, owner: str, *, dead: str = "", seconds: float = LEASE) -> None:
        free = {"", named(owner), dead}
        kept = self._found(run_id)
        if kept.owner not in free and kept.until > monotonic():
            raise RunOwnedError(run_id)
        kept.lease(owner, seconds)

    async def renew(self, run_id: str, owner: str, *, seconds: float = LEASE) -> None:
        kept = self._kept.get(run_id)
        if kept is None or kept.owner != named(owner):
            raise OwnershipLostError(run_id)
        kept.lease(owner, seconds)

    async def release(self, run_id: str, owner: str) -> None:
        kept = self._kept.get(run_id)
        if kept and kept.owner == named(owner):
            kept.owner, kept.until = "", 0.0

    async def leased(self, run_id: str) -> bool:
        return run_id in self._kept and self._kept[run_id].until > monotonic()

    async def holder(self, run_id: str) -> str:
        return self._kept[run_id].owner if run_id in self._kept else ""

    async def ask(self, run_id: str, request: Request) -> int:
        kept = self._found(run_id)
        kept.requests.append(evolve(request, seq=len(kept.requests) + 1))
        return len(kept.requests)

    async def requests(self, run_id: str, *, after: int = 0) -> list[Request]:
        return self._kept[run_id].requests[after:] if run_id in self._kept else []

    async def run(self, run_id: str) -> RunRecord | None:
        if run_id in self._kept:
            return self._kept[run_id].run
        found = [kept.run for key, kept in self._kept.items() if key.startswith(run_id)]
        return found[0] if len(found) == 1 else None

    async def runs(self, *, workspace: str | None = None, limit: int = 100) -> list[RunRecord]:
        kept = [kept.run for kept in self._kept.values()]
        found = [run for run in kept if workspace is None or run.workspace == workspace]
        return sorted(found, key=lambda run: (run.started_at, run.id), reverse=True)[:limit]

    async def iterations(self, run_id: str) -> AsyncIterator[IterationRecord]:
        if kept := self._kept.get(run_id):
            for number in sorted(kept.iterations):
                yield kept.iterations[number]

    async def iteration(self, run_id: str, number: int) -> IterationRecord | None:
        return self._kept[run_id].iterations.get(number) if run_id in self._kept else None

    async def traces(self, run_id: str) -> list[Trace]:
        return [Trace.of(iteration) async for iteration in self.iterations(run_id)]

    async def events(self, run_id: str, *, after: int = 0) -> AsyncIterator[Event]:
        if kept := self._kept.get(run_id):
            for seq in sorted(seq for seq in kept.events if seq > after):
                yield kept.events[seq]

    async def last_seq(self, run_id: str) -> int:
        return max(self._kept[run_id].events, default=0) if run_id in self._kept else 0

    async def last_iteration(self, run_id: str) -> int:
        return max(self._kept[run_id].iterations, default=0) if run_id in self._kept else 0

    async def remove(self, run_id: str, *, owner: str = "") -> None:
        if kept := self._kept.get(run_id):
            kept.require(owner)
            del self._kept[run_id]

    async def forget_transcript(self, run_id: str) -> int:
        kept = self._found(run_id)
        kept.require("")
        gone = [seq for seq, event in kept.events.items() if event.type in TRANSCRIPT]
        for seq in gone:
            del kept.events[seq]
        kept.run = evolve(kept.run, forgotten=kept.run.forgotten + len(gone))
        return len(gone)

    async def check(self) -> Health:
        return Health(len(self._kept))

    def _found(self, run_id: str) -> _Kept:
        if run_id not in self._kept:
            raise StoreError(f"The store holds no run {run_id}.")
        return self._kept[run_id]


def _new(events: Sequence[Event], known: dict[int, Event]) -> dict[int, Event]:
    new = {event.seq: event for event in events if event.seq}
    if len(new) < sum(1 for event in events if event.seq) or not known.keys().isdisjoint(new):
        raise StoreError("An event with that number is in the store already: another process is writing to the run.")
    return new
