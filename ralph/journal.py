"""Append, then publish: what anyone sees of a run is already durable.

Facts (`commit`) are in the store before they are published. Messages and tool calls (`note`) are committed in groups,
at most 100 ms apart, or with the next fact. Pieces of messages keep their place in the order but are not kept.
"""

import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
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
_SECOND_CHANCES = 3


class Journal:
    """The one writer of a run.

    Args:
        seq: of the run's last event.
        hooks: who is told, in this order. One that raises, or takes more than ten seconds, is logged and skipped;
            one that took too long three times is told nothing any more.
    """

    def __init__(self, store: Store, run_id: str, seq: int, hooks: Sequence[Hooks]) -> None:
        self._store = store
        self._run_id = run_id
        self._seq = seq
        self._hooks = list(hooks)
        self._slow: Counter[int] = Counter()
        self._pending: list[Event] = []
        self._more = anyio.Event()
        self._lock = anyio.Lock(fast_acquire=True)
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

    async def publish_unkept(self, event: Event) -> None:
        """Publishes the end of a run whose store has failed: who watches must not wait for it for ever."""
        with anyio.CancelScope(shield=True):
            async with self._lock:
                await self._publish(self._numbered(event))

    async def flush_groups(self) -> None:
        """Commits what is noted, at most every 100 ms, until `close`."""
        with self._flushing:
            while self._failure is None:
                await self._more.wait()
                await anyio.sleep(max(0.0, self._flushed_at + _GROUP - monotonic()))
                # What is taken is in no other hands: a cancellation must not lose it.
                with anyio.CancelScope(shield=True):
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
        for hooks in tuple(self._hooks):
            for name in ("on_event", f"on_{event.type}"):
                method = getattr(hooks, name, None)
                if method is not None and getattr(method, "__func__", None) is not getattr(Hooks, name, None):
                    await self._tell(hooks, name, method, event)

    async def _tell(self, hooks: Hooks, name: str, method: Callable[[Event], Awaitable[None]], event: Event) -> None:
        scope = anyio.CancelScope(deadline=anyio.current_time() + _PATIENCE)
        try:
            with scope:
                await method(event)
        except Exception:
            self.hook_failures += 1
            _logger.exception("the hook %s failed; the run goes on", name)
        if scope.cancelled_caught:
            self.hook_failures += 1
            self._slow[id(hooks)] += 1
            _logger.warning("the hook %s took more than %g seconds; the run goes on", name, _PATIENCE)
            if self._slow[id(hooks)] == _SECOND_CHANCES:
                self._hooks.remove(hooks)
                _logger.warning("%s is too slow: it is told nothing any more", type(hooks).__name__)
