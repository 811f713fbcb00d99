"""The inbox of a run: requests from other terminals to pause, stop, extend or inform it."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import anyio

from ralph.decision.limits import Limits
from ralph.loop.event_log import EventLog
from ralph.loop.lease import Stop
from ralph.records.events import Event, Extended
from ralph.records.record import RunRecord
from ralph.store.base import Store
from ralph.system.clock import Clock
from ralph.types import evolve
from ralph.types.requests import Request

__all__ = ["STOPPED", "Inbox", "extended"]

STOPPED = "`ralph stop`"
"""The reason of a run that was stopped from elsewhere without one."""

_MOST_MESSAGES = 50
_MOST_CHARACTERS = 8_000


class Inbox:
    """The requests to a run, read from the store.

    Args:
        limits: of the run, without extensions.
        clock: stamps events.

    Attributes:
        limits: with all extensions so far.
        pausing: the user wants the run to pause, or to stay paused.
        resuming: the user wants the present pause to end.
    """

    def __init__(
        self, store: Store, run: RunRecord, *, log: EventLog, stop: Stop, limits: Limits, clock: Clock
    ) -> None:
        self._store = store
        self._run_id = run.id
        self._log = log
        self._stop = stop
        self._base = limits
        self._clock = clock
        self._set = run.limits_set
        self._last_seq = 0
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
        self.limits = extended(self._base, self._added)

    async def listen(self) -> None:
        """Read the requests that came since the last time."""
        for request in await self._store.requests(self._run_id, after=self._last_seq):
            self._last_seq = request.seq
            match request.kind:
                case "stop":
                    self._stop.ask(request.text or STOPPED)
                case "pause" | "resume":
                    self.pausing = request.kind == "pause"
                    self.resuming = request.kind == "resume"
                case "extend":
                    self._extend(request)
                case "tell":
                    self._take(request)
            if request.kind != "tell":
                self._asked.set()

    def messages(self, after: int) -> tuple[Request, ...]:
        """Return the messages for the agent with a greater `seq`; earlier ones are forgotten."""
        self._messages = [request for request in self._messages if request.seq > after]
        return tuple(self._messages)

    async def wait(self, until: datetime | None) -> bool:
        """Wait until a moment (None: without end), or until a request other than a message comes.

        Returns:
            True if the moment came.
        """
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
        before, self.limits = self.limits, extended(self._base, self._added)
        if before.max_duration and self.limits.max_duration:
            self._stop.later(self.limits.max_duration - before.max_duration)
        self._log.note(self._event(request))

    def _event(self, request: Request) -> Event:
        limits: dict[str, Any] = {name: getattr(self.limits, name, None) for name in request.limits}
        return Extended(
            run_id=self._run_id,
            at=self._clock.now(),
            iteration=self._log.iteration,
            added=request.limits,
            limits=limits,
        )


def extended(limits: Limits, added: Mapping[str, float]) -> Limits:
    """Return limits that are higher by these amounts; an unlimited quantity stays so, and unknown names are ignored."""
    more = {
        name: type(value)(min(value + added[name], 10**12))
        for name, value in limits.model_dump().items()
        if value is not None and added.get(name, 0) > 0
    }
    return evolve(limits, **more)
