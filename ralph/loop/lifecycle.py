"""The course of a run between its iterations: what holds up the next one, the pauses, and the end."""

import os
from datetime import datetime
from time import monotonic
from typing import Any, NamedTuple

from ralph.decision.outcomes import Complete, Halt, held_by
from ralph.errors import RecordError, StoreError
from ralph.loop.iteration import ActiveRun, Parts
from ralph.records.events import BreakerChanged, Event, Paused, Resumed, RunFinished, RunStarted
from ralph.types import evolve

__all__ = ["Wait", "finish", "held", "pause", "prolonged", "started"]


class Wait(NamedTuple):
    """What a run waits for before its next iteration: a moment, or with None a person."""

    until: datetime | None
    reason: str


def started(parts: Parts, run: ActiveRun, *, resumed: bool = False, already_green: bool = False) -> RunStarted:
    """The run begins, or goes on."""
    return RunStarted(
        **run.stamp(parts.clock.now(), iteration=run.state.number),
        task=run.record.task,
        workspace=run.record.workspace,
        executor=parts.executor.name,
        strategy=parts.rules.strategy.name,
        verifiers=tuple(verifier.name for verifier in parts.verifiers),
        already_green=already_green,
        max_iterations=run.limits.max_iterations,
        resumed=resumed,
    )


def held(parts: Parts, run: ActiveRun) -> Halt | Wait | None:
    """What to do instead of an iteration that must not begin; None where it may.

    A limit may be reached or the breaker open also before the first one, of a run that was resumed. Where an agent has
    taken its own folder away, no program can be started any more.
    """
    if not os.path.isdir(parts.workspace.path):  # noqa: PTH112 - that of a Path raises where it may not look
        gone = f"the workspace {parts.workspace.path} no longer exists; bring it back, then resume the run"
        return Halt(stop_reason="executor_unavailable", reason=gone)
    breaker, now = parts.rules.breaker, parts.clock.now()
    limit = held_by(reached) if (reached := run.limits.reached(run.state.spent, now)) else None
    if isinstance(limit, Halt):
        return limit
    if run.tenure.pausing:
        return Wait(None, "a person asked for it")
    if (waiting := run.state.paused or limit) is not None:
        return Wait(waiting.until, waiting.reason)
    state = breaker.cooled(run.state.breaker, now)
    until = breaker.open_until(state)
    if until is None:
        return None
    if breaker.exhausted(state):
        reason = f"{state.reason}; it closes again at the earliest at {until:%H:%M:%S} UTC"
        return Halt(stop_reason="circuit_open", reason=reason)
    return Wait(until, f"circuit open: {state.reason}")


async def pause(parts: Parts, run: ActiveRun, wait: Wait) -> None:
    """Waits, at the longest until the run's time is over: a limit on its duration is one of wall time.

    A person can end it before its time, also one for the breaker, which then lets one iteration probe.
    """
    clock, began, since = parts.clock, parts.clock.now(), monotonic()
    ends = run.limits.ends(run.state.spent, began)
    until = min(filter(None, (wait.until, ends)), default=None)
    run.tenure.go_on = False
    run.record = evolve(run.record, state="paused")
    stamp = run.stamp(began, iteration=run.state.number)
    await run.journal.commit(Paused(**stamp, until=until, reason=wait.reason), run=run.record)
    came = False
    with run.stop.watched():
        came = await run.tenure.wait(until)
    ended = clock.now()
    waited = max((ended - began).total_seconds(), monotonic() - since)  # of a machine that slept, or a clock set back
    if came and until == ends:  # a moment is less exact than what is left of the time
        waited = max(waited, run.limits.left(run.state.spent) or 0.0)
    run.state = evolve(run.state, spent=run.state.spent.waited(waited))
    due = wait.until if came and until == wait.until else None
    if due is not None:
        run.state = run.state.dated_back(due - ended)
    if due is not None or run.tenure.go_on:
        run.state = evolve(run.state, decision=None)
    run.record = evolve(run.record, state="running")
    if not run.stop.reason:
        resumed = Resumed(**run.stamp(ended, iteration=run.state.number))
        await run.journal.commit(resumed, *_let_probe(parts, run), run=run.record)


async def prolonged(parts: Parts, run: ActiveRun) -> bool:
    """Whether a run that a limit has ended may go on after all, because a person has allowed it more meanwhile."""
    ended = run.state.ended
    if not isinstance(ended, Halt) or ended.stop_reason != "limit_reached":
        return False
    try:
        await run.tenure.listen()
    except (StoreError, RecordError):
        return False
    if isinstance(held(parts, run), Halt):
        return False
    run.state = evolve(run.state, decision=None)
    return True


async def finish(parts: Parts, run: ActiveRun, end: Complete | Halt) -> None:
    """Stores and tells the end; where the store fails, tells that end and raises its error."""
    completed = end if isinstance(end, Complete) else None
    facts: dict[str, Any] = {
        "stop_reason": "completed" if completed else end.stop_reason if isinstance(end, Halt) else "error",
        "verified": completed is not None and completed.verified,
        "detail": f"{end.reason}{_moot(run, end)}",
        "still_open": completed.still_open if completed else (),
        "iterations": run.state.number,
        "executors": dict(run.state.executors),
        "usage": run.state.spent.usage,
        "duration": run.state.spent.duration,
    }
    await run.upkeep.end(run.state.number, run.summary if completed else None, run.record.checkpoint)
    now = parts.clock.now()
    run.record = evolve(run.record, **facts, state="finished", finished_at=now, **_cut_off(run))
    stamp = run.stamp(now, iteration=run.state.number)
    try:
        await run.journal.commit(RunFinished(**stamp, **facts), run=run.record)
    except StoreError as error:
        lost: dict[str, Any] = {"stop_reason": "error", "verified": False, "detail": parts.redactor(str(error))}
        await run.journal.publish_unkept(RunFinished(**stamp, **{**facts, **lost}))
        raise
    finally:
        run.journal.close()
        await run.tenure.end()


def _moot(run: ActiveRun, end: Complete | Halt) -> str:
    """What became of a pause that was asked for before the end; who stops a run no longer waits for it."""
    stopped = isinstance(end, Halt) and end.stop_reason == "cancelled"
    return "; the requested pause has no effect, as the run has ended" if run.tenure.pausing and not stopped else ""


def _cut_off(run: ActiveRun) -> dict[str, int]:
    """The iteration that was begun and has no record, if there is one."""
    return {"interrupted": run.journal.iteration} if run.journal.iteration > run.state.number else {}


def _let_probe(parts: Parts, run: ActiveRun) -> list[Event]:
    """A person who ends the pause of an open breaker has reset it."""
    breaker, before = parts.rules.breaker, run.state.breaker
    if not run.tenure.go_on or breaker.open_until(before) is None:
        return []
    state = breaker.reset(before)
    run.state = evolve(run.state, breaker=state)
    run.record = evolve(run.record, breaker=state, reset_after=run.state.number)
    stamp = run.stamp(parts.clock.now(), iteration=run.state.number)
    return [BreakerChanged(**stamp, before=before.state, breaker=state)]
