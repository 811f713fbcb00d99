"""A task's turn on a worker: its place, its runner, and the steps of its run."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Any, Literal, NamedTuple

import anyio
import anyio.to_thread

from ralph.decision.outcomes import Complete, Halt
from ralph.errors import OwnershipLostError, WorkspaceError
from ralph.fleet.checkout import Checkout, checkout, subject
from ralph.fleet.fleet import Fleet
from ralph.fleet.records import Entry
from ralph.fleet.stepping import Step, SteppedRunner
from ralph.fleet.tables import Tables
from ralph.fleet.task import Task
from ralph.loop.assembly import confinement_for, runner_arguments
from ralph.plugins import Plugins
from ralph.plugins.isolation import announce
from ralph.plugins.loading import load_plugins
from ralph.records.record import IterationRecord, RunRecord
from ralph.settings import Source, read_settings
from ralph.store import Store
from ralph.watch.report_stats import outcome_of


class Setting(NamedTuple):
    """The settings that all turns of a worker have in common.

    Attributes:
        fleet: that the worker belongs to.
        state: the folder for checkouts.
        trust: consent to the settings that come with repositories and folders.
        plugins: used in place of those of each workspace.
    """

    fleet: Fleet
    state: Path
    trust: bool = False
    plugins: Plugins | None = None


Call = Callable[[], Awaitable[dict[str, Any]]]


class Turn:
    """A task that a worker has, from the moment it takes it until it ends or returns it.

    Attributes:
        entry: the task as it was handed out.
        wanted: "pause" or "stop" once the user asked for it.
        waiting: it waits, and takes no slot.
        lost: another worker may have the task: nothing of it may be stored any more.
        over: it has ended, or was returned.
        stepping: a step is running, or waits for a slot.
        due: when the engine should begin the next step, on the monotonic clock.
        spoiled: its store must not serve another run.
        ended: the record of its run once that has ended.
    """

    def __init__(self, entry: Entry, setting: Setting) -> None:
        self.entry = entry
        self.wanted: Literal["", "pause", "stop"] = ""
        self.waiting = self.lost = self.spoiled = self.over = self.stepping = False
        self.ended: RunRecord | None = None
        self.due = monotonic()
        self.reason = ""
        self._scope = anyio.CancelScope()
        self._calls = asyncio.Queue[tuple[Call, asyncio.Future[dict[str, Any]]]]()
        self._setting = setting
        self._stack = AsyncExitStack()
        self._place: Checkout | None = None
        self._unsaved = False
        self._plugins: Plugins | None = None
        self.runner: SteppedRunner | None = None
        self.store: Store | None = None
        self._told = (entry.iterations, entry.cost)  # by workers before; nothing is added until the run is open
        self._opened = False
        self._shown = ""

    @property
    def takes_slot(self) -> bool:
        """True until the run has ended, unless it waits."""
        return not self.waiting and self.ended is None

    async def live(self) -> None:
        """Make the calls in one task from the first to the last: that is where the runner's own tasks belong."""
        answer: asyncio.Future[dict[str, Any]] | None = None
        with self._scope:
            try:
                while not self.over:
                    call, answer = await self._calls.get()
                    try:
                        answer.set_result(await call())
                    except Exception as error:  # noqa: BLE001 - it is the caller's
                        answer.set_exception(error)
            finally:
                self.over = True
                if answer is not None and not answer.done():
                    answer.cancel()
                await self.close()

    async def make(self, call: Call) -> dict[str, Any]:
        """Make a call in the task of `live`; raise `asyncio.CancelledError` if that has ended."""
        if self.over or self.lost:
            raise asyncio.CancelledError
        answer = asyncio.get_running_loop().create_future()
        self._calls.put_nowait((call, answer))
        return await answer

    async def open(self, store: Store) -> RunRecord | None:
        """Prepare the place, and begin or take up the run; return its record if it has ended already.

        Raises:
            RalphError: the run cannot begin; `StoreError` and `WorkspaceBusyError` may pass.
        """
        entry, setting, self.store = self.entry, self._setting, store
        task = entry.task
        if entry.dangling:  # its worker has lost it, so that what it still has of the run is refused from now on
            await store.release(entry.run_id, await store.holder(entry.run_id) or "none")
        attempt = entry.turn + entry.kills
        self._place = await self._stack.enter_async_context(checkout(task, attempt, setting.state, run=entry.run_id))
        folder = self._place.path
        source = Source(f"task {entry.id}", _settings(task, setting.fleet.url))
        found = read_settings(folder, more=[source], trust=setting.trust)
        plugins = self._plugins = setting.plugins or load_plugins(found, folder, trust=setting.trust)
        await confinement_for(found.settings, folder).require()
        arguments: dict[str, Any] = {
            **runner_arguments(found.settings, workspace=folder, plugins=plugins),
            "store": store,
        }
        self.runner = await self._stack.enter_async_context(SteppedRunner(**arguments))
        self.runner.keep = self._keep
        ended = await self.runner.open(task.task, entry.run_id)
        number, cost = self.runner.progress
        self._told = (min(number, entry.iterations) if ended else number, min(entry.cost, cost))
        self._opened = True
        if self._place.lacks and not number and ended is None:
            self.runner.note(f"The agent works without {self._place.lacks}.")
        await self._require_files(number)
        return ended

    async def _require_files(self, number: int) -> None:
        """Raise `WorkspaceError` if the place lacks the files of the run's last iteration."""
        if self._place is None or self.entry.task.repository is None or not number:
            return
        kept, tip = await self._setting.fleet.do(Tables.kept, self.entry.run_id)
        if kept < number or not await self._place.has(tip):
            raise WorkspaceError(
                f"The files of iteration {number} were lost with the worker that had them.",
                f"`ralph fleet retry {self.entry.name or self.entry.id}` begins anew.",
            )

    async def _keep(self, record: IterationRecord) -> None:
        """Save an iteration's files before it counts as finished; `step` reports files that cannot be saved."""
        if self.lost:
            raise OwnershipLostError(self.entry.run_id)
        if self._place is None or self.entry.task.repository is None:
            return
        note = f"Iteration {record.number}"
        decision = record.decision
        if isinstance(decision, Complete | Halt):
            reason = decision.stop_reason if isinstance(decision, Halt) else outcome_of(decision, "completed")
            note = subject(self.entry.task.task, self.entry.run_id, reason)
        try:
            tip, self._unsaved = await self._place.save(note), False
        except WorkspaceError:
            self._unsaved = True
            return
        if not await self._setting.fleet.do(Tables.keep, self.entry, record.number, tip):
            raise OwnershipLostError(self.entry.run_id)

    async def step(self) -> Step:
        """Run one step of the run."""
        assert self.runner is not None
        step = await self.runner.step()
        if self._unsaved and step.ended is None and self._place is not None:
            await self._place.save(f"Iteration {self.runner.progress[0]}")
            self._unsaved = False
        return step

    async def deliver(self, record: RunRecord) -> str:
        """Publish the result of a run that has ended, and tell the plug-ins; return where it is, in words."""
        if self._place is None:
            return ""
        made = await self._place.deliver(record)
        problems = [made.problem] if made.problem else []
        if self._plugins:
            offers = self._plugins.offers("ralph_deliveries")
            problems += await anyio.to_thread.run_sync(announce, offers, made, record)
        place = {"pushed": f"pushed to {made.branch}", "bundle": f"kept in the bundle {made.where}"}.get(made.kind, "")
        return "; ".join(filter(None, (place, *problems)))

    async def close(self) -> None:
        """Leave the run and the place as they are; also while it is cancelled."""
        await self._stack.aclose()

    def progress(self) -> dict[str, Any]:
        """Return what has changed since `was_told`, as the fleet's tables take it."""
        done, spent = self._told
        number, cost = self.runner.progress if self._opened and self.runner else self._told
        return {
            "task_id": self.entry.id,
            "in_turn": self.entry.turn,
            "done": number or self.entry.iterations,
            "more": max(0.0, cost - spent),
            "finished": max(0, number - done),
            "now_is": "waiting" if self.waiting else "running",
            "run": self.entry.run_id,
            "why": self.reason if self.waiting else "",
        }

    def was_told(self, progress: dict[str, Any]) -> None:
        """Remember that a progress is stored."""
        done, spent = self._told
        self._told = (done + progress["finished"], spent + progress["more"])
        self._shown = progress["now_is"] + progress["why"]

    def has_news(self) -> bool:
        """Return whether `progress` has anything that is not stored."""
        said = self.progress()
        return bool(said["finished"] or said["more"] or said["now_is"] + said["why"] != (self._shown or "running"))

    def ask(self, what: Literal["pause", "stop"]) -> None:
        """Let the user's wish take effect: a pause after the iteration, a stop at once."""
        self.wanted = what
        if what == "stop" and self.runner is not None:
            self.spoiled = True  # its store waits only briefly from now on
            self.runner.cancel("`ralph fleet stop`")

    def lose(self) -> None:
        """End what runs, and store nothing more."""
        self.lost = self.spoiled = True
        if self.runner is not None:
            self.runner.disown()
        self._scope.cancel()


def _settings(task: Task, url: str) -> dict[str, Any]:
    """Return a task's settings as a source of settings has them."""
    values = dict(task.settings)
    if limits := task.limits.model_dump(exclude_unset=True, exclude_none=True):
        values["limits"] = {**values.get("limits", {}), **limits}
    if task.verify:
        values["verify"] = list(task.verify)
    return {**values, "store": url}


def seconds_until(moment: datetime | None) -> float:
    """Return the seconds until a moment, or a day where no moment is given."""
    return 86_400.0 if moment is None else max(0.05, (moment - datetime.now(UTC)).total_seconds())


class Rate:
    """Counts what happened within the last minute."""

    def __init__(self) -> None:
        self._seen: list[tuple[float, int]] = []
        self.total = 0

    def add(self, number: int) -> None:
        """Count so many more."""
        self.total += number
        if number:
            self._seen.append((monotonic(), number))

    @property
    def of_minute(self) -> int:
        """The count of the last minute."""
        since = monotonic() - 60
        self._seen = [each for each in self._seen if each[0] > since]
        return sum(number for _, number in self._seen)
