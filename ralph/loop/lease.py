"""The lease of a run: this process's hold on it in the store, and the stop signal that ends its work."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from time import time

import anyio

from ralph.errors import OwnershipLostError, RecordError, StoreError
from ralph.loop.event_log import EventLog
from ralph.records.record import Owner
from ralph.store.base import LEASE, Store

__all__ = ["Lease", "Stop"]

_BEAT = 0.5
"""Seconds between two looks at the inbox."""


@dataclass(slots=True)
class Stop:
    """The user's request that the run ends: it ends the agent's turn, or the verification, that is running."""

    reason: str = ""
    scope: anyio.CancelScope | None = None

    def ask(self, reason: str) -> None:
        """Request the end; the first reason counts."""
        self.reason = self.reason or reason
        if self.scope is not None:
            self.scope.cancel()

    def watched(self, seconds: float | None = None) -> anyio.CancelScope:
        """Return a scope that the request cancels, also an earlier one, and that ends after so many seconds."""
        self.scope = anyio.CancelScope()
        if seconds is not None:
            self.scope.deadline = anyio.current_time() + seconds
        if self.reason:
            self.scope.cancel()
        return self.scope

    def later(self, seconds: float) -> None:
        """Give the scope that is open more time, if its time is limited."""
        if self.scope is not None:
            self.scope.deadline += seconds


class Lease:
    """This process's hold on a run, renewed beside its iterations, so that it costs them nothing."""

    def __init__(self, store: Store, owner: Owner, run_id: str, *, log: EventLog, stop: Stop) -> None:
        self._store = store
        self._owner = owner.token
        self._run_id = run_id
        self._log = log
        self._stop = stop
        self._attending = anyio.CancelScope()
        log.failed = self.lose

    async def attend(self, listen: Callable[[], Awaitable[None]]) -> None:
        """Renew the lease and call `listen` twice a second, until `end` or until the run is lost.

        It goes by the time of day, which continues while the machine sleeps. A store that cannot be asked for now, or a
        request that cannot be read, does not end the run; the event log reports the store.
        """
        renewed = time()
        with self._attending:
            while True:
                await anyio.sleep(_BEAT)
                try:
                    if abs(time() - renewed) > LEASE / 3:
                        await self._store.renew(self._run_id, self._owner)
                        renewed = time()
                    await listen()
                except OwnershipLostError as error:
                    self.lose(error)
                    return
                except (StoreError, RecordError):
                    continue

    def lose(self, error: StoreError) -> None:
        """End the agent's work, as nothing more of this run can be stored."""
        self._log.fail(error)
        self._stop.ask(error.problem)

    async def end(self) -> None:
        """Give the run up; if the store cannot be reached, the lease runs out."""
        self._attending.cancel()
        try:
            await self._store.release(self._run_id, self._owner)
        except StoreError:
            return
