"""The loop: one iteration after another, until a decision ends the run.

```python
async with Runner(executor=CopilotSDKExecutor(), workspace=open_workspace(Path("."))) as runner:
    record = await runner.run("Make the tests pass.")
```

`iterate` is one iteration, public and resumable: whoever has the store and a run's id can do the next one.
"""

import os
import secrets
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import datetime
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Any, Literal, Self

import anyio
import anyio.abc

from ralph.analysis import Keyword
from ralph.analysis.result import Analyzer
from ralph.decision.breaker import CircuitBreaker
from ralph.decision.claims import Strategy
from ralph.decision.limits import Limits, Price
from ralph.decision.outcomes import Complete, DecisionSettings, Halt
from ralph.errors import ExecutorUnavailableError, RecordError, UsageError
from ralph.executors.base import Executor, Timeouts
from ralph.hooks import Hooks, IterationDue
from ralph.loop.checkpointing import Upkeep
from ralph.loop.dispatch import Objection
from ralph.loop.event_log import Journal
from ralph.loop.iteration import ActiveRun, Parts, iterate, looked, preflight
from ralph.loop.lease import Stop, Tenure
from ralph.loop.lifecycle import Wait, finish, held, pause, prolonged, started
from ralph.loop.ownership import this_process
from ralph.loop.recovery import checkpoint_before, left_at_work, taken_over
from ralph.pipeline.evaluate import Rules
from ralph.plugins import Plugins
from ralph.records.events import Diagnosed, Event, OrphansEnded, VerificationFinished
from ralph.records.record import IterationRecord, Owner, RunRecord, RunState
from ralph.status import StatusField
from ralph.store.base import Store
from ralph.store.memory import MemoryStore
from ralph.system.clock import Clock
from ralph.system.redact import Redactor, secret_values
from ralph.system.text import storable
from ralph.types import evolve
from ralph.types.changes import Checkpoint
from ralph.types.verification import Verification
from ralph.verifiers.base import Verifier
from ralph.workspace.base import NoWorkspace, Snapshot, Workspace

__all__ = ["Runner", "new_run_id"]

_PROBLEMS = 20
"""Of plug-ins and observers, that are kept with a run."""


