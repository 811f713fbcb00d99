"""The loop: one iteration after another, until a decision ends the run.

```python
async with Runner(executor=CopilotSDKExecutor(), workspace=open_workspace(Path("."))) as runner:
    record = await runner.run("Make the tests pass.")
```

`iterate` is one iteration, public and resumable: whoever has the store and a run's id can do the next one.
"""

import os
import secrets
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

import anyio
import anyio.abc

from ralph.analysis import Keyword, ResponseAnalyzer
from ralph.analysis.result import Analyzer
from ralph.breaker import CircuitBreaker
from ralph.clock import Clock
from ralph.conclusion import Rules
from ralph.decision import Complete, DecisionSettings, Halt, Pause, held_by
from ralph.errors import ExecutorUnavailableError, RecordError, StoreError, UsageError
from ralph.events import Event, Paused, Resumed, RunFinished, RunStarted, VerificationFinished
from ralph.executors.base import Executor, Timeouts
from ralph.hooks import Hooks
from ralph.iteration import ActiveRun, Parts, Stop, iterate, verified
from ralph.journal import Journal
from ralph.limits import Limits, Price
from ralph.record import IterationRecord, RunRecord, RunState
from ralph.redact import Redactor, secret_values
from ralph.status import StatusField
from ralph.store.base import Store
from ralph.store.memory import MemoryStore
from ralph.strategies import Strategy, strategy_named
from ralph.verification import Verification
from ralph.verifiers.base import Verifier
from ralph.verifiers.checks import preflight
from ralph.workspace.base import NoWorkspace, Workspace

__all__ = ["Runner"]


