"""Recovery of a run that another process, or an earlier one, has left."""

from collections.abc import Collection
from time import monotonic

from ralph.errors import UsageError
from ralph.loop.iteration import ActiveRun, Parts, preflight
from ralph.loop.lifecycle import UNSUPPORTED, Starting, checked, own_paths, started
from ralph.loop.ownership import end_orphans, has_died, maker_has_died, this_process
from ralph.records.events import Diagnosed, Event, IterationStarted, RunFinished
from ralph.records.record import Owner, RunRecord, RunState
from ralph.store.base import Store
from ralph.types import evolve
from ralph.types.verification import PriorChecks

_LATEST = 100
"""Events among which that of a run's end is looked for: a resume without effect adds a few."""


async def take_up(
    starting: Starting, record: RunRecord, anew: Collection[str] = (), *, from_checkpoint: bool = False
) -> ActiveRun:
    """Make a stored run this process's own, and find out how far it is by a fold over its records.

    Args:
        anew: the names of limits that are meant as they are, without earlier extensions.
        from_checkpoint: take the workspace back to its state before the iteration that was cut off.

    Raises:
        UsageError: the workspace is in use, a process of a dead owner cannot be ended, or there is no such checkpoint.
        RunOwnedError: another process works on the run.
    """
    parts, store, owner = starting.parts, starting.store, this_process()
    if parts.commit != "none":
        await parts.workspace.require_author()
    parts.workspace.acquire(record.id)
    requests = await store.requests(record.id)
    orphans = await _acquire(store, record, owner)
    found = await store.run(record.id) or record  # another process may have worked on it until a moment ago
    last = await _last_event(store, found.id)
    record = evolve(
        found,
        state="running",
        stop_reason=None,
        finished_at=None,
        detail="",
        **UNSUPPORTED,
        owner=owner,
        pid=owner.pid,
        apart=own_paths(parts.workspace, found.apart),
        interrupted=await interrupted(store, found),
        settings=starting.settings or found.settings,
        limits_set={**found.limits_set, **dict.fromkeys(anew, requests[-1].seq if requests else 0)},
    )
    state = await _state(store, record, had_ended=found.state == "finished")
    seq = await store.last_seq(record.id)
    run = starting.activate(record, state.as_of(parts.clock.now()), owner, starting.stop, seq=seq)
    run.inbox.recall(requests)
    parts.checks.recall(record.id, record.task)
    heard_of = last.at if last else found.started_at
    await run.checkpointing.restore_protected(run.state.number, until=heard_of.timestamp())
    told = [await _restore(starting, run)] if from_checkpoint else []
    told += await _check_anew(parts, run)
    await run.log.commit(*started(parts, run, orphans, resumed=True), *told, run=run.record)
    return run


async def _check_anew(parts: Parts, run: ActiveRun) -> list[Event]:
    """Run the checks that the run has not had so far: without a failure now, they could never prove a change."""
    checks, began = run.state.checks, monotonic()
    known = {*checks.passed, *checks.failed, *checks.refuted}
    verification = await preflight(parts, run.record.task, run.stop, known)
    more = PriorChecks.before_run(verification)
    run.record = evolve(run.record, checks=run.record.checks | more)
    run.state = evolve(run.state, checks=checks | more)
    return checked(parts, run, verification, monotonic() - began)


async def _acquire(store: Store, run: RunRecord, owner: Owner) -> tuple[str, ...]:
    """Make a process the owner of a run; return the processes of a dead owner, which are ended."""
    dead = run.owner if run.owner is not None and has_died(run.owner) else None
    holder = await store.holder(run.id)
    gone = holder if maker_has_died(holder) else dead.token if dead else ""
    await store.acquire(run.id, owner.token, dead=gone)
    try:
        return await end_orphans(dead) if dead else ()
    except UsageError:
        await store.release(run.id, owner.token)
        raise


async def _state(store: Store, run: RunRecord, *, had_ended: bool) -> RunState:
    """Return the fold over the records of a run.

    A decision that ended the run is past, also if the run was resumed since and crashed; a decision that a crash kept
    from ending it is still to be carried out.
    """
    state = await store.state(run)
    if state.ended is None:
        return state
    past = had_ended or run.interrupted > state.number or await _end_was_published(store, state, run.id)
    return evolve(state, decision=None) if past else state


async def _restore(starting: Starting, run: ActiveRun) -> Event:
    """Restore the files from before the iteration that was cut off; their present state is kept in a checkpoint."""
    number = run.next_number
    if run.record.interrupted != number:
        raise UsageError(f"No iteration of run {run.id} was cut off.", "Resume it without --from-checkpoint.")
    commit = await checkpoint_before(starting.store, run.id, number)
    if commit is None:
        raise UsageError(
            f"Run {run.id} has no checkpoint from before iteration {number}.",
            "Resume it without --from-checkpoint.",
        )
    restored = await starting.parts.workspace.restore(commit, force=True)
    run.record = evolve(run.record, interrupted=0)
    run.state = evolve(run.state, cut_short="")
    text = f"The files are as they were before iteration {number} ({commit[:12]})."
    if restored.saved is not None:
        text += f" `ralph rollback {run.id} --to {restored.saved[:12]}` brings back what it had left."
    return Diagnosed(**run.stamp(starting.parts.clock.now(), iteration=0), text=text)


async def interrupted(store: Store, run: RunRecord) -> int:
    """Return the last iteration that began and has no record; otherwise the one that the run's record names."""
    last = await _last_event(store, run.id)
    return last.iteration if last and last.iteration > await store.last_iteration(run.id) else run.interrupted


async def _end_was_published(store: Store, state: RunState, run_id: str) -> bool:
    """Return True if the end that the last iteration decided was published, so that a resume is past it."""
    latest = store.events(run_id, after=max(0, await store.last_seq(run_id) - _LATEST))
    return any([isinstance(event, RunFinished) and event.iteration == state.number async for event in latest])


async def _last_event(store: Store, run_id: str) -> Event | None:
    events = [event async for event in store.events(run_id, after=max(0, await store.last_seq(run_id) - 1))]
    return events[-1] if events else None


async def checkpoint_before(store: Store, run_id: str, iteration: int) -> str | None:
    """Return the commit of the workspace from when an iteration first began; None without one."""
    async for event in store.events(run_id):
        if isinstance(event, IterationStarted) and event.iteration == iteration:
            return event.checkpoint
    return None
