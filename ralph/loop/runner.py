"""The loop: one iteration after another, until a decision ends the run.

```python
async with Runner(executor="copilot", workspace=".", verify=["pytest -q"]) as runner:
    record = await runner.run("Make the tests pass.")
```

`iterate` runs one iteration: with the store and a run's id, any process can run the next one.
"""

import asyncio
import logging
import os
import secrets
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import anyio
import anyio.abc

from ralph.analysis import Analyzer, Keyword
from ralph.decision.breaker import CircuitBreaker
from ralph.decision.claims import Strategy
from ralph.decision.limits import DecisionSettings, Limits, Price
from ralph.decision.outcomes import Complete, Halt
from ralph.errors import ExecutorUnavailableError, RecordError, StoreError, UsageError
from ralph.executors.base import Executor
from ralph.hooks import Hooks, IterationDue
from ralph.loop.assembly import arguments_of_folder, as_checks, as_executor, as_store, running_event_loop
from ralph.loop.checkpointing import Checkpointing
from ralph.loop.event_log import Clock, EventLog, EventStream, Objection
from ralph.loop.iteration import ActiveRun, Parts, iterate, scan_workspace
from ralph.loop.lease import Inbox, Lease, Stop
from ralph.loop.lifecycle import Finish, Iterate, Starting, Wait, action_of, begin, extended_meanwhile, finish, pause
from ralph.loop.recovery import take_up
from ralph.loop.retention import make_room
from ralph.pipeline.evaluate import Rules
from ralph.plugins import Plugins
from ralph.records.events import Event
from ralph.records.record import IterationRecord, Owner, RunRecord, RunState
from ralph.settings import AnalysisSettings
from ralph.status import StatusField
from ralph.store.base import Store
from ralph.system.foreign import culprit
from ralph.system.secrets import Redactor, secret_values
from ralph.types import evolve
from ralph.types.choices import Chooser, CommitPolicy, Context, ProtectChecks
from ralph.types.output import Timeouts
from ralph.verifiers.base import Verifier
from ralph.workspace.base import Workspace

_HISTORY = 1_000  # iterations that the record of a finished run carries along
_PROBLEMS = 20  # of plug-ins and observers, that are kept with a run


