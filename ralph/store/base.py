"""What a store is: where runs are kept. What anyone sees of a run is in here first."""

from collections.abc import AsyncIterator, Sequence
from types import TracebackType
from typing import NamedTuple, Self

from ralph.records.events import Event
from ralph.records.record import IterationRecord, RunRecord, RunState, Trace, weighty
from ralph.types.requests import Request

__all__ = ["LEASE", "Health", "Store", "named"]

LEASE = 30.0
"""Seconds that a run belongs to its owner without word from it."""


class Health(NamedTuple):
    """What a look through a store has found.

    Attributes:
        runs: how many it holds.
        problems: what is damaged, a sentence each; not more than twenty.
    """

    runs: int
    problems: tuple[str, ...] = ()


class Store:
    """Keeps runs. Used in `async with`; several users may enter one store, and the last one to leave closes it.

    Every method raises `StoreError` if the store cannot do it, and those that read raise `RecordError` if what they
    find cannot be read back.

    A run has one owner at a time: whoever knows its token. The owner has it for the time of a lease, by the store's
    clock, and renews that; a run whose owner has died can be taken over when the lease is over.

    `append` is atomic: after a crash either all of what it was given is there or nothing.
    When it returns, it is durable; when it is cancelled, it is there as a whole or not at all.
    """

    async def create(self, run: RunRecord, events: Sequence[Event] = (), *, owner: str = "") -> None:
        """Adds a run, as a token's own if one is given. Its id must be new."""
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
        """Adds events (their `seq` goes on from the last one's), one finished iteration, and the run's new state.

        Events without a `seq` are not kept; one whose `seq` is there already is refused, and so is an iteration.

        Raises:
            OwnershipLostError: the run is not that token's, or not any more.
            RunOwnedError: there is no token, and the run is somebody's whose lease holds.
        """
        raise NotImplementedError

    async def acquire(self, run_id: str, owner: str, *, dead: str = "", seconds: float = LEASE) -> None:
        """Makes a token the owner of a run for so many seconds. Of two that try at once, one succeeds.

        Args:
            dead: the token of an owner that the caller knows to have died: its lease is not waited for.

        Raises:
            RunOwnedError: it is another's whose lease holds.
        """
        raise NotImplementedError

    async def renew(self, run_id: str, owner: str, *, seconds: float = LEASE) -> None:
        """The owner has the run for so many seconds from now. Raises `OwnershipLostError` where it is not its own."""
        raise NotImplementedError

    async def release(self, run_id: str, owner: str) -> None:
        """Gives a run up. Nothing happens where it is not that owner's."""
        raise NotImplementedError

    async def leased(self, run_id: str) -> bool:
        """Whether a run is somebody's whose lease holds."""
        raise NotImplementedError

    async def holder(self, run_id: str) -> str:
        """The token of the run's owner, though its lease may be over; empty where nobody has the run."""
        raise NotImplementedError

    async def ask(self, run_id: str, request: Request) -> int:
        """Adds a request for whoever owns the run, who is not waited for; returns the `seq` that it got."""
        raise NotImplementedError

    async def requests(self, run_id: str, *, after: int = 0) -> list[Request]:
        """What was asked of a run, with a greater `seq`, in order."""
        raise NotImplementedError

    async def run(self, run_id: str) -> RunRecord | None:
        """The run of that id, or of the one id that begins so; None where there is none or more than one."""
        raise NotImplementedError

    async def runs(self, *, workspace: str | None = None, limit: int = 100) -> list[RunRecord]:
        """The newest runs, newest first."""
        raise NotImplementedError

    def iterations(self, run_id: str) -> AsyncIterator[IterationRecord]:
        """The finished iterations of a run, in order."""
        raise NotImplementedError

    async def iteration(self, run_id: str, number: int) -> IterationRecord | None:
        """One finished iteration of a run; None where there is none of that number."""
        raise NotImplementedError

    async def traces(self, run_id: str) -> list[Trace]:
        """What folding needs of the finished iterations of a run, in order."""
        raise NotImplementedError

    async def state(self, run: RunRecord) -> RunState:
        """How far a run has come: the fold over its iterations, of which few have to be read for it."""
        traces = await self.traces(run.id)
        read = [await self.iteration(run.id, number) for number in sorted(weighty(traces))]
        whole = {record.number: record for record in read if record is not None}
        return RunState.of(run, [whole.get(trace.number, trace) for trace in traces])

    def events(self, run_id: str, *, after: int = 0) -> AsyncIterator[Event]:
        """The events of a run with a greater `seq`, in order. Types that this version does not know are passed over."""
        raise NotImplementedError

    async def last_seq(self, run_id: str) -> int:
        """The `seq` of the run's last event; 0 where it has none."""
        raise NotImplementedError

    async def last_iteration(self, run_id: str) -> int:
        """The number of the run's last finished iteration; 0 where none is."""
        raise NotImplementedError

    async def remove(self, run_id: str, *, owner: str = "") -> None:
        """Removes a run with all that belongs to it, where it is there. Raises what `append` does for the owner."""
        raise NotImplementedError

    async def check(self) -> Health:
        """Looks through everything but the transcripts, which may take a while."""
        raise NotImplementedError

    async def compact(self) -> None:
        """Gives the room of what was removed back, which may keep others waiting for a while."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def named(owner: str) -> str:
    """The token, which must not be empty: that would be nobody's."""
    if not owner:
        raise ValueError("an owner's token must not be empty")
    return owner
