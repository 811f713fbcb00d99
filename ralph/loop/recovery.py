"""Taking up a run where another process, or this one before, has left it."""

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

__all__ = ["TakenOver", "checkpoint_before", "interrupted", "left_at_work", "taken_over"]

_LATELY = 5
_LATEST = 100
"""Events among which that of a run's end is looked for: a resume that came to nothing adds a few."""


@dataclass(frozen=True, slots=True)
class TakenOver:
    """A run as it was found.

    Attributes:
        record: as it goes on: running, and the new owner's.
        state: the fold over its iterations. A decision that ended it is past, also where it was resumed since and then
            crashed; one that a crash kept from ending it is still to be carried out.
        seq: of its last event.
        requests: what was asked of it so far.
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
    """Makes a process the owner of a run, ends what a dead owner's agent left at work, and finds out where the run is.

    Args:
        settings: those that count from now on; without any, those that the run has.
        anew: see `Runner.resume`.

    Raises:
        RunOwnedError: another process is at work on it.
        UsageError: something that a dead owner left behind cannot be ended.
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
    run = await store.run(run.id) or run  # until a moment ago, another may have been at work on it
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
    if state.ended is not None and (passed or await _end_was_told(store, state, run.id)):
        state = evolve(state, decision=None)
    alive_until = (last.at if last else run.started_at).timestamp()
    return TakenOver(run, state, await store.last_seq(run.id), requests, orphans, alive_until)


async def interrupted(store: Store, run: RunRecord) -> int:
    """The iteration that was begun last and has no record; where there is none, what the run says of earlier ones."""
    last = await _last_event(store, run.id)
    return last.iteration if last and last.iteration > await store.last_iteration(run.id) else run.interrupted


async def _end_was_told(store: Store, state: RunState, run_id: str) -> bool:
    """Whether the run had come to the end that its last iteration brought: who took it up since then went past it."""
    latest = store.events(run_id, after=max(0, await store.last_seq(run_id) - _LATEST))
    return any([isinstance(event, RunFinished) and event.iteration == state.number async for event in latest])


async def _last_event(store: Store, run_id: str) -> Event | None:
    events = [event async for event in store.events(run_id, after=max(0, await store.last_seq(run_id) - 1))]
    return events[-1] if events else None


async def left_at_work(store: Store, workspace: str) -> tuple[str, ...]:
    """Ends what crashed runs have left at work in a folder in which another one is to begin; their names."""
    crashed = [run.owner for run in await store.runs(workspace=workspace, limit=_LATELY) if run.state != "finished"]
    ended = [await end_orphans(owner) for owner in crashed if owner is not None and has_died(owner)]
    return tuple(name for names in ended for name in names)


async def checkpoint_before(store: Store, run_id: str, iteration: int) -> str | None:
    """The commit that holds the workspace as it was when an iteration was first begun; None where there is none."""
    async for event in store.events(run_id):
        if isinstance(event, IterationStarted) and event.iteration == iteration:
            return event.checkpoint
    return None
