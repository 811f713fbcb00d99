"""This process's hold on a run: the lease in the store, the inbox of requests to the run, and the signal to stop."""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from time import monotonic, time
from typing import Any

import anyio

from ralph.decision.limits import Limits
from ralph.errors import OwnershipLostError, RecordError, StoreError
from ralph.loop.event_log import Clock, EventLog
from ralph.records.events import Extended
from ralph.records.record import Owner, RunRecord
from ralph.store.base import LEASE, Store
from ralph.types import evolve
from ralph.types.requests import Request

_BEAT = 0.5
"""Seconds between two looks at the inbox."""

_JUST = 0.05
"""Seconds after a look in which no other is needed before the next iteration."""


@dataclass(slots=True, eq=False)
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
    """This process's hold on a run, renewed in parallel with its iterations, so that it costs them nothing."""

    def __init__(self, store: Store, owner: Owner, log: EventLog, stop: Stop) -> None:
        self._store = store
        self._owner = owner.token
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
                        await self._store.renew(self._log.run_id, self._owner)
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
        """Give the run up, also if the caller is cancelled; if the store cannot be reached, the lease runs out."""
        self._attending.cancel()
        with anyio.CancelScope(shield=True), suppress(StoreError):
            await self._store.release(self._log.run_id, self._owner)


_STOPPED = "`ralph stop`"
"""The reason of a run that was stopped from elsewhere without one."""

_MOST_MESSAGES = 50
_MOST_CHARACTERS = 8_000


class Inbox:
    """The requests to a run, read from the store.

    Args:
        limits: of the run, without extensions.
        clock: the time until which a pause lasts.

    Attributes:
        limits: with all extensions so far.
        pausing: the user wants the run to pause, or to stay paused.
        resuming: the user wants the present pause to end.
    """

    def __init__(
        self, store: Store, run: RunRecord, *, log: EventLog, stop: Stop, limits: Limits, clock: Clock
    ) -> None:
        self._store = store
        self._log = log
        self._stop = stop
        self._base = limits
        self._clock = clock
        self._set = run.limits_set
        self._last_seq = 0
        self._looked = monotonic()
        self._added: defaultdict[str, float] = defaultdict(float)
        self._messages: list[Request] = []
        self._asked = anyio.Event()
        self.limits = limits
        self.pausing = self.resuming = False

    def recall(self, requests: Sequence[Request]) -> None:
        """Take in the requests from before this process took the run: messages and extensions; others are past."""
        for request in requests:
            self._last_seq = request.seq
            self._take(request)
        self.limits = _extended(self._base, self._added)

    async def look(self) -> None:
        """Read the requests that came, unless this was just done; a store that cannot be asked for now is no fault."""
        if monotonic() - self._looked > _JUST:
            with suppress(StoreError, RecordError):
                await self.listen()

    async def listen(self) -> None:
        """Read the requests that came since the last time."""
        looked = monotonic()
        for request in await self._store.requests(self._log.run_id, after=self._last_seq):
            if request.seq <= self._last_seq:  # two are looking
                continue
            self._last_seq = request.seq
            match request.kind:
                case "stop":
                    self._stop.ask(request.text or _STOPPED)
                case "pause" | "resume":
                    self.pausing = request.kind == "pause"
                    self.resuming = request.kind == "resume"
                case "extend":
                    self._extend(request)
                case "tell":
                    self._take(request)
            if request.kind != "tell":
                self._asked.set()
        self._looked = looked

    def messages(self, after: int) -> tuple[Request, ...]:
        """Return the messages for the agent; one that was only for once, with no greater `seq`, is forgotten."""
        self._messages = [request for request in self._messages if request.seq > after or not request.once]
        return tuple(self._messages)

    async def wait(self, until: datetime | None) -> bool:
        """Wait for a moment (None: without end), or a request other than a message; return True if the moment came."""
        self._asked = anyio.Event()
        came = False
        if self.resuming:
            return came
        async with anyio.create_task_group() as group:

            async def sleep(moment: datetime) -> None:
                nonlocal came
                await self._clock.wait_until(moment)
                came = True
                group.cancel_scope.cancel()

            if until is not None:
                group.start_soon(sleep, until)
            await self._asked.wait()
            group.cancel_scope.cancel()
        return came

    def _take(self, request: Request) -> None:
        if request.kind == "tell":
            bounded = evolve(request, text=request.text[:_MOST_CHARACTERS])
            self._messages = [*self._messages, bounded][-_MOST_MESSAGES:]
        elif request.kind == "extend":
            for name, amount in request.limits.items():
                self._added[name] += amount if request.seq > self._set.get(name, 0) else 0.0

    def _extend(self, request: Request) -> None:
        self._take(request)
        before, self.limits = self.limits, _extended(self._base, self._added)
        if before.max_duration and self.limits.max_duration:
            self._stop.later(self.limits.max_duration - before.max_duration)
        limits: dict[str, Any] = {name: getattr(self.limits, name, None) for name in request.limits}
        self._log.note(Extended(**self._log.stamp(), added=request.limits, limits=limits))


def _extended(limits: Limits, added: Mapping[str, float]) -> Limits:
    """Return limits that are higher by these amounts; an unlimited quantity stays so, and unknown names are ignored."""
    more = {
        name: type(value)(min(value + added[name], 10**12))
        for name, value in limits.model_dump().items()
        if value is not None and added.get(name, 0) > 0
    }
    return evolve(limits, **more)
