"""The course of a run around its iterations: its beginning, its next action, its pauses, and its end."""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from time import monotonic
from typing import Any, NamedTuple

import anyio

from ralph.decision.breaker import CircuitBreaker
from ralph.decision.limits import Limits
from ralph.decision.outcomes import Complete, Halt, held_by
from ralph.errors import RecordError, StoreError, UsageError
from ralph.loop.iteration import ActiveRun, Parts, preflight
from ralph.loop.lease import Stop
from ralph.loop.ownership import end_left_behind, this_process
from ralph.records import events
from ralph.records.record import PlanCount, RunRecord, RunState
from ralph.store.base import Store
from ralph.system.text import plain, storable
from ralph.types import evolve
from ralph.types.output import Checkpoint
from ralph.types.verification import PriorChecks, Verification
from ralph.workspace.base import Snapshot, Workspace

_TASK_MASKED = (
    "The task has what looks like a secret. The agent gets it as written, but it is stored masked: after "
    "`ralph resume`, the agent gets *** in its place. To avoid that, put it into a file of the workspace, and name the "
    "file in the task."
)
_STILL_MASKED = (
    "The task is stored masked, so the agent gets *** in the place of what looked like a secret. "
    "`ralph tell` cannot bring it back: put it into a file of the workspace, and name the file by `ralph tell`."
)

_LOST = 20
"""Paths of the user's that the record of a run names as removed."""

UNSUPPORTED: dict[str, Any] = {"verified": False, "already_green": False, "verified_by": ""}
"""The fields of a run's end that say what supports a completion, of a run that did not complete."""


@dataclass(frozen=True, slots=True)
class Starting:
    """The parts of a runner that the start of a run needs.

    Attributes:
        settings: as they are kept in the run's record.
        stop: the stop signal of the run.
        activate: takes the run into the runner's hands: its record, state, owner and stop signal, and the `seq` of its
            last event.
    """

    parts: Parts
    store: Store
    settings: dict[str, Any]
    stop: Stop
    activate: Callable[..., ActiveRun]


async def begin(starting: Starting, task: str, run_id: str) -> ActiveRun:
    """Start a new run: look at the workspace, ask the verifiers, and store its record.

    Raises:
        UsageError: the task is empty, the workspace is in use, or a verifier cannot start.
    """
    if not task.strip():
        raise UsageError("The task is empty.", "Say what the agent should do.")
    parts, stop = starting.parts, starting.stop
    now, owner = parts.clock.now(), this_process()
    if parts.commit != "none":
        await parts.workspace.require_author()
    parts.workspace.acquire(run_id)
    orphans = await end_left_behind(starting.store, str(parts.workspace.path))
    await anyio.to_thread.run_sync(parts.checks.begin, run_id, task)
    began = monotonic()
    verification = await preflight(parts, task, stop)
    took = monotonic() - began
    before, checkpoint = Snapshot(problem="The run was ended before it was scanned."), Checkpoint()
    with stop.watched(), parts.workspace.reporting_progress():
        before = await parts.workspace.snapshot()
        checkpoint = await parts.workspace.checkpoint(run_id, 0, "after", seen=before)
    record = RunRecord(
        id=run_id,
        task=(masked := parts.redactor(task)),
        masked=masked != plain(task),
        workspace=str(parts.workspace.path),
        origin=str(parts.workspace.origin) if parts.workspace.origin else None,
        onto=parts.workspace.onto,
        settings=starting.settings,
        started_at=now,
        pid=owner.pid,
        owner=owner,
        apart=own_paths(parts.workspace),
        fingerprint=before.fingerprint,
        checkpoint=checkpoint.commit,
        plan=parts.read_plan(),
        checks=PriorChecks.before_run(verification),
    )
    await starting.store.create(record, owner=owner.token)
    run = starting.activate(record, RunState.of(record), owner, stop, seq=0)
    run.before, run.written = before, plain(task)
    await run.log.commit(*started(parts, run, orphans), *checked(parts, run, verification, took))
    return run


def checked(parts: Parts, run: ActiveRun, verification: Verification | None, took: float) -> list[events.Event]:
    """Count the seconds that the verifiers took before an iteration, and return the event of their verdicts."""
    if verification is None:
        return []
    run.state = evolve(run.state, spent=run.state.spent.waited(took))
    stamp = run.stamp(parts.clock.now(), iteration=0)
    return [events.VerificationFinished(**stamp, passed=verification.passed, verdicts=verification.verdicts)]


