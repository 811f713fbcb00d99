"""A runner that an engine drives: one call for each iteration, and none that waits."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from types import TracebackType
from typing import NamedTuple

import anyio

from ralph.decision.outcomes import Complete, Halt
from ralph.errors import ExecutorUnavailableError, OwnershipLostError, StoreError, UsageError
from ralph.loop.iteration import ActiveRun
from ralph.loop.lease import Stop
from ralph.loop.lifecycle import Finish, Iterate, Wait, action_of, begin, extended_meanwhile, pause
from ralph.loop.recovery import take_up
from ralph.loop.runner import Runner
from ralph.records.record import IterationRecord, RunRecord, RunState
from ralph.types import evolve


class Step(NamedTuple):
    """The state of a run after a step.

    Attributes:
        ended: the run's record if it has ended.
        until: the moment until which it waits; None if it does not, or if only the user ends the pause.
        waits: the run waits.
        reason: why it waits.
    """

    ended: RunRecord | None = None
    until: datetime | None = None
    waits: bool = False
    reason: str = ""


class SteppedRunner(Runner):
    """A `Runner` for one run, which `step` drives; what it raises, and what is stored, is as in `Runner.run`."""

    _active_run: ActiveRun | None = None
    _pausing: asyncio.Task[None] | None = None
    """The pause of the run, which also sees what the user asks meanwhile."""

    _ended_state: RunState | None = None
    keep: Callable[[IterationRecord], Awaitable[None]] | None = None
    """Called with an iteration's record before that is stored."""

    async def open(self, task: str, run_id: str) -> RunRecord | None:
        """Begin a run, or take it up if it exists; return its record if it has ended already."""
        record = await self._store.run(run_id)
        if record is not None and record.state == "finished" and not _may_continue(record):
            self._ended_state = await self._store.state(record)
            return record
        stop = Stop()
        if record is None:
            self._active_run = await begin(self._starting(stop), task, run_id)
        else:
            self._active_run = await take_up(self._starting(stop), record)
        self._active_run.keep = self.keep
        return None

    async def step(self) -> Step:
        """Do what comes next: an iteration, the beginning or the end of a pause, or the end of the run."""
        run = self._run
        try:
            return await self._stepped(run)
        except anyio.get_cancelled_exc_class():
            run.log.hurry()
            raise
        except StoreError:
            raise
        except (ExecutorUnavailableError, UsageError) as error:
            end = Halt(stop_reason="executor_unavailable", reason=str(error))
        except Exception as error:  # noqa: BLE001 - the run's end names it
            reason = self._parts.redactor(f"{type(error).__name__}: {error}")[:500]
            end = Halt(stop_reason="error", reason=reason)
        return await self._end_of(run, end)

    async def _stepped(self, run: ActiveRun) -> Step:
        if self._pausing is not None:
            await self._pausing
            self._pausing = None
        if run.stop.reason:
            return await self._end_of(run, Halt(stop_reason="cancelled", reason=run.stop.reason))
        if (ended := run.state.ended) is not None and not await extended_meanwhile(self._parts, run):
            return await self._end_of(run, ended)
        match await action_of(self._parts, run):
            case Finish(end=end):
                run.state = evolve(run.state, decision=end)
                return await self._end_of(run, end)
            case Wait() as wait:
                ends = run.limits.ends(run.state.spent, self._parts.clock.now())
                self._pausing = asyncio.create_task(pause(self._parts, run, wait))
                until = min(filter(None, (wait.until, ends)), default=None)
                return Step(until=until, waits=True, reason=wait.reason)
            case Iterate():
                await self._next_iteration(run)
        if run.stop.reason:
            return await self._end_of(run, Halt(stop_reason="cancelled", reason=run.stop.reason))
        if run.state.ended is not None and not await extended_meanwhile(self._parts, run):
            return await self._end_of(run, run.state.ended)  # an end is part of the iteration that decides it
        return Step()

    async def _end_of(self, run: ActiveRun, end: Complete | Halt) -> Step:
        return Step(ended=await self._finish(run, end))

    @property
    def _run(self) -> ActiveRun:
        if self._active_run is None:
            raise RuntimeError("Call `open` first.")
        return self._active_run

    @property
    def progress(self) -> tuple[int, float]:
        """The finished iterations of the run, and its cost in US dollars."""
        state = self._active_run.state if self._active_run else self._ended_state
        return (state.number, state.spent.usage.cost or 0.0) if state else (0, 0.0)

    def note(self, text: str) -> None:
        """Note a notice for the user with the next iteration."""
        self._run.log.diagnose(text, self._run.next_number)

    def disown(self) -> None:
        """Store nothing of the run any more: another worker may have it."""
        if (run := self._active_run) is not None:
            run.log.fail(OwnershipLostError(run.id))

    @property
    def is_asked(self) -> bool:
        """True if a run waits no more, as the user asked it to continue or to stop."""
        return self._pausing is not None and self._pausing.done()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pausing, self._pausing = self._pausing, None
        if pausing is not None:
            pausing.cancel()
            await asyncio.wait([pausing])
        await super().__aexit__(kind, error, trace)


def _may_continue(record: RunRecord) -> bool:
    """Return whether a run that has ended may be continued: it was stopped, or lost its agent."""
    return record.stop_reason in {"cancelled", "error", "executor_unavailable"}