class Runner:
    """Runs an executor in a loop. Used in `async with`; it then owns executor, store and workspace.

    Args:
        executor: who does the work; started when the first iteration needs it.
        analyzer: what reads the replies; the built-in `ResponseAnalyzer` by default, with `keywords` and with what
            plug-ins add to it. Another one knows neither.
        analyzers: the names of plug-ins' analyzers that are asked beside the built-in one.
        store: where runs are kept; in memory by default, so that nothing outlives the process.
        workspace: the folder that is worked in; without one the agent works in the current folder, and nothing is
            known of what it changes.
        verifiers: what a claim of completion must pass; those that cost nothing are also asked before the first
            iteration.
        status_fields: further fields that the agent is asked for, parsed into `StatusReport.fields`.
        strategy: an exit strategy, or the name of a built-in one.
        context: a fresh session of the agent an iteration, or one that goes on.
        prices: by model, so that tokens give a cost.
        model: whose price counts where the executor does not say which model answered.
        plugins: modules and objects that are plug-ins (`ralph.plugins`), or `Plugins` that are loaded already.
        commit: when what the run has changed is committed to the branch that is checked out: never, after each
            iteration, or when it is completed.
        plan: the plan file's path within the workspace; None looks for @fix_plan.md and its like.
        choose: who chooses the next item of the plan: the agent, or Ralph.
        settings: kept in the run's record, for people; secrets are masked.
        redactor: what masks secrets; by default the values of environment variables with secret names are masked.

    Raises:
        UsageError: for a limit that cannot be measured or an unknown strategy.
        PluginConflictError: two plug-ins bring something of one name.
    """

    def __init__(
        self,
        *,
        executor: Executor,
        analyzer: Analyzer | None = None,
        analyzers: Sequence[str] = (),
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
        choose: Literal["agent", "ralph"] = "agent",
        promise: str | None = None,
        commit: Literal["none", "iteration", "completion"] = "none",
        settings: Mapping[str, Any] | None = None,
        plugins: Plugins | Sequence[object] = (),
        redactor: Redactor | None = None,
        clock: Clock | None = None,
    ) -> None:
        plugged = plugins if isinstance(plugins, Plugins) else Plugins.of(plugins)
        plugged.require_sound()
        breaker = breaker or CircuitBreaker()
        rules = Rules(
            breaker,
            limits or Limits(),
            decision or DecisionSettings(),
            plugged.strategy(strategy) if isinstance(strategy, str) else strategy,
            plugged.analyzer_with(
                keywords,
                first=analyzer,
                further=analyzers,
                no_progress=breaker.settings.no_progress,
            ),
            plugged.fields_with(status_fields),
            promise,
            dict(prices or {}),
            model,
        )
        rules.limits.require_measured(executor.measures, priced=model in rules.prices)
        self._parts = Parts(
            executor=executor,
            workspace=workspace or NoWorkspace(Path.cwd()),
            verifiers=tuple(verifiers),
            rules=rules,
            timeouts=timeouts or Timeouts(),
            context=context,
            plan=plan,
            choose=choose,
            commit=commit,
            prompt_parts=tuple(plugged.named("ralph_prompt_parts").values()),
            redactor=redactor or Redactor(secret_values(os.environ)),
            clock=clock or Clock(),
        )
        self._store = store or MemoryStore()
        self._hooks = (*hooks, *plugged.observers)
        self._plugged = plugged
        self._told: set[str] = set()
        self._settings: dict[str, Any] = self._parts.redactor.within(dict(settings or {}))
        self._cancelled = ""
        self._stops: list[Stop] = []
        self._runs: dict[str, ActiveRun] = {}
        self._stack = AsyncExitStack()
        self._tasks: anyio.abc.TaskGroup | None = None
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
        tasks, self._tasks = self._entered, None
        tasks.cancel_scope.cancel()
        await tasks.__aexit__(None, None, None)
        with anyio.CancelScope(shield=True):
            for run in self._runs.values():
                await run.tenure.end()
            await self._stack.aclose()

    def run_sync(self, task: str) -> RunRecord:
        """`run`, for code that is not async."""

        async def whole() -> RunRecord:
            async with self:
                return await self.run(task)

        return anyio.run(whole)

    async def run(self, task: str, *, run_id: str | None = None) -> RunRecord:
        """Works on a task until a decision ends the run, and returns its record.

        Args:
            run_id: the run's id, where it is already known; see `new_run_id`.

        Raises:
            UsageError: the task is empty, the workspace is in use, a verifier cannot start.
            StoreError: the store cannot keep the run.
        """
        return await self._loop(await self._begin(task, run_id))

    async def resume(self, run_id: str, *, anew: Collection[str] = (), from_checkpoint: bool = False) -> RunRecord:
        """Goes on with a run that was stopped, crashed or paused. One that is completed is returned as it is.

        Args:
            anew: the names of those of this runner's limits that are meant as they are: what the run was allowed
                beside them so far is in them already.
            from_checkpoint: the workspace is first taken back to how it was before the iteration that was cut off.

        Raises:
            RecordError: there is no such run.
            UsageError: the workspace is in use, or what the dead process left behind cannot be ended.
            RunOwnedError: another process is at work on the run.
        """
        record = await self._found(run_id)
        if record.stop_reason == "completed":
            return record
        return await self._loop(await self._take_up(record, anew, from_checkpoint=from_checkpoint))

    async def iterate(self, run_id: str) -> IterationRecord:
        """Does one iteration of a run and returns its record, which is durable then.

        Cancelled from outside, it ends the agent's turn and stores what there was before the cancellation goes on.
        """
        run = self._runs.get(run_id) or await self._take_up(await self._found(run_id))
        await self._start_executor()
        await looked(self._parts, run)
        return await iterate(self._parts, run, run.stop)

    def cancel(self, reason: str) -> None:
        """Ends the run soon: the agent's turn is ended, and what there was is stored. Safe to call from a callback."""
        self._cancelled = self._cancelled or reason
        for stop in self._stops:
            stop.ask(reason)
        for run in self._runs.values():
            run.journal.hurry()

    @property
    def _entered(self) -> anyio.abc.TaskGroup:
        if self._tasks is None:
            raise RuntimeError("A Runner is used in `async with`, or by `run_sync`.")
        return self._tasks

    async def _start_executor(self) -> None:
        if not self._executor_started:
            await self._stack.enter_async_context(self._parts.executor)
            self._executor_started = True

    async def _begin(self, task: str, run_id: str | None) -> ActiveRun:
        if not task.strip():
            raise UsageError("The task is empty.", "Say what the agent should do.")
        parts, stop, now, owner = self._parts, self._new_stop(), self._parts.clock.now(), this_process()
        run_id = run_id or new_run_id(now)
        parts.workspace.hold(run_id)
        orphans = await left_at_work(self._store, str(parts.workspace.path))
        began = monotonic()
        verification = await preflight(parts, parts.redactor(task), stop)
        verified_for = monotonic() - began
        before, checkpoint = Snapshot(problem="The run was ended before it was looked at."), Checkpoint()
        with stop.watched(), parts.workspace.announced():
            before = await parts.workspace.snapshot()
            checkpoint = await parts.workspace.checkpoint(run_id, 0, "after", seen=before)
        record = RunRecord(
            id=run_id,
            task=parts.redactor(task),
            workspace=str(parts.workspace.path),
            origin=str(parts.workspace.origin) if parts.workspace.origin else None,
            onto=parts.workspace.onto,
            settings=self._settings,
            started_at=now,
            pid=owner.pid,
            owner=owner,
            apart=_apart(parts.workspace),
            fingerprint=before.fingerprint,
            checkpoint=checkpoint.commit,
            plan=parts.read_plan(),
        )
        await self._store.create(record, owner=owner.token)
        run = self._active(record, RunState.of(record), owner, stop, seq=0)
        run.before = before
        green = verification is not None and verification.passed and len(verification.verdicts) == len(parts.verifiers)
        told: list[Event] = [started(parts, run, already_green=green), *_ended(run, orphans, parts.clock.now())]
        if verification is not None:
            run.state = evolve(run.state, spent=run.state.spent.waited(verified_for))
            told.append(_verified(run, verification, at=parts.clock.now()))
        await run.journal.commit(*told)
        return run

    async def _found(self, run_id: str) -> RunRecord:
        _ = self._entered
        record = await self._store.run(run_id)
        if record is None:
            raise RecordError(f"There is no run {run_id!r} in the store.", "`ralph runs` lists them.")
        return record

    async def _take_up(
        self, record: RunRecord, anew: Collection[str] = (), *, from_checkpoint: bool = False
    ) -> ActiveRun:
        """Makes the run this process's own and finds out where it is, by a fold over its records."""
        parts, owner = self._parts, this_process()
        parts.workspace.hold(record.id)
        found = await taken_over(self._store, record, owner, settings=self._settings, anew=anew)
        record = evolve(found.record, apart=_apart(parts.workspace, found.record.apart))
        run = self._active(record, found.state.as_of(parts.clock.now()), owner, self._new_stop(), seq=found.seq)
        run.tenure.recall(found.requests)
        told: list[Event] = [started(parts, run, resumed=True), *_ended(run, found.orphans, parts.clock.now())]
        await run.upkeep.mend(run.state.number, until=found.alive_until)
        if from_checkpoint:
            told.append(await self._restore(run))
        await run.journal.commit(*told, run=run.record)
        return run

    async def _restore(self, run: ActiveRun) -> Event:
        """Takes the files back to before the iteration that was cut off; the state that they are in is held first."""
        number = run.next_number
        if run.record.interrupted != number:
            raise UsageError(f"No iteration of run {run.id} was cut off.", "Resume it without --from-checkpoint.")
        commit = await checkpoint_before(self._store, run.id, number)
        if commit is None:
            raise UsageError(
                f"Run {run.id} has no checkpoint from before iteration {number}.",
                "Resume it without --from-checkpoint.",
            )
        restored = await self._parts.workspace.restore(commit, force=True)
        run.record = evolve(run.record, interrupted=0)
        run.state = evolve(run.state, cut_short="")
        text = f"The files are as they were before iteration {number} ({commit[:12]})."
        if restored.saved is not None:
            text += f" `ralph rollback {run.id} --to {restored.saved[:12]}` brings back what it had left."
        return Diagnosed(**run.stamp(self._parts.clock.now(), iteration=0), text=text)

    def _active(self, record: RunRecord, state: RunState, owner: Owner, stop: Stop, *, seq: int) -> ActiveRun:
        parts = self._parts
        journal = Journal(self._store, record.id, seq, self._hooks, owner=owner.token)
        tenure = Tenure(
            self._store, owner, record, journal=journal, stop=stop, limits=parts.rules.limits, clock=parts.clock
        )
        upkeep = Upkeep(
            parts.workspace, journal, record.id, commit=parts.commit, redactor=parts.redactor, clock=parts.clock
        )
        self._entered.start_soon(journal.flush_groups)
        self._entered.start_soon(tenure.attend)
        self._runs[record.id] = run = ActiveRun(record, state, journal, tenure, stop, upkeep)
        return run

    def _new_stop(self) -> Stop:
        """One for each run, for another terminal may ask one to stop; a cancellation is of all."""
        self._stops.append(Stop(self._cancelled))
        return self._stops[-1]

    async def _loop(self, run: ActiveRun) -> RunRecord:
        try:
            await self._tell_problems(run)
            while not run.stop.reason and (run.state.ended is None or await prolonged(self._parts, run)):
                match held(self._parts, run):
                    case Halt() as end:
                        run.state = evolve(run.state, decision=end)
                    case Wait() as wait:
                        await pause(self._parts, run, wait)
                    case None:
                        with run.stop.watched():
                            await self._start_executor()  # which may fetch a program, for minutes
                        if not run.stop.reason and not await self._vetoed(run) and await looked(self._parts, run):
                            await iterate(self._parts, run, run.stop)
                        await self._tell_problems(run)
            end = run.state.ended or Halt(stop_reason="cancelled", reason=run.stop.reason)
        except anyio.get_cancelled_exc_class():
            run.journal.hurry()
            with anyio.CancelScope(shield=True):
                await self._finish(run, Halt(stop_reason="cancelled", reason=run.stop.reason or "cancelled"))
            raise
        except (ExecutorUnavailableError, UsageError) as error:  # a program that is named wrongly is the latter
            end = Halt(stop_reason="executor_unavailable", reason=str(error))
        except Exception as error:
            reason = self._parts.redactor(f"{type(error).__name__}: {error}")[:500]
            await self._finish(run, Halt(stop_reason="error", reason=reason))
            raise
        return await self._finish(run, end)

    async def _tell_problems(self, run: ActiveRun) -> None:
        """Tells what is wrong with plug-ins as events of the run, each once, and keeps it with what observers did."""
        new = [problem for problem in self._plugged.problems if problem not in self._told]
        self._told.update(new)
        texts = [self._parts.redactor(f"{problem} The run goes on without it.") for problem in new]
        for text in texts:
            run.journal.note(Diagnosed(**run.stamp(self._parts.clock.now()), text=text))
        known = run.record.problems
        problems = dict.fromkeys((*known, *texts, *run.journal.audience.complaints))
        if (kept := tuple(problems)[:_PROBLEMS]) != known:
            run.record = evolve(run.record, problems=kept)
            await run.journal.commit(run=run.record)

    async def _vetoed(self, run: ActiveRun) -> bool:
        """Whether a hook vetoes the next iteration, which ends the run."""
        due = IterationDue(**run.stamp(self._parts.clock.now()), task=run.record.task, workspace=run.record.workspace)
        vetoes: list[Objection] = []
        with run.stop.watched():
            vetoes = await run.journal.audience.before_iteration(due)
        if vetoes:
            why = "; ".join(f"{hook}: {reason}" for hook, reason in vetoes)
            reason = self._parts.redactor(f"iteration {due.iteration} was vetoed by {why}")
            run.state = evolve(run.state, decision=Halt(stop_reason="cancelled", reason=reason))
        return bool(vetoes)

    async def _finish(self, run: ActiveRun, end: Complete | Halt) -> RunRecord:
        if account := run.journal.audience.account():
            run.journal.note(Diagnosed(**run.stamp(self._parts.clock.now(), iteration=run.state.number), text=account))
        try:
            await finish(self._parts, run, end)
        finally:
            self._runs.pop(run.id, None)
            self._stops.remove(run.stop)
            self._parts.workspace.release()
        return run.record


def new_run_id(now: datetime) -> str:
    """An id for a run that begins now; ids sort by their time."""
    return f"{now:%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


def _apart(workspace: Workspace, before: Iterable[str] = ()) -> tuple[str, ...]:
    """The paths in a workspace that are Ralph's own, with those that were so in the run's earlier processes."""
    workspace.apart.update(before)
    return tuple(sorted(map(storable, workspace.apart)))


def _ended(run: ActiveRun, orphans: tuple[str, ...], at: datetime) -> list[Event]:
    return [OrphansEnded(**run.stamp(at, iteration=0), processes=orphans)] if orphans else []


def _verified(run: ActiveRun, verification: Verification, *, at: datetime) -> VerificationFinished:
    return VerificationFinished(
        **run.stamp(at, iteration=0), passed=verification.passed, verdicts=verification.verdicts
    )
