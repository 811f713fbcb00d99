"""The store interface: runs, iterations, events, leases and requests; and records as JSON."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from typing import NamedTuple, Self

from pydantic import ValidationError

from ralph.errors import plainly
from ralph.records.events import Event
from ralph.records.record import IterationRecord, RunRecord, RunState, Trace, weighty
from ralph.system.text import one_line
from ralph.types.requests import Request

TRANSCRIPT = frozenset({"message_received", "tool_started", "tool_finished"})
"""The types of events that make up a run's transcript."""

LEASE = 30.0
"""Seconds that a lease lasts if its owner does not renew it."""


_LOOK = 0.2
"""Seconds between two looks for new events, in a store that cannot tell whether there are any."""


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

    async def follow(
        self, run_id: str, *, after: int = 0, going: Callable[[RunRecord], bool] | None = None
    ) -> AsyncGenerator[Event]:
        """Yield the events of a run with a greater `seq`, in order, and each new one within a second; see `events`.

        It ends when the run is removed, and after the last event of a run that has finished and is not leased any more.
        A run that is resumed before that is followed on, and so is a crashed one, until the caller stops. While the
        caller does nothing with an event, nothing is read.

        Args:
            going: returns False for a run that need not be followed any longer, by default one that has finished;
                called at least once a second.
        """
        seen = 0
        while True:
            run = await self.run(run_id)
            goes_on = run is not None and run.id == run_id
            if run is not None and not (going(run) if going else run.state != "finished"):
                goes_on &= run.state == "finished" and await self.leased(run_id)  # it ends, or is being resumed
            async for event in self.events(run_id, after=after):  # those before that state are stored by now
                yield event
                after = event.seq
            if not goes_on:
                return
            seen = await self._moved(seen)

    async def _moved(self, seen: int) -> int:
        """Wait until something was stored, at most a second; return a number that is another one if it was."""
        await asyncio.sleep(_LOOK)
        return seen

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
