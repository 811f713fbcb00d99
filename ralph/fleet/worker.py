"""A worker of a fleet: takes tasks, runs their iterations in its slots, and watches over its lease and the others'.

Who owns a run, the run's lease in the store decides. The worker's own lease, by the database's clock, only says when
its tasks go to others: a worker that has lost it ends its agents, and what it still tries to store is refused.
"""

import asyncio
import os
import re
import secrets
import socket
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, suppress
from functools import partial
from time import monotonic
from typing import Any

import anyio
import anyio.abc
import anyio.to_thread

from ralph import __version__
from ralph.analysis import analyze_text
from ralph.errors import OwnershipLostError, RalphError, RunOwnedError, StoreError, UsageError, WorkspaceBusyError
from ralph.fleet.engine import Engine
from ralph.fleet.fleet import Fleet
from ralph.fleet.records import ACTIVE, Entry, FleetLimits, FleetStatus, WorkerEntry
from ralph.fleet.schedule import submit_due
from ralph.fleet.tables import Tables
from ralph.fleet.turn import Rate, Setting, Turn, seconds_until
from ralph.loop.ownership import has_died, this_process
from ralph.plugins import Plugins
from ralph.records.record import Owner
from ralph.store import Store, default_path, open_store
from ralph.watch.report_stats import outcome_of

LEASE = 15.0
"""Seconds after which the tasks of a worker that gives no sign of life go to others."""

_POLL = 0.25
_BUSY_AGAIN = 3.0
"""Seconds until a task is tried again whose place or run is in use."""

_HEALED_AFTER = 5.0
"""Seconds beyond the lease after which a step is missed that the engine should have begun."""

_CARE = 60.0
"""Seconds between two looks for what is old or due."""

