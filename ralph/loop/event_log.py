"""The event log of a run: append, then publish, so that whatever anyone sees of a run is already durable.

Facts (`commit`) are stored before they are published. Messages and tool calls (`note`) are committed in groups, at most
100 ms apart, or with the next fact. Pieces of messages keep their place in the order but are not stored.

While the store cannot be written (a full disk, a lock, a lost connection), nothing is lost and the run waits: commits
block until the store can be written, viewers see a pause, and the user's request to stop ends the waiting.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from time import monotonic
from typing import Any

import anyio

from ralph.errors import StoreError
from ralph.hooks import Hooks
from ralph.loop.dispatch import Dispatcher
from ralph.records.events import Diagnosed, Event, MessageStreamed, Paused, Resumed
from ralph.records.record import IterationRecord, RunRecord
from ralph.store.base import Store
from ralph.types import evolve

__all__ = ["EventLog"]

_GROUP = 0.1
_TRIES_AGAIN = "The run waits until it can be written again, and tries every few seconds."
_FIRST_RETRY = 0.1
_LONGEST_RETRY = 5.0


class EventLog:
    """The only writer of a run.

    Args:
        seq: the number of the run's last event.
        hooks: the observers, in the order in which they are called; see `Dispatcher`.
        owner: the token of the run's owner in the store.

    Attributes:
        iteration: that of the last event.
        failed: called when nothing more can be stored; a commit raises the error as well.
        dispatcher: publishes to the observers.
    """

    def __init__(self, store: Store, run_id: str, seq: int, hooks: Sequence[Hooks], *, owner: str = "") -> None:
        self._store = store
        self._run_id = run_id
        self._owner = owner
        self._seq = seq
        self.iteration = 0
        self.dispatcher = Dispatcher(hooks, self._complain)
        self._pending: list[Event] = []
        self._more = anyio.Event()
        self._lock = anyio.Lock(fast_acquire=True)
        self._writers: set[anyio.CancelScope] = set()
        self._waiting = False
        self._hurry = anyio.Event()
        self._flushing = anyio.CancelScope()
        self._flushed_at = 0.0
        self._failure: StoreError | None = None
        self.failed: Callable[[StoreError], None] | None = None

    def note(self, event: Event) -> None:
        """Add an event to the next group."""
        self._pending.append(event)
        self._more.set()

    async def commit(
        self, *events: Event, iteration: IterationRecord | None = None, run: RunRecord | None = None
    ) -> None:
        """Store and publish the pending events, and then these facts.

        A cancellation waits until that is done, so that it is never in doubt whether a fact is stored. It does not wait
        for a store that cannot be written; then the facts are not stored, and the pending events stay pending.

        Raises:
            StoreError: the store failed.
        """
        with self._shielded():
            async with self._lock:
                self.check()
                await self._write(events, iteration=iteration, run=run)

    async def publish_unkept(self, event: Event) -> None:
        """Publish the end of a run with a failed store, so that viewers do not wait for it forever."""
        with anyio.CancelScope(shield=True):
            async with self._lock:
                self._seq += 1
                await self.dispatcher.publish(evolve(event, seq=self._seq))

    async def flush_groups(self) -> None:
        """Commit the noted events, at most every 100 ms, until `close` or until the store has failed."""
        with self._flushing:
            while self._failure is None:
                await self._more.wait()
                await anyio.sleep(max(0.0, self._flushed_at + _GROUP - monotonic()))
                with self._shielded():
                    async with self._lock:
                        if self._failure is None:
                            await self._write_group()

    def check(self) -> None:
        """Raise the `StoreError` after which nothing more can be stored, if there was one."""
        if self._failure is not None:
            raise self._failure

    def fail(self, error: StoreError) -> None:
        """Store nothing from now on."""
        self._failure = self._failure or error
        self.hurry()

    def hurry(self) -> None:
        """Try a store that cannot be written once more, and then wait no longer."""
        self._hurry.set()

    def close(self) -> None:
        """End `flush_groups`; events that are still pending are lost, so commit first."""
        self._flushing.cancel()

    @contextmanager
    def _shielded(self) -> Generator[None]:
        """Shield from cancellation, except while waiting for the store."""
        with anyio.CancelScope(shield=not self._waiting) as scope:
            self._writers.add(scope)
            try:
                yield
            finally:
                self._writers.discard(scope)

    async def _write_group(self) -> None:
        try:
            await self._write(())
        except StoreError as error:
            if self.failed is not None:
                self.failed(error)

    async def _write(
        self, facts: Sequence[Event], *, iteration: IterationRecord | None = None, run: RunRecord | None = None
    ) -> None:
        """Store and publish the pending events and the facts; if storing fails, all of them stay pending."""
        taken = len(self._pending)
        numbered = self._numbered((*self._pending[:taken], *facts))
        kept = [event for event in numbered if event.seq]
        if kept or iteration or run:
            try:
                await self._keep(kept, iteration=iteration, run=run)
            except StoreError as error:
                self._failure = self._failure or error
                raise
        del self._pending[:taken]
        if taken and not self._pending:  # else `flush_groups` may be waiting for this very one
            self._more = anyio.Event()
        self._seq += len(kept)
        self._flushed_at = monotonic()
        for event in numbered:
            await self.dispatcher.publish(event)

    async def _keep(self, kept: Sequence[Event], **more: Any) -> None:
        """Append, and try again for as long as the problem may pass by itself."""
        pause = 0.0
        while True:
            try:
                await self._store.append(self._run_id, kept, owner=self._owner, **more)
                break
            except StoreError as error:
                self.check()
                if not error.passing:
                    raise
                if self._hurry.is_set() and pause:
                    raise _not_kept(error, self._run_id, kept, more.get("iteration")) from error
                if not pause:
                    await self.dispatcher.publish(Paused(**self._unkept(), reason=f"{error.problem} {_TRIES_AGAIN}"))
            pause = min(2 * pause, _LONGEST_RETRY) or _FIRST_RETRY
            await self._wait(pause)
        if pause:
            await self.dispatcher.publish(Resumed(**self._unkept()))

    async def _wait(self, seconds: float) -> None:
        """Wait for the next try, or until there is hurry."""
        self._reshield(waiting=True)
        try:
            with anyio.move_on_after(seconds):
                await self._hurry.wait()
        finally:
            self._reshield(waiting=False)

    def _reshield(self, *, waiting: bool) -> None:
        self._waiting = waiting
        for scope in self._writers:
            scope.shield = not waiting

    def _unkept(self) -> dict[str, Any]:
        return {"run_id": self._run_id, "at": datetime.now(UTC), "iteration": self.iteration}

    def _numbered(self, events: Sequence[Event]) -> list[Event]:
        """Return the events with their numbers in the run; pieces of messages have none."""
        numbered: list[Event] = []
        seq = self._seq
        for event in events:
            self.iteration = event.iteration
            if isinstance(event, MessageStreamed):
                numbered.append(event)
            else:
                seq += 1
                numbered.append(evolve(event, seq=seq))
        return numbered

    def _complain(self, text: str) -> None:
        """Report a skipped hook as an event."""
        self.note(Diagnosed(**self._unkept(), text=text))


def _not_kept(error: StoreError, run_id: str, events: Sequence[Event], iteration: IterationRecord | None) -> StoreError:
    """Return the error of a store that stayed unwritable, naming what is lost."""
    number = events[-1].iteration if events else 0
    lost = f"the end of iteration {iteration.number}" if iteration else f"{len(events)} events of iteration {number}"
    return StoreError(
        f"{error.problem} Not kept: {lost}.",
        f"{error.remedy} Then `ralph resume {run_id}` continues; what the agent did is in the workspace.".strip(),
    )