def own_paths(workspace: Workspace, before: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the paths in a workspace that are Ralph's own, with those that were so in the run's earlier processes."""
    workspace.own_files.update(before)
    return tuple(sorted(map(storable, workspace.own_files)))


def started(
    parts: Parts, run: ActiveRun, orphans: tuple[str, ...] = (), *, resumed: bool = False
) -> list[events.Event]:
    """Return the events of a run that begins, or continues; `orphans` are the ended processes of a dead run."""
    now = parts.clock.now()
    verifiers = tuple(verifier.name for verifier in parts.verifiers)
    begun = events.RunStarted(
        **run.stamp(now, iteration=run.state.number),
        task=run.record.task,
        workspace=run.record.workspace,
        executor=parts.executor.name,
        strategy=parts.rules.strategy.name,
        verifiers=verifiers,
        already_green=bool(verifiers) and set(verifiers) <= set(run.record.checks.passed),
        max_iterations=run.limits.max_iterations,
        sandbox=parts.executor.confinement.sandbox.summary,
        permission=", allows ".join((parts.executor.permissions.mode, *parts.executor.permissions.allow)),
        limits=run.limits.model_dump(exclude_none=True),
        resumed=resumed,
        model=parts.rules.model,
        plan=PlanCount.of(run.record.plan),
        usage=run.state.spent.usage,
        denials=run.state.spent.denials,
        duration=run.state.spent.duration,
    )
    told: list[events.Event] = [begun]
    if orphans:
        told.append(events.OrphansEnded(**run.stamp(now, iteration=0), processes=orphans))
    if run.record.masked:
        about = _STILL_MASKED if resumed else _TASK_MASKED
        told.append(events.Diagnosed(**run.stamp(now, iteration=0), text=about))
    if withheld := parts.executor.confinement.variables.withheld(os.environ):
        told.append(events.Diagnosed(**run.stamp(now, iteration=0), text=withheld))
    return told


class Iterate(NamedTuple):
    """The next iteration may begin."""


class Wait(NamedTuple):
    """The run waits until a moment, or with None until the user continues it."""

    until: datetime | None
    reason: str


class Finish(NamedTuple):
    """The run ends."""

    end: Complete | Halt


def next_action(
    state: RunState, now: datetime, *, limits: Limits, breaker: CircuitBreaker, pausing: bool = False, missing: str = ""
) -> Iterate | Wait | Finish:
    """Return what a run does next; pure, so that any engine can drive a run by it.

    A limit may be reached or the breaker open also before the first iteration, of a run that was resumed.

    Args:
        limits: in force, extensions included.
        pausing: the user asked for a pause.
        missing: the path of a workspace that no longer exists; empty otherwise.
    """
    if state.ended is not None:
        return Finish(state.ended)
    if missing:
        gone = f"the workspace {missing} no longer exists; bring it back, then resume the run"
        return Finish(Halt(stop_reason="executor_unavailable", reason=gone))
    limit = held_by(reached) if (reached := limits.reached(state.spent, now)) else None
    if isinstance(limit, Halt):
        return Finish(limit)
    if pausing:
        return Wait(None, "you asked for it")
    if (waiting := state.paused or limit) is not None:
        return Wait(waiting.until, waiting.reason)
    cooled = breaker.cooled(state.breaker, now)
    until = breaker.open_until(cooled)
    if until is None:
        return Iterate()
    if breaker.exhausted(cooled):
        reason = f"{cooled.reason}; it closes again at the earliest at {until.astimezone():%H:%M:%S}"
        return Finish(Halt(stop_reason="circuit_open", reason=reason))
    return Wait(until, f"circuit open: {cooled.reason}")


async def action_of(parts: Parts, run: ActiveRun) -> Iterate | Wait | Finish:
    """Return what an active run does next, after a look at the requests to it."""
    await run.inbox.look()
    there = os.path.isdir(parts.workspace.path)  # noqa: ASYNC240, PTH112 - a Path raises where it may not look
    return next_action(
        run.state,
        parts.clock.now(),
        limits=run.limits,
        breaker=parts.rules.breaker,
        pausing=run.inbox.pausing,
        missing="" if there else str(parts.workspace.path),
    )


async def pause(parts: Parts, run: ActiveRun, wait: Wait) -> None:
    """Wait, at most until the run's time is over: a limit on its duration is one of wall time.

    The user can end a pause early, also one of the breaker, which then lets one iteration probe.
    """
    clock, began, since = parts.clock, parts.clock.now(), monotonic()
    ends = run.limits.ends(run.state.spent, began)
    until = min(filter(None, (wait.until, ends)), default=None)
    run.inbox.resuming = False
    run.record = evolve(run.record, state="paused")
    stamp = run.stamp(began, iteration=run.state.number)
    await run.log.commit(events.Paused(**stamp, until=until, reason=wait.reason), run=run.record)
    came = False
    with run.stop.watched():
        came = await run.inbox.wait(until)
    ended = clock.now()
    waited = max((ended - began).total_seconds(), monotonic() - since)  # of a machine that slept, or a clock set back
    if came and until == ends:  # a moment is less exact than what is left of the time
        waited = max(waited, run.limits.left(run.state.spent) or 0.0)
    run.state = evolve(run.state, spent=run.state.spent.waited(waited))
    due = wait.until if came and until == wait.until else None
    if due is not None:
        run.state = run.state.dated_back(due - ended)
    if due is not None or run.inbox.resuming:
        run.state = evolve(run.state, decision=None)
    run.record = evolve(run.record, state="running")
    if not run.stop.reason:
        resumed = events.Resumed(**run.stamp(ended, iteration=run.state.number))
        await run.log.commit(resumed, *_let_probe(parts, run), run=run.record)


async def extended_meanwhile(parts: Parts, run: ActiveRun) -> bool:
    """Return True if a run that a limit has ended may continue, because the user has extended the limit meanwhile."""
    ended = run.state.ended
    if not isinstance(ended, Halt) or ended.stop_reason != "limit_reached":
        return False
    try:
        await run.inbox.listen()
    except (StoreError, RecordError):
        return False
    state, run.state = run.state, evolve(run.state, decision=None)
    if isinstance(await action_of(parts, run), Finish):
        run.state = state
        return False
    return True


async def finish(parts: Parts, run: ActiveRun, end: Complete | Halt) -> None:
    """Store and publish the end; if the store fails, publish that end and raise its error."""
    completed = end if isinstance(end, Complete) else None
    waits = run.inbox.pausing and not (isinstance(end, Halt) and end.stop_reason == "cancelled")
    moot = "; the requested pause has no effect, as the run has ended" if waits else ""
    facts: dict[str, Any] = {
        "stop_reason": "completed" if completed else end.stop_reason if isinstance(end, Halt) else "error",
        **(completed.model_dump(include=set(UNSUPPORTED)) if completed else UNSUPPORTED),
        "detail": f"{end.reason}{moot}",
        "still_open": completed.still_open if completed else (),
        "lost": run.state.lost[:_LOST],
        "iterations": run.state.number,
        "executors": dict(run.state.executors),
        "usage": run.state.spent.usage,
        "denials": run.state.spent.denials,
        "duration": run.state.spent.duration,
    }
    summary = run.summary if completed else None
    await run.checkpointing.end(run.state.number, summary, run.record.checkpoint, run.stop)
    if said := run.checkpointing.uncommitted.rstrip("."):
        facts["detail"] += f"; {said[0].lower()}{said[1:]}"
    await anyio.to_thread.run_sync(parts.checks.rest)
    now = parts.clock.now()
    cut_off = {"interrupted": run.log.iteration} if run.log.iteration > run.state.number else {}
    run.record = evolve(run.record, **facts, state="finished", finished_at=now, **cut_off)
    stamp = run.stamp(now, iteration=run.state.number)
    try:
        await run.log.commit(events.RunFinished(**stamp, **facts), run=run.record)
    except StoreError as error:
        lost: dict[str, Any] = {"stop_reason": "error", "detail": parts.redactor(str(error)), **UNSUPPORTED}
        await run.log.publish_unkept(events.RunFinished(**stamp, **{**facts, **lost}))
        raise
    finally:
        run.log.close()
        await run.lease.end()


def _let_probe(parts: Parts, run: ActiveRun) -> list[events.Event]:
    """Reset the breaker if the user ended its pause."""
    breaker, before = parts.rules.breaker, run.state.breaker
    if not run.inbox.resuming or breaker.open_until(before) is None:
        return []
    state = breaker.reset(before)
    run.state = evolve(run.state, breaker=state)
    run.record = evolve(run.record, breaker=state, reset_after=run.state.number)
    stamp = run.stamp(parts.clock.now(), iteration=run.state.number)
    return [events.BreakerChanged(**stamp, before=before.state, breaker=state)]