_LOOKED_AT = 1_000
"""Tasks among which one is looked for that may still run."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")


class Worker:
    """Runs the tasks of a fleet until `drain` is called. Use `run`.

    Args:
        url: of the store, as for `ralph run --store`.
        name: stable over restarts; by default the machine's name.
        slots: iterations that run at once.
        labels: which tasks may demand.
        lease: seconds; shorter is faster after a crash, and needs a more reliable network.
        trust: consent to the settings that come with the repositories and folders of tasks.
        plugins: used in place of those of each workspace.
        until_empty: end once no task is left that may still run.
        note: called with a sentence on what happens.
        look: called every few seconds with the state of the whole fleet, for metrics.

    Attributes:
        draining: `drain` was called.
        failed: the names or ids of the tasks that failed here; at the end with `until_empty`, also of those that wait
            for a task that failed.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        name: str | None = None,
        slots: int = 2,
        labels: Sequence[str] = (),
        lease: float = LEASE,
        trust: bool = False,
        plugins: Plugins | None = None,
        until_empty: bool = False,
        note: Callable[[str], None] = lambda _: None,
        look: Callable[[FleetStatus], None] | None = None,
    ) -> None:
        named = name or socket.gethostname()
        if not _NAME.fullmatch(named):
            raise UsageError(f"{named[:80]!r} is not the name of a worker.", "Use letters, digits, dots and dashes.")
        self._fleet = Fleet(url, patience=lease / 3)
        state = default_path().parent / "fleet"
        self._setting = Setting(self._fleet, state, trust, plugins)
        self._engine = Engine(self._fleet.url, named, self._step)
        self._me = WorkerEntry(
            name=named,
            token=secrets.token_hex(8),
            slots=slots,
            labels=tuple(sorted(set(labels))),
            version=__version__,
            host=socket.gethostname(),
            pid=os.getpid(),
            owner=this_process().model_dump(mode="json"),
        )
        self._lease, self._note, self._until_empty, self._look = lease, note, until_empty, look
        self._turns: dict[str, Turn] = {}
        self._stores: list[Store] = []
        self._keep = AsyncExitStack()
        self._slots = anyio.Semaphore(slots)
        self._limits = FleetLimits()
        self._more = anyio.Event()
        self._rate = Rate()
        self._group: anyio.abc.TaskGroup
        self._beaten = monotonic()
        self._gave_up = False
        self._given_up: list[str] = []
        self._noted: set[str] = set()
        self.draining = False
        self.failed: list[str] = []

    @property
    def name(self) -> str:
        """The worker's name."""
        return self._me.name

    @property
    def place(self) -> str:
        """The fleet's database, without passwords."""
        return self._fleet.place

    async def run(self) -> None:
        """Work until `drain` was called and the iterations in flight have ended.

        Raises:
            UsageError: another worker with this name is alive.
            StoreError: the database cannot be used.
        """
        async with self._fleet:
            await anyio.to_thread.run_sync(analyze_text, "Ready.")  # reads the words of all languages: 0.5 s and more
            await self._register()
            try:
                async with self._engine, self._keep, anyio.create_task_group() as self._group:
                    self._group.start_soon(self._beat)
                    self._group.start_soon(self._take_care)
                    await self._claim()
                    self._group.cancel_scope.cancel()
            finally:
                with anyio.CancelScope(shield=True), suppress(StoreError):
                    await self._fleet.do(Tables.leave, self._described("stopped"))

    def drain(self) -> None:
        """Take no more tasks, return those that are running after their iteration, and end."""
        self.draining = True
        self._more.set()

    async def _register(self) -> None:
        """Begin the lease; wait if an earlier process under this name may still be alive."""
        said = False
        while True:
            before = await self._fleet.do(Tables.registered, self._me.name)
            dead = before is not None and bool(before.owner) and has_died(Owner.model_validate(before.owner))
            if await self._fleet.do(Tables.register, self._me, self._lease, dead=dead):
                self._beaten = monotonic()
                return
            if self.draining:
                raise UsageError(f"A worker with the name {self._me.name!r} is alive.", "Choose another --name.")
            if not said:
                self._note(f"A worker with the name {self._me.name!r} has a valid lease: waiting until it ends.")
            said = True
            await anyio.sleep(min(1.0, self._lease / 3))

    # tasks in

    async def _claim(self) -> None:
        while not (self.draining and not self._turns):
            self._more = anyio.Event()
            if self.draining:
                await self._wake_waiting()
            elif await self._take():
                continue
            elif self._until_empty and not self._turns and await self._is_empty():
                return
            with anyio.move_on_after(_POLL):
                await self._more.wait()

    async def _take(self) -> bool:
        """Take as many tasks as there are free slots; return whether there was one.

        A result that is being delivered takes no slot, unless there are more of them than slots.
        """
        delivering = sum(turn.ended is not None for turn in self._turns.values())
        busy = sum(turn.takes_slot for turn in self._turns.values()) + max(0, delivering - self._me.slots)
        free = self._me.slots - busy
        if free <= 0 or self._gave_up:
            return False
        try:
            taken = await self._fleet.do(Tables.claim, self._me, free)
        except StoreError:
            return False  # the heartbeat sees to it
        for entry in taken:
            await self._begin(entry)
        return bool(taken)

    async def _begin(self, entry: Entry) -> None:
        self._note(f"{entry.id} begins{' again, as its worker was lost' * bool(entry.dangling)}.")
        self._turns[entry.id] = turn = Turn(entry, self._setting)
        self._group.start_soon(self._live, turn)
        try:
            if entry.dangling:
                await self._resume(turn)
            else:
                await self._engine.start(entry.id, entry.workflow_id)
        except Exception as error:  # noqa: BLE001 - the engine's, of a database that is away: `_heal` tries again
            self._note(f"{entry.id} could not be started yet: {type(error).__name__}.")

    async def _resume(self, turn: Turn) -> None:
        """Resume the workflow of a turn on this worker; begin another one if that has ended or was lost."""
        if not await self._engine.resume(turn.entry.workflow_id):
            following = await self._fleet.do(Tables.next_turn, turn.entry)
            if following is None:
                turn.lose()
                return
            turn.entry = following
            await self._engine.start(turn.entry.id, turn.entry.workflow_id)

    async def _heal(self) -> None:
        """Resume the workflows that the engine has dropped, as it may while the database is away."""
        late = monotonic() - self._lease - _HEALED_AFTER
        for turn in [turn for turn in self._turns.values() if turn.due < late and not turn.stepping]:
            turn.due = monotonic()
            with suppress(Exception):
                await self._resume(turn)

    async def _is_empty(self) -> bool:
        with suppress(StoreError):
            left = await self._fleet.entries((*ACTIVE, "queued"), _LOOKED_AT)
            if any(entry.state != "queued" for entry in left):
                return False
            others = (await self._fleet.status()).workers if left else ()
            known = [worker.labels for worker in (self._me, *others) if worker.state in {"working", "draining"}]
            if not any(not entry.blocked and any(entry.suits(labels) for labels in known) for entry in left):
                self.failed += [entry.name or entry.id for entry in left]
                return True
        return False

    async def _wake_waiting(self) -> None:
        for turn in list(self._turns.values()):
            if turn.waiting:
                await self._engine.wake(turn.entry.workflow_id)

    # steps of the engine's workflows

    async def _step(self, task_id: str, workflow_id: str, _number: int) -> dict[str, Any]:
        turn = self._turns.get(task_id)
        if turn is None or turn.lost or turn.entry.workflow_id != workflow_id:
            raise asyncio.CancelledError  # the engine keeps no result of it
        turn.waiting, turn.reason, turn.stepping = False, "", True
        wait = 0.0
        try:
            async with self._slots:
                said = await turn.make(partial(self._stepped, turn, self._next))
            if turn.ended is not None:  # publishing the result may take long, and is no iteration
                self._more.set()
                said = await turn.make(partial(self._stepped, turn, self._ended))
            wait = said.get("wait", 0.0)
            return said
        except OwnershipLostError:
            turn.lose()
            raise asyncio.CancelledError from None
        finally:
            turn.stepping, turn.due = False, monotonic() + wait

    async def _stepped(self, turn: Turn, call: Callable[[Turn], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
        """Make a call, and return what the engine keeps of it; no error leaves it but that the task is lost."""
        try:
            return await call(turn)
        except OwnershipLostError:
            raise
        except (RunOwnedError, WorkspaceBusyError) as error:
            return await self._let_go(turn, "queued", str(error), delay=_BUSY_AGAIN)
        except StoreError as error:
            turn.spoiled = True
            state = "queued" if error.passing else "failed"
            return await self._let_go(turn, state, str(error), delay=_BUSY_AGAIN)
        except RalphError as error:
            return await self._let_go(turn, "failed", str(error))
        except Exception as error:  # noqa: BLE001 - one task must not end the worker
            return await self._let_go(turn, "failed", f"a fault in Ralph: {type(error).__name__}: {error}")

    async def _next(self, turn: Turn) -> dict[str, Any]:
        """Run a step; leave the record of a run that has ended in `turn.ended`."""
        if (said := await self._returned(turn)) is not None:
            return said
        if turn.runner is None and (ended := await turn.open(await self._store())) is not None:
            turn.ended = ended
            return {}
        if (per_minute := self._limits.calls_per_minute) is not None:
            wait = await self._fleet.do(Tables.call, per_minute)
            if wait:
                return self._waits(turn, wait, f"the fleet's limit of {per_minute} iterations a minute")
        step = await turn.step()
        if step.ended is not None:
            turn.ended = step.ended
            return {}
        if step.waits:
            return self._waits(turn, seconds_until(step.until), step.reason)
        return await self._returned(turn) or {}

    def _waits(self, turn: Turn, seconds: float, reason: str) -> dict[str, Any]:
        turn.waiting, turn.reason = True, reason
        self._more.set()
        return {"wait": round(seconds, 3)}

    async def _returned(self, turn: Turn) -> dict[str, Any] | None:
        """Return a task that shall not continue here, after its iteration."""
        if turn.wanted == "stop" and turn.runner is None:
            return await self._let_go(turn, "stopped", "you asked for it")
        if turn.wanted == "pause":
            return await self._let_go(turn, "paused", "you asked for it")
        return await self._let_go(turn, "queued", "its worker has left") if self.draining else None

    async def _ended(self, turn: Turn) -> dict[str, Any]:
        record = turn.ended
        assert record is not None
        state = "done" if record.stop_reason == "completed" else "failed"
        if record.stop_reason == "cancelled" and turn.wanted == "stop":
            state = "stopped"
        try:
            delivered = await turn.deliver(record)
        except RalphError as error:
            return await self._let_go(turn, "failed", f"the result was not delivered: {error}")
        said = f"{outcome_of(record, record.stop_reason or 'ended')}: {record.detail}"
        return await self._let_go(turn, state, f"{said}; {delivered}" if delivered else said)

    async def _let_go(self, turn: Turn, state: str, reason: str, *, delay: float = 0.0) -> dict[str, Any]:
        """Store that this worker no longer has a task; wait for a database that cannot be reached."""
        progress = turn.progress()
        with suppress(RalphError):
            await turn.close()
        while True:
            try:
                call = Tables.let_go
                entry, me = turn.entry, self._me.name
                kept = await self._fleet.do(call, entry, me, progress, state=state, reason=reason, delay=delay)
                break
            except StoreError:
                await anyio.sleep(_POLL)
        turn.was_told(progress)
        self._rate.add(progress["finished"])
        self._note(f"{turn.entry.id} is {(kept or state).replace('_', ' ')}: {reason}")
        turn.over = True
        if state == "failed":
            self.failed.append(turn.entry.name or turn.entry.id)
        self._turns.pop(turn.entry.id, None)
        self._more.set()
        return {"ended": state}

    async def _live(self, turn: Turn) -> None:
        """Give a turn its task; then its store serves others, if nothing was wrong with it."""
        try:
            await turn.live()
        except Exception as error:  # noqa: BLE001 - one task must not end the worker
            self._note(f"{turn.entry.id} was left with a fault: {type(error).__name__}: {error}")
        if turn.store is not None and not turn.spoiled:
            self._stores.append(turn.store)
        if self._turns.get(turn.entry.id) is turn:
            del self._turns[turn.entry.id]
        self._more.set()

    async def _store(self) -> Store:
        """Return a store that no other run uses now."""
        if self._stores:
            return self._stores.pop()
        return await self._keep.enter_async_context(open_store(self._fleet.url))

    # the lease

    async def _beat(self) -> None:
        """Renew the lease, store the progress, and hear what the user wants; end everything once the lease is lost."""
        while True:
            await anyio.sleep(self._lease / 3 if self._lease > 1 else 0.2)
            await self._beat_once()

    async def _beat_once(self) -> None:
        if self._gave_up:
            await self._begin_anew()
            return
        news = [turn for turn in self._turns.values() if turn.has_news() and not turn.lost]
        told = [turn.progress() for turn in news]
        began, said = monotonic(), None
        with anyio.move_on_after(max(self._beaten + self._lease - began, self._lease / 3)), suppress(StoreError):
            said = await self._fleet.do(Tables.beat, self._described(), self._lease, told)
        if said is None:  # it failed, or a network that is cut says nothing
            if monotonic() - self._beaten > self._lease:
                self._lose_all("the database could not be reached for longer than the lease")
            return
        if not said.alive:
            self._lose_all("its lease had run out")
            await self._begin_anew()
            return
        before, self._beaten, self._limits = self._limits, began, said.limits
        if said.limits != before:
            await self._wake_waiting()
        for turn, progress in zip(news, told, strict=True):
            turn.was_told(progress)
            self._rate.add(progress["finished"])
        await self._heard(said.wanted)
        await self._heal()
        if said.taken:
            self._note(f"Tasks of a lost worker are in the queue again: {', '.join(said.taken)}.")
            self._more.set()

    async def _heard(self, wanted: dict[str, str]) -> None:
        for turn in list(self._turns.values()):
            what = wanted.get(turn.entry.id, "")
            if what in {"pause", "stop"} and turn.wanted != what:
                turn.ask("stop" if what == "stop" else "pause")
            elif not what and turn.wanted == "pause":
                turn.wanted = ""  # `ralph fleet resume` took it back
            if turn.waiting and (turn.wanted or (turn.runner is not None and turn.runner.is_asked)):
                await self._engine.wake(turn.entry.workflow_id)

    async def _begin_anew(self) -> None:
        """Begin another lease after the tasks were given up; those that no other worker has taken are queued again."""
        anew = self._me.model_copy(update={"token": secrets.token_hex(8)})
        with suppress(StoreError):
            call = Tables.register
            own, alive = self._me.token, self._given_up
            if await self._fleet.do(call, anew, self._lease, dead=False, own=own, alive=alive):
                self._me, self._gave_up, self._beaten, self._given_up = anew, False, monotonic(), []

    def _lose_all(self, why: str) -> None:
        turns = [turn for turn in self._turns.values() if not turn.lost]
        if turns:
            self._note(f"This worker gives up its {len(turns)} tasks, as {why}.")
        for turn in turns:
            turn.lose()
        self._given_up += [turn.entry.id for turn in turns]
        self._gave_up = True

    def _described(self, state: str = "") -> WorkerEntry:
        return self._me.model_copy(
            update={
                "state": state or ("draining" if self.draining else "working"),
                "running": sum(turn.takes_slot for turn in self._turns.values()),
                "iterations": self._rate.total,
                "rate": self._rate.of_minute,
                "load": round(os.getloadavg()[0] / (os.cpu_count() or 1), 2),
            }
        )

    def _note_once(self, text: str) -> None:
        if text not in self._noted:
            self._noted.add(text)
            self._note(text)

    async def _take_care(self) -> None:
        """Submit what is due, and remove what is old."""
        cared = -_CARE
        while True:
            with suppress(RalphError):
                await submit_due(self._fleet, self._note_once)
                if self._look is not None:
                    self._look(await self._fleet.status())
            if monotonic() - cared > _CARE:
                cared = monotonic()
                with suppress(Exception):
                    await self._engine.forget_old()
            await anyio.sleep(5.0)
