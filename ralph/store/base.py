"""What a store is: where runs are kept. What anyone sees of a run is in here first."""

from collections.abc import AsyncIterator, Sequence
from types import TracebackType
from typing import Self

from ralph.events import Event
from ralph.record import IterationRecord, RunRecord

__all__ = ["Store"]


class Store:
    """Keeps runs. Used in `async with`. Every method raises `StoreError` where the store cannot do it, and
    those that read raise `RecordError` where what they find cannot be read back.

    A run has one writer. `append` is atomic: after a crash either all of what it was given is there or nothing.
    When it returns, it is durable; when it is cancelled, it is there as a whole or not at all.
    """

    async def create(self, run: RunRecord, events: Sequence[Event] = ()) -> None:
        """Adds a run. Its id must be new."""
        raise NotImplementedError

    async def append(
        self,
        run_id: str,
        events: Sequence[Event],
        *,
        iteration: IterationRecord | None = None,
        run: RunRecord | None = None,
    ) -> None:
        """Adds events (their `seq` goes on from the last one's), one finished iteration, and the run's new state.

        Events without a `seq` are not kept; one whose `seq` is there already is refused, and so is an iteration.
        """
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

    def events(self, run_id: str, *, after: int = 0) -> AsyncIterator[Event]:
        """The events of a run with a greater `seq`, in order. Types that this version does not know are passed over."""
        raise NotImplementedError

    async def last_seq(self, run_id: str) -> int:
        """The `seq` of the run's last event; 0 where it has none."""
        raise NotImplementedError

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