class Runner:
    """Runs an executor in a loop. Used in `async with`, also repeatedly; it then owns executor, store and workspace.

    Wherever a part has a name or a path, the name, the path or an instance may be given.

    What runs:
        executor: an executor, or its name as in `ralph run --executor`; it starts when the first iteration needs it.
        model: the model of an executor that is given by name; its price counts if the executor does not report one.
        context: a fresh session of the agent for each iteration, or one that continues.
        timeouts: of a turn, of silence, and of a tool.
        prices: US dollars by model, so that tokens give a cost.

    Where it runs:
        workspace: a folder, or a `Workspace`; without one the agent works in the current folder, unobserved.
        store: a path, a URL or a `Store`; in memory by default, so that nothing outlives the process.
        plan: the plan file's path in the workspace; None looks for @fix_plan.md and the like.
        choose: who chooses the next item of the plan: the agent, or Ralph.
        commit: when the changes are committed to the branch that is checked out.
        state_limit: bytes of the state folder above which the oldest runs lose what is large, after a run; or None.

    Checks:
        verify: commands such as "pytest -q", or verifiers, that a claim must pass; those without cost also run first.
        protect_checks, reviewer: what happens if the agent changes what the checks depend on; see `Checks`.
        analyzer: reads the replies in place of `ResponseAnalyzer`; it knows no keywords, so both together are refused.
        analyzers: further analyzers, by name or as instances.
        analysis, keywords: for the built-in analyzer: its numbers and languages, and completion keywords.
        status_fields: additional fields of the status block, parsed into `StatusReport.fields`.
        strategy: an exit strategy, or its name.
        promise: the text that means done inside `<promise>…</promise>`.

    Limits:
        limits: on iterations, time, tokens, requests and cost.
        breaker: the circuit breaker.
        decision: the numbers of the decision.

    Extension:
        hooks: observers, which may veto.
        plugins: modules and objects that are plug-ins, or loaded `Plugins`.
        settings: kept in the run's record, for the user; secrets are masked.
        redactor: masks secrets; by default the values of environment variables with secret names.
        clock: the time; `ralph.testing.FakeClock` in tests.

    Attributes:
        record: the record of the run that ended last; None before.
        note: called with a sentence on what was removed to keep the `state_limit`; by default, that is logged.

    Raises:
        UsageError: a limit cannot be measured, a name is unknown, or arguments contradict each other.
        PluginConflictError: two plug-ins add something with one name.
    """

    note: Callable[[str], None] = logging.getLogger("ralph.runs").warning
    _cancelled = ""
    _executor_started = False
    _event_loop: asyncio.AbstractEventLoop | None = None

    def __init__(
        self,
        *,
        executor: Executor | str = "copilot",
        model: str | None = None,
        context: Context = "fresh",
        timeouts: Timeouts | None = None,
        prices: Mapping[str, Price] | None = None,
        workspace: Workspace | Path | str | None = None,
        store: Store | Path | str | None = None,
        plan: str | None = None,
        choose: Chooser = "agent",
        commit: CommitPolicy = "none",
        state_limit: int | None = 2 * 1024**3,
        verify: Sequence[Verifier | str | Sequence[str]] | Verifier | str = (),
        protect_checks: ProtectChecks = "auto",
        reviewer: Verifier | None = None,
        analyzer: Analyzer | None = None,
        analyzers: Sequence[Analyzer | str] = (),
        analysis: AnalysisSettings | None = None,
        keywords: Sequence[Keyword] = (),
        status_fields: Sequence[StatusField] = (),
        strategy: Strategy | str = "auto",
        promise: str | None = None,
        limits: Limits | None = None,
        breaker: CircuitBreaker | None = None,
        decision: DecisionSettings | None = None,
        hooks: Sequence[Hooks] = (),
        plugins: Plugins | Sequence[object] = (),
        settings: Mapping[str, Any] | None = None,
        redactor: Redactor | None = None,
        clock: Clock | None = None,
    ) -> None:
        plugged = plugins if isinstance(plugins, Plugins) else Plugins.of(plugins)
        plugged.require_sound()
        redactor = redactor or Redactor(secret_values(os.environ))
        agent = as_executor(executor, plugged, model=model, redactor=redactor)
        rules = Rules.built(
            plugged,
            breaker=breaker,
            limits=limits,
            decision=decision,
            strategy=strategy,
            analyzer=analyzer,
            analyzers=analyzers,
            analysis=analysis,
            keywords=keywords,
            status_fields=status_fields,
            promise=promise,
            prices=prices,
            model=model,
        )
        rules.limits.require_measured(agent.measures, priced=model in rules.prices)
        checks = as_checks(verify, workspace, protect_checks, reviewer=reviewer, executor=agent, redactor=redactor)
        self._parts = Parts(
            executor=agent,
            workspace=checks.workspace,
            checks=checks,
            rules=rules,
            timeouts=timeouts or Timeouts(),
            context=context,
            plan=plan,
            choose=choose,
            commit=commit,
            prompt_parts=tuple(plugged.named("ralph_prompt_parts").values()),
            redactor=redactor,
            clock=clock or Clock(),
        )
        self._store = as_store(store, plugged)
        self._state_limit = state_limit
        self.record: RunRecord | None = None
        self._hooks = (*hooks, *plugged.things("ralph_observers"))
        self._plugged = plugged
        self._reported: set[str] = set()
        self._settings: dict[str, Any] = self._parts.redactor.within(dict(settings or {}))
        self._stops: list[Stop] = []
        self._runs: dict[str, ActiveRun] = {}
        self._stack = AsyncExitStack()
        self._tasks: anyio.abc.TaskGroup | None = None
        self._starts = anyio.Lock()

    @classmethod
    def from_settings(cls, folder: Path | str = ".", *, trust: bool = False, hooks: Sequence[Hooks] = ()) -> "Runner":
        """Return the runner that `ralph run` would build in a folder.

        It has the folder's settings, the user's, those of the environment, and the plug-ins.

        Args:
            folder: the workspace.
            trust: consent to the workspace's own settings, and remember it.
            hooks: observers of the run.

        Raises:
            SettingError: a setting is not valid.
            UntrustedSettingsError: the workspace's own settings need consent.
            UsageError: a name is unknown, or a limit cannot be measured.
        """
        return cls(**arguments_of_folder(Path(folder), trust=trust, hooks=hooks))

    async def __aenter__(self) -> Self:
        self._event_loop = running_event_loop()
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
        try:
            await tasks.__aexit__(None, None, None)
        finally:  # it raises if the caller's task is cancelled
            with anyio.CancelScope(shield=True):
                for run in self._runs.values():
                    await run.lease.end()
                self._runs.clear()  # the next use takes them up anew, and starts the executor again
                self._stops.clear()
                self._cancelled = ""
                self._executor_started = False
                await self._stack.aclose()

    def run_sync(self, task: str) -> RunRecord:
        """Run `run` to its end, for code that is not async.

        Raises:
            UsageError: it is called in a running event loop.
        """
        return self._sync("run", lambda: self.run(task))

    def resume_sync(self, run_id: str, *, from_checkpoint: bool = False) -> RunRecord:
        """Run `resume` to its end, for code that is not async; see `run_sync`."""
        return self._sync("resume", lambda: self.resume(run_id, from_checkpoint=from_checkpoint))

    def _sync(self, name: str, begin: Callable[[], Awaitable[RunRecord]]) -> RunRecord:
        with suppress(RuntimeError):  # there is none, as there should be
            asyncio.get_running_loop()
            raise UsageError(
                f"{name}_sync() cannot be called while an event loop is running in this thread.",
                f"Write `async with runner: await runner.{name}(…)` there, as in a notebook or an async function.",
            )

        async def whole() -> RunRecord:
            async with self:
                return await begin()

        return anyio.run(whole)

    async def stream(self, task: str, *, run_id: str | None = None) -> AsyncGenerator[Event]:
        """Run a task and yield its events as they happen; the last one is `run_finished`.

        The run does not wait for the reader. Leaving the loop early cancels this run, and no other. Pieces of a message
        that the agent is still writing are dropped while the reader is far behind; no other event is. Raises what `run`
        raises.
        """
        events, stop = EventStream(), Stop()
        ending = asyncio.create_task(self._streamed(task, run_id, events, stop))
        try:
            async for event in events:
                yield event
            await ending
        finally:
            if not ending.done():
                if stop in self._stops:
                    self._end("the reader of its events left", stop)
                else:  # it has not begun
                    ending.cancel()
                with anyio.CancelScope(shield=True):
                    await asyncio.wait([ending])

    async def _streamed(self, task: str, run_id: str | None, events: EventStream, stop: Stop) -> None:
        try:
            await self._whole(self._beginning(task, run_id), stop, events)
        finally:
            events.end()

    async def run(self, task: str, *, run_id: str | None = None) -> RunRecord:
        """Work on a task until a decision ends the run, and return its record.

        Args:
            task: the work, in words for the agent.
            run_id: the id of the run if it is already known; see `new_run_id`.

        Raises:
            UsageError: the task is empty, the workspace is in use, a verifier cannot start.
            StoreError: the store cannot keep the run.
        """
        return await self._whole(self._beginning(task, run_id))

    async def resume(self, run_id: str, *, anew: Collection[str] = (), from_checkpoint: bool = False) -> RunRecord:
        """Continue a run that was stopped, crashed or paused; a completed one is returned as it is.

        Args:
            run_id: of the run.
            anew: the names of this runner's limits that already include what the run was extended by.
            from_checkpoint: first restore the workspace from before the iteration that was cut off.

        Raises:
            RecordError: there is no such run.
            UsageError: the workspace is in use, or what the dead process left behind cannot be ended.
            RunOwnedError: another process works on the run.
        """
        record = await self._found(run_id)
        if record.stop_reason == "completed":
            return record
        return await self._whole(partial(take_up, record=record, anew=anew, from_checkpoint=from_checkpoint))

    async def iterate(self, run_id: str) -> IterationRecord:
        """Run one iteration and return its record, which is durable then.

        If it is cancelled from outside, it ends the agent's turn and stores the partial output first.
        """
        run = self._runs.get(run_id) or await take_up(self._starting(Stop()), await self._found(run_id))
        await self._start_executor()
        await scan_workspace(self._parts, run)
        return await iterate(self._parts, run, run.stop)

    def cancel(self, reason: str) -> None:
        """End the run soon: the agent's turn ends, and its partial output is stored. Callable from any thread.

        Without a run, it ends the next one; runs after that are not affected.
        """
        self._cancelled = self._cancelled or reason
        loop = self._event_loop
        if loop is None or loop.is_closed():
            return
        here = None
        with suppress(RuntimeError):
            here = asyncio.get_running_loop()
        if here is loop:
            self._end(reason)
        else:
            loop.call_soon_threadsafe(self._end, reason)

    def _end(self, reason: str, *stops: Stop) -> None:
        """End the runs with these stop signals; without any, all runs."""
        for stop in stops or self._stops:
            stop.ask(reason)
        for run in self._runs.values():
            if run.stop in (stops or self._stops):
                run.log.hurry()

    @property
    def _entered(self) -> anyio.abc.TaskGroup:
        if self._tasks is None:
            raise RuntimeError("A Runner is used in `async with`, or by `run_sync`.")
        return self._tasks

    async def _start_executor(self) -> None:
        async with self._starts:  # several runs may begin at once
            if not self._executor_started:
                await self._stack.enter_async_context(self._parts.executor)
                self._executor_started = True

    async def _found(self, run_id: str) -> RunRecord:
        _ = self._entered
        record = await self._store.run(run_id)
        if record is None:
            raise RecordError(f"There is no run {run_id!r} in the store.", "`ralph runs` lists them.")
        return record

    def _beginning(self, task: str, run_id: str | None) -> Callable[[Starting], Awaitable[ActiveRun]]:
        return partial(begin, task=task, run_id=run_id or new_run_id(self._parts.clock.now()))

    async def _whole(
        self, start: Callable[[Starting], Awaitable[ActiveRun]], stop: Stop | None = None, *readers: Hooks
    ) -> RunRecord:
        """Run the loop from the start of a run to its end; `cancel` ends all runs that have been requested."""
        _ = self._entered
        starting = self._starting(stop or Stop(), *readers)
        try:
            record = await self._loop(await start(starting))
            with starting.stop.watched():
                await make_room(self._state_limit, self._store, record, self.note)
            return record
        finally:
            self._stops.remove(starting.stop)
            if not self._stops:
                self._cancelled = ""  # the next run is another one

    def _starting(self, stop: Stop, *readers: Hooks) -> Starting:
        """Return the parts for the start of a run. A reader may stop this one alone; `cancel` ends all."""
        if self._cancelled:
            stop.ask(self._cancelled)
        self._stops.append(stop)
        hooks = (*self._hooks, *readers)
        return Starting(self._parts, self._store, self._settings, stop, partial(self._active, hooks))

    def _active(
        self, hooks: Sequence[Hooks], record: RunRecord, state: RunState, owner: Owner, stop: Stop, *, seq: int
    ) -> ActiveRun:
        parts = self._parts
        log = EventLog(self._store, record.id, seq, hooks, owner=owner.token, clock=parts.clock)
        lease = Lease(self._store, owner, log, stop)
        inbox = Inbox(self._store, record, log=log, stop=stop, limits=parts.rules.limits, clock=parts.clock)
        checkpointing = Checkpointing(parts.workspace, log, parts.commit, parts.redactor)
        self._entered.start_soon(log.flush_groups)
        self._entered.start_soon(lease.attend, inbox.listen)
        self._runs[record.id] = run = ActiveRun(record, state, log, lease, inbox, stop, checkpointing)
        log.time_left = run.time_left
        return run

    async def _loop(self, run: ActiveRun) -> RunRecord:
        try:
            await self._report_problems(run)
            while not run.stop.reason and (run.state.ended is None or await extended_meanwhile(self._parts, run)):
                match await action_of(self._parts, run):
                    case Finish(end=end):
                        run.state = evolve(run.state, decision=end)
                    case Wait() as wait:
                        await pause(self._parts, run, wait)
                    case Iterate():
                        await self._next_iteration(run)
            end = run.state.ended or Halt(stop_reason="cancelled", reason=run.stop.reason)
        except anyio.get_cancelled_exc_class():
            run.log.hurry()
            with anyio.CancelScope(shield=True):
                await self._finish(run, Halt(stop_reason="cancelled", reason=run.stop.reason or "cancelled"))
            raise
        except (ExecutorUnavailableError, UsageError) as error:  # a program that is named wrongly is the latter
            end = Halt(stop_reason="executor_unavailable", reason=str(error))
        except Exception as error:
            who = culprit(error)
            reason = self._parts.redactor(f"{who and f'{who}: '}{type(error).__name__}: {error}")[:500]
            await self._finish(run, Halt(stop_reason="error", reason=reason))
            raise
        return await self._finish(run, end)

    async def _next_iteration(self, run: ActiveRun) -> None:
        with run.stop.watched(), run.waiting():
            await self._start_executor()  # which may download a program, for minutes
        if not run.stop.reason and not await self._vetoed(run) and await scan_workspace(self._parts, run):
            await iterate(self._parts, run, run.stop)
        await self._report_problems(run)

    async def _report_problems(self, run: ActiveRun) -> None:
        """Report each problem of plug-ins once, as an event, and keep it in the record with those of observers."""
        new = [problem for problem in self._plugged.problems if problem not in self._reported]
        self._reported.update(new)
        texts = [self._parts.redactor(f"{problem} The run continues without it.") for problem in new]
        for text in texts:
            run.log.diagnose(text, run.next_number)
        problems = dict.fromkeys((*run.record.problems, *texts, *run.log.dispatcher.complaints))
        if (kept := tuple(problems)[:_PROBLEMS]) != run.record.problems:
            run.record = evolve(run.record, problems=kept)
            await run.log.commit(run=run.record)

    async def _vetoed(self, run: ActiveRun) -> bool:
        """Return True if an observer vetoes the next iteration, which ends the run."""
        due = IterationDue(**run.stamp(self._parts.clock.now()), task=run.record.task, workspace=run.record.workspace)
        vetoes: list[Objection] = []
        with run.stop.watched():
            vetoes = await run.log.dispatcher.ask(due)
        if vetoes:
            why = "; ".join(f"{name}: {reason}" for name, reason in vetoes)
            reason = self._parts.redactor(f"iteration {due.iteration} was vetoed by {why}")
            run.state = evolve(run.state, decision=Halt(stop_reason="cancelled", reason=reason))
        return bool(vetoes)

    async def _finish(self, run: ActiveRun, end: Complete | Halt) -> RunRecord:
        if account := run.log.dispatcher.account():
            run.log.diagnose(account, run.state.number)
        try:
            await finish(self._parts, run, end)
        finally:
            self._runs.pop(run.id, None)
            self._parts.workspace.release()
        self.record = run.record.with_history(await self._history(run.id))
        return self.record

    async def _history(self, run_id: str) -> deque[IterationRecord]:
        latest: deque[IterationRecord] = deque(maxlen=_HISTORY)
        with suppress(StoreError, RecordError):  # the run has ended, and its end is stored
            async for iteration in self._store.iterations(run_id):
                latest.append(iteration)
        return latest


def new_run_id(now: datetime) -> str:
    """Return an id for a run that begins now; ids sort by time."""
    return f"{now:%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"
