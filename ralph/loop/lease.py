"""A run in this process's hands: its lease is renewed, and what is asked of it from elsewhere is heard.

All of it goes on beside the iterations, in one task, so that it costs them nothing.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from time import time
from typing import Any

import anyio

from ralph.decision.limits import Limits
from ralph.errors import OwnershipLostError, RecordError, StoreError
from ralph.loop.event_log import Journal
from ralph.records.events import Event, Extended
from ralph.records.record import Owner, RunRecord
from ralph.store.base import LEASE, Store
from ralph.system.clock import Clock
from ralph.types import evolve
from ralph.types.requests import Request

__all__ = ["STOPPED", "Stop", "Tenure", "extended"]

STOPPED = "`ralph stop`"
"""Why a run was cancelled that was stopped from elsewhere without a reason."""

_BEAT = 0.5
_MOST_MESSAGES = 50
_MOST_CHARACTERS = 8_000


@dataclass(slots=True)
class Stop:
    """A person's wish that the run should end: it ends the agent's turn, or the verification, that is under way."""

    reason: str = ""
    scope: anyio.CancelScope | None = None

    def ask(self, reason: str) -> None:
        self.reason = self.reason or reason
        if self.scope is not None:
            self.scope.cancel()

    def watched(self, seconds: float | None = None) -> anyio.CancelScope:
        """A scope that the wish cancels, also one that came before, and that ends after so many seconds."""
        self.scope = anyio.CancelScope()
        if seconds is not None:
            self.scope.deadline = anyio.current_time() + seconds
        if self.reason:
            self.scope.cancel()
        return self.scope

    def later(self, seconds: float) -> None:
        """What is under way has so much more time, if it has a time."""
        if self.scope is not None:
            self.scope.deadline += seconds


class Tenure:
    """Holds a run's lease in the store, and hears what is asked of the run.

    Args:
        limits: of the run, without what it was allowed beside them.
        clock: by which events are stamped.

    Attributes:
        limits: with all extensions that were heard of.
        pausing: a person wants the run to pause, or to stay paused.
        go_on: a person wants the pause that it is in to be over.
    """

    def __init__(
        self, store: Store, owner: Owner, run: RunRecord, *, journal: Journal, stop: Stop, limits: Limits, clock: Clock
    ) -> None:
        self._store = store
        self._owner = owner.token
        self._run_id = run.id
        self._journal = journal
        self._stop = stop
        self._base = limits
        self._clock = clock
        self._set = run.limits_set
        self._heard = 0
        self._added: defaultdict[str, float] = defaultdict(float)
        self._messages: list[Request] = []
        self._asked = anyio.Event()
        self._attending = anyio.CancelScope()
        self.limits = limits
        self.pausing = self.go_on = False
        journal.failed = self.lose

    def recall(self, requests: Sequence[Request]) -> None:
        """What was asked before the run was taken up. Messages and extensions count; any other is past."""
        for request in requests:
            self._heard = request.seq
            self._take(request)
        self.limits = extended(self._base, self._added)

    async def attend(self) -> None:
        """Renews the lease and listens, until `end` or until the run is lost.

        It goes by the time of day, which goes on while the machine sleeps. A store that cannot be asked for now, or a
        request that cannot be read, does not end the run; it is the journal that tells of a store.
        """
        renewed = time()
        with self._attending:
            while True:
                await anyio.sleep(_BEAT)
                try:
                    if abs(time() - renewed) > LEASE / 3:
                        await self._store.renew(self._run_id, self._owner)
                        renewed = time()
                    await self.listen()
                except OwnershipLostError as error:
                    self.lose(error)
                    return
                except (StoreError, RecordError):
                    continue

    async def listen(self) -> None:
        """Hears what was asked since the last time."""
        for request in await self._store.requests(self._run_id, after=self._heard):
            self._heard = request.seq
            match request.kind:
                case "stop":
                    self._stop.ask(request.text or STOPPED)
                case "pause" | "resume":
                    self.pausing = request.kind == "pause"
                    self.go_on = request.kind == "resume"
                case "extend":
                    self._extend(request)
                case "tell":
                    self._take(request)
            if request.kind != "tell":
                self._asked.set()

    def messages(self, after: int) -> tuple[Request, ...]:
        """What the agent is to be told, of the requests with a greater `seq`; what came before is forgotten."""
        self._messages = [request for request in self._messages if request.seq > after]
        return tuple(self._messages)

    async def wait(self, until: datetime | None) -> bool:
        """Waits until a moment, for ever with None, or until something else than a message is asked. Returns whether it
        was the moment that came.
        """
        self._asked = anyio.Event()
        came = False
        if self.go_on:
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

    def lose(self, error: StoreError) -> None:
        """Nothing more of this run can be kept: its agent's work is ended."""
        self._journal.fail(error)
        self._stop.ask(error.problem)

    async def end(self) -> None:
        """Gives the run up; where the store cannot be told, the lease runs out."""
        self._attending.cancel()
        try:
            await self._store.release(self._run_id, self._owner)
        except StoreError:
            return

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
        self._journal.note(self._told(request))

    def _told(self, request: Request) -> Event:
        limits: dict[str, Any] = {name: getattr(self.limits, name, None) for name in request.limits}
        return Extended(
            run_id=self._run_id,
            at=self._clock.now(),
            iteration=self._journal.iteration,
            added=request.limits,
            limits=limits,
        )


def extended(limits: Limits, added: Mapping[str, float]) -> Limits:
    """Limits with so much more of what they limit; what is not limited stays so, and unknown names mean nothing."""
    more = {
        name: type(value)(min(value + added[name], 10**12))
        for name, value in limits.model_dump().items()
        if value is not None and added.get(name, 0) > 0
    }
    return evolve(limits, **more)
