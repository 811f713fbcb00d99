"""Recovery of a run that another process, or an earlier one, has left."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from ralph.errors import UsageError
from ralph.loop.ownership import end_orphans, has_died, maker_has_died
from ralph.records.events import Event, IterationStarted, RunFinished
from ralph.records.record import Owner, RunRecord, RunState
from ralph.store.base import Store
from ralph.types import evolve
from ralph.types.requests import Request

__all__ = ["TakenOver", "checkpoint_before", "end_orphans_in", "interrupted", "taken_over"]

_LATELY = 5
_LATEST = 100
"""Events among which that of a run's end is looked for: a resume without effect adds a few."""


@dataclass(frozen=True, slots=True)
class TakenOver:
    """A run as it was found.

    Attributes:
        record: with the new owner, and running.
        state: the fold over its iterations. A decision that ended the run is past, also if the run was resumed since
            and crashed; a decision that a crash kept from ending it is still to be carried out.
        seq: the number of its last event.
        requests: all requests to it so far.
        orphans: the processes of the dead owner that were ended.
        alive_until: when the run was last heard of, in seconds since the epoch.
    """

    record: RunRecord
    state: RunState
    seq: int
    requests: list[Request]
    orphans: tuple[str, ...]
    alive_until: float


async def taken_over(
    store: Store, run: RunRecord, owner: Owner, *, settings: Mapping[str, Any], anew: Collection[str]
) -> TakenOver:
    """Make a process the owner of a run, end the processes of a dead owner, and fold the run's records.

    Args:
        store: holds the run.
        run: its record.
        owner: the new one.
        settings: those that count from now on; without any, those of the run.
        anew: see `Runner.resume`.

    Raises:
        RunOwnedError: another process works on the run.
        UsageError: a process of a dead owner cannot be ended.
    """
    dead = run.owner if run.owner is not None and has_died(run.owner) else None
    requests = await store.requests(run.id)
    holder = await store.holder(run.id)
    gone = holder if maker_has_died(holder) else dead.token if dead else ""
    await store.acquire(run.id, owner.token, dead=gone)
    try:
        orphans = await end_orphans(dead) if dead else ()
    except UsageError:
        await store.release(run.id, owner.token)
        raise
    run = await store.run(run.id) or run  # another process may have worked on it until a moment ago
    last = await _last_event(store, run.id)
    asked = requests[-1].seq if requests else 0
    going: dict[str, Any] = {
        "state": "running",
        "stop_reason": None,
        "finished_at": None,
        "detail": "",
        "owner": owner,
        "pid": owner.pid,
        "interrupted": await interrupted(store, run),
        "settings": dict(settings) or run.settings,
        "limits_set": {**run.limits_set, **dict.fromkeys(anew, asked)},
    }
    had_ended = run.state == "finished"
    run = evolve(run, **going)
    state = await store.state(run)
    passed = had_ended or run.interrupted > state.number
    if state.ended is not None and (passed or await _end_was_published(store, state, run.id)):
        state = evolve(state, decision=None)
    alive_until = (last.at if last else run.started_at).timestamp()
    return TakenOver(run, state, await store.last_seq(run.id), requests, orphans, alive_until)


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


async def end_orphans_in(store: Store, workspace: str) -> tuple[str, ...]:
    """End the processes that crashed runs have left in a folder; return their names."""
    crashed = [run.owner for run in await store.runs(workspace=workspace, limit=_LATELY) if run.state != "finished"]
    ended = [await end_orphans(owner) for owner in crashed if owner is not None and has_died(owner)]
    return tuple(name for names in ended for name in names)


async def checkpoint_before(store: Store, run_id: str, iteration: int) -> str | None:
    """Return the commit of the workspace from when an iteration first began; None without one."""
    async for event in store.events(run_id):
        if isinstance(event, IterationStarted) and event.iteration == iteration:
            return event.checkpoint
    return None