class Runner:
    """Runs an executor in a loop. Used in `async with`; it then owns executor, store and workspace.

    Args:
        executor: who does the work; started when the first iteration needs it.
        analyzer: what reads the replies; the built-in `ResponseAnalyzer` with `keywords` by default.
        store: where runs are kept; in memory by default, so that nothing outlives the process.
        workspace: the folder that is worked in; without one the agent works in the current folder, and nothing is
            known of what it changes.
        verifiers: what a claim of completion must pass; each is run once before the first iteration.
        status_fields: further fields that the agent is asked for, parsed into `StatusReport.fields`.
        strategy: an exit strategy, or the name of a built-in one.
        context: a fresh session of the agent an iteration, or one that goes on.
        prices: by model, so that tokens give a cost.
        model: whose price counts where the executor does not say which model answered.
        plan: the plan file's path within the workspace; None looks for @fix_plan.md and its like.
        settings: kept in the run's record, for people; secrets are masked.
        redactor: what masks secrets; by default the values of environment variables with secret names are masked.

    Raises:
        UsageError: for a limit that cannot be measured or an unknown strategy.
    """

    def __init__(
        self,
        *,
        executor: Executor,
        analyzer: Analyzer | None = None,
        breaker: CircuitBreaker | None = None,
        store: Store | None = None,
        workspace: Workspace | None = None,
        verifiers: Sequence[Verifier] = (),
        hooks: Sequence[Hooks] = (),
        keywords: Sequence[Keyword] = (),
        status_fields: Sequence[StatusField] = (),
        limits: Limits | None = None,
        strategy: Strategy | str = "auto",
        timeouts: Timeouts | None = None,
        context: Literal["fresh", "continue"] = "fresh",
        decision: DecisionSettings | None = None,
        prices: Mapping[str, Price] | None = None,
        model: str | None = None,
        plan: str | None = None,
        promise: str | None = None,
        settings: Mapping[str, Any] | None = None,
        redactor: Redactor | None = None,
        clock: Clock | None = None,
    ) -> None:
        rules = Rules(breaker or CircuitBreaker(), limits or Limits(), decision or DecisionSettings())
        rules.limits.require_measured(executor.measures, priced=model in (prices or {}))
        self._parts = Parts(
            executor=executor,
            analyzer=analyzer or ResponseAnalyzer(keywords, no_progress=rules.breaker.settings.no_progress),
            workspace=workspace or NoWorkspace(Path.cwd()),
            verifiers=tuple(verifiers),
            strategy=strategy_named(strategy) if isinstance(strategy, str) else strategy,
            rules=rules,
            status_fields=tuple(status_fields),
            timeouts=timeouts or Timeouts(),
            context=context,
            prices=dict(prices or {}),
            model=model,
            plan=plan,
            promise=promise,
            redactor=redactor or Redactor(secret_values(os.environ)),
            clock=clock or Clock(),
        )
        self._store = store or MemoryStore()
        self._hooks = tuple(hooks)
        self._settings: dict[str, Any] = self._parts.redactor.within(dict(settings or {}))
        self._stop = Stop()
        self._runs: dict[str, ActiveRun] = {}
        self._stack = AsyncExitStack()
        self._tasks: anyio.abc.TaskGroup
        self._executor_started = False

    async def __aenter__(self) -> Self:
        await self._stack.enter_async_context(self._store)
        await self._stack.enter_async_context(self._parts.workspace)
        self._tasks = await anyio.create_task_group().__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # The group is left as if nothing had been raised: an error must reach the caller as it is, not in a group.
        self._tasks.cancel_scope.cancel()
        await self._tasks.__aexit__(None, None, None)
        with anyio.CancelScope(shield=True):
            await self._stack.aclose()

    def run_sync(self, task: str) -> RunRecord:
        """`run`, for code that is not async."""

        async def whole() -> RunRecord:
            async with self:
                return await self.run(task)

        return anyio.run(whole)

    async def run(self, task: str) -> RunRecord:
        """Works on a task until a decision ends the run, and returns its record.

        Raises:
            UsageError: the task is empty, the workspace is in use, a verifier cannot start.
            StoreError: the store cannot keep the run.
        """
        return await self._loop(await self._begin(task))

    async def resume(self, run_id: str) -> RunRecord:
        """Goes on with a run that was stopped, crashed or paused."""
        run = await self._load(run_id)
        going = {"state": "running", "stop_reason": None, "finished_at": None, "pid": os.getpid()}
        run.record = run.record.model_copy(update=going)
        if run.state.ended is not None:
            run.state = run.state.model_copy(update={"decision": None})
        await run.journal.commit(self._started(run, resumed=True), run=run.record)
        return await self._loop(run)

    async def iterate(self, run_id: str) -> IterationRecord:
        """Does one iteration of a run and returns its record, which is durable then.

        Cancelled from outside, it ends the agent's turn and stores what there was before the cancellation goes on.
        """
        run = self._runs.get(run_id) or await self._load(run_id)
        await self._start_executor()
        return await iterate(self._parts, run, self._stop)

    def cancel(self, reason: str) -> None:
        """Ends the run soon: the agent's turn is ended, and what there was is stored. Safe to call from a callback."""
        self._stop.ask(reason)

    async def _start_executor(self) -> None:
        if not self._executor_started:
            await self._stack.enter_async_context(self._parts.executor)
            self._executor_started = True

    async def _begin(self, task: str) -> ActiveRun:
        if not task.strip():
            raise UsageError("The task is empty.", "Say what is to be done.")
        parts, now = self._parts, self._parts.clock.now()
        run_id = f"{now:%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"
        parts.workspace.hold(run_id)
        verification = await verified(parts, self._stop, preflight)
        before = await parts.workspace.snapshot()
        record = RunRecord(
            id=run_id,
            task=parts.redactor(task),
            workspace=str(parts.workspace.path),
            settings=self._settings,
            started_at=now,
            pid=os.getpid(),
            fingerprint=before.fingerprint,
            plan=parts.read_plan(),
        )
        await self._store.create(record)
        run = self._active(record, RunState.of(record), seq=0)
        run.before = before
        told: list[Event] = [self._started(run, already_green=verification is not None and verification.passed)]
        if verification is not None:
            told.append(_verified(run, verification, at=parts.clock.now()))
        await run.journal.commit(*told)
        return run

    async def _load(self, run_id: str) -> ActiveRun:
        record = await self._store.run(run_id)
        if record is None:
            raise RecordError(f"There is no run {run_id!r} in the store.", "`ralph runs` lists them.")
        self._parts.workspace.hold(record.id)
        records = [iteration async for iteration in self._store.iterations(record.id)]
        return self._active(record, RunState.of(record, records), seq=await self._store.last_seq(record.id))

    def _active(self, record: RunRecord, state: RunState, *, seq: int) -> ActiveRun:
        journal = Journal(self._store, record.id, seq, self._hooks)
        self._tasks.start_soon(journal.flush_groups)
        self._runs[record.id] = run = ActiveRun(record, state, journal)
        return run

    async def _loop(self, run: ActiveRun) -> RunRecord:
        try:
            while run.state.ended is None and not self._stop.reason:
                if run.state.paused is not None:
                    await self._pause(run, run.state.paused)
                elif (held := self._held(run)) is not None:
                    run.state = run.state.model_copy(update={"decision": held})
                else:
                    with self._stop.watched():
                        await self._start_executor()  # which may fetch a program, for minutes
                    if not self._stop.reason:
                        await self.iterate(run.id)
            end = run.state.ended or Halt(stop_reason="cancelled", reason=self._stop.reason)
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                await self._finish(run, Halt(stop_reason="cancelled", reason=self._stop.reason or "cancelled"))
            raise
        except (ExecutorUnavailableError, UsageError) as error:  # a program that is named wrongly is the latter
            end = Halt(stop_reason="executor_unavailable", reason=str(error))
        except Exception as error:
            reason = self._parts.redactor(f"{type(error).__name__}: {error}")[:500]
            await self._finish(run, Halt(stop_reason="error", reason=reason))
            raise
        return await self._finish(run, end)

    def _held(self, run: ActiveRun) -> Halt | Pause | None:
        """What to do instead of an iteration that must not begin: a resumed run may come here with a limit reached or
        an open breaker, and one that has waited for a rate limit with a limit reached.
        """
        breaker, now = self._parts.rules.breaker, self._parts.clock.now()
        if (limit := self._parts.rules.limits.reached(run.state.spent, now)) is not None:
            return held_by(limit)
        state = breaker.cooled(run.state.breaker, now)
        until = breaker.open_until(state)
        if until is None:
            return None
        if breaker.exhausted(state):
            reason = f"{state.reason}; it closes again at the earliest at {until:%H:%M:%S} UTC"
            return Halt(stop_reason="circuit_open", reason=reason)
        return Pause(until=until, reason=f"circuit open: {state.reason}")

    async def _pause(self, run: ActiveRun, pause: Pause) -> None:
        """Waits, at the longest until the run's time is over: a limit on its duration is one of wall time."""
        clock, began = self._parts.clock, self._parts.clock.now()
        until = min(pause.until, self._parts.rules.limits.ends(run.state.spent, began) or pause.until)
        stamp = run.stamp(began, iteration=run.state.number)
        run.record = run.record.model_copy(update={"state": "paused"})
        await run.journal.commit(Paused(**stamp, until=until, reason=pause.reason), run=run.record)
        with self._stop.watched():
            await clock.wait_until(until)
        ended = clock.now()
        run.record = run.record.model_copy(update={"state": "running"})
        spent = run.state.spent.waited((ended - began).total_seconds())
        run.state = run.state.model_copy(update={"decision": None, "spent": spent})
        if not self._stop.reason:
            await run.journal.commit(Resumed(**run.stamp(ended, iteration=run.state.number)), run=run.record)

    async def _finish(self, run: ActiveRun, end: Complete | Halt) -> RunRecord:
        completed = end if isinstance(end, Complete) else None
        facts: dict[str, Any] = {
            "stop_reason": "completed" if completed else end.stop_reason if isinstance(end, Halt) else "error",
            "verified": completed is not None and completed.verified,
            "detail": end.reason,
            "still_open": completed.still_open if completed else (),
            "iterations": run.state.number,
            "executors": dict(run.state.executors),
            "usage": run.state.spent.usage,
            "duration": run.state.spent.duration,
        }
        now = self._parts.clock.now()
        run.record = run.record.model_copy(update={**facts, "state": "finished", "finished_at": now})
        stamp = run.stamp(now, iteration=run.state.number)
        try:
            await run.journal.commit(RunFinished(**stamp, **facts), run=run.record)
        except StoreError as error:
            lost: dict[str, Any] = {
                "stop_reason": "error",
                "verified": False,
                "detail": self._parts.redactor(str(error)),
            }
            await run.journal.publish_unkept(RunFinished(**stamp, **{**facts, **lost}))
            raise
        finally:
            run.journal.close()
            self._runs.pop(run.id, None)
            self._parts.workspace.release()
        return run.record

    def _started(self, run: ActiveRun, *, resumed: bool = False, already_green: bool = False) -> RunStarted:
        parts = self._parts
        return RunStarted(
            **run.stamp(parts.clock.now(), iteration=run.state.number),
            task=run.record.task,
            workspace=run.record.workspace,
            executor=parts.executor.name,
            strategy=parts.strategy.name,
            verifiers=tuple(verifier.name for verifier in parts.verifiers),
            already_green=already_green,
            max_iterations=parts.rules.limits.max_iterations,
            resumed=resumed,
        )


def _verified(run: ActiveRun, verification: Verification, *, at: datetime) -> VerificationFinished:
    return VerificationFinished(
        **run.stamp(at, iteration=0), passed=verification.passed, verdicts=verification.verdicts
    )
