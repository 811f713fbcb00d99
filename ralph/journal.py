"""Append, then publish: what anyone sees of a run is already durable.

Facts (`commit`) are in the store before they are published. Messages and tool calls (`note`) are committed in groups,
at most 100 ms apart, or with the next fact. Pieces of messages keep their place in the order but are not kept.
"""

import logging
from collections.abc import Awaitable, Sequence
from time import monotonic

import anyio

from ralph.errors import StoreError
from ralph.events import Event, MessageStreamed
from ralph.hooks import Hooks
from ralph.record import IterationRecord, RunRecord
from ralph.store.base import Store

__all__ = ["Journal"]

_logger = logging.getLogger("ralph.hooks")

_GROUP = 0.1
_PATIENCE = 10.0


class Journal:
    """The one writer of a run.

    Args:
        seq: of the run's last event.
        hooks: who is told, in this order. One that raises, or takes more than ten seconds, is logged and skipped.
    """

    def __init__(self, store: Store, run_id: str, seq: int, hooks: Sequence[Hooks]) -> None:
        self._store = store
        self._run_id = run_id
        self._seq = seq
        self._hooks = tuple(hooks)
        self._pending: list[Event] = []
        self._more = anyio.Event()
        self._lock = anyio.Lock()
        self._flushing = anyio.CancelScope()
        self._flushed_at = 0.0
        self._failure: StoreError | None = None
        self.hook_failures = 0

    def note(self, event: Event) -> None:
        """Something that may wait for the next group."""
        self._pending.append(event)
        self._more.set()

    async def commit(
        self, *events: Event, iteration: IterationRecord | None = None, run: RunRecord | None = None
    ) -> None:
        """Stores and publishes what is pending and then these facts. Raises `StoreError` where that failed.

        A cancellation waits until that is done: nobody should have to ask whether a fact is there.
        """
        with anyio.CancelScope(shield=True):
            async with self._lock:
                if self._failure is not None:
                    raise self._failure
                await self._write([*self._take(), *events], iteration=iteration, run=run)

    async def flush_groups(self) -> None:
        """Commits what is noted, at most every 100 ms, until `close`."""
        with self._flushing:
            while self._failure is None:
                await self._more.wait()
                await anyio.sleep(max(0.0, self._flushed_at + _GROUP - monotonic()))
                async with self._lock:
                    try:
                        await self._write(self._take())
                    except StoreError as error:
                        self._failure = error

    def close(self) -> None:
        """Ends `flush_groups`; what is still noted is lost, so commit first."""
        self._flushing.cancel()

    def _take(self) -> list[Event]:
        taken, self._pending = self._pending, []
        if taken:
            self._more = anyio.Event()
        return taken

    async def _write(
        self,
        events: Sequence[Event],
        *,
        iteration: IterationRecord | None = None,
        run: RunRecord | None = None,
    ) -> None:
        numbered = [event if isinstance(event, MessageStreamed) else self._numbered(event) for event in events]
        kept = [event for event in numbered if event.seq]
        if kept or iteration or run:
            await self._store.append(self._run_id, kept, iteration=iteration, run=run)
        self._flushed_at = monotonic()
        for event in numbered:
            await self._publish(event)

    def _numbered(self, event: Event) -> Event:
        self._seq += 1
        return event.model_copy(update={"seq": self._seq})

    async def _publish(self, event: Event) -> None:
        for hooks in self._hooks:
            for name in ("on_event", f"on_{event.type}"):
                method = getattr(hooks, name, None)
                if method is None or getattr(type(hooks), name, None) is getattr(Hooks, name, None):
                    continue
                await self._tell(name, method(event))

    async def _tell(self, name: str, call: Awaitable[None]) -> None:
        try:
            with anyio.fail_after(_PATIENCE):
                await call
        except Exception:
            self.hook_failures += 1
            _logger.exception("the hook %s failed; the run goes on", name)
