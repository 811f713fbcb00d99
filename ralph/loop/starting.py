"""The start of a run in this process: a new one, or one that another process has left."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from time import monotonic
from typing import Any

from ralph.errors import UsageError
from ralph.loop.iteration import ActiveRun, Parts, preflight
from ralph.loop.lease import Stop
from ralph.loop.lifecycle import started
from ralph.loop.ownership import this_process
from ralph.loop.recovery import checkpoint_before, end_orphans_in, taken_over
from ralph.records.events import Diagnosed, Event, OrphansEnded, VerificationFinished
from ralph.records.record import RunRecord, RunState
from ralph.store.base import Store
from ralph.system.text import storable
from ralph.types import evolve
from ralph.types.output import Checkpoint
from ralph.types.verification import Verification
from ralph.workspace.base import Snapshot, Workspace

__all__ = ["Starting", "begin", "take_up"]


@dataclass(frozen=True, slots=True)
class Starting:
    """The parts of a runner that the start of a run needs.

    Attributes:
        settings: as they are kept in the run's record.
        new_stop: makes the stop signal of the run.
        activate: takes the run into the runner's hands: its record, state, owner and stop signal, and the `seq` of its
            last event.
    """

    parts: Parts
    store: Store
    settings: dict[str, Any]
    new_stop: Callable[[], Stop]
    activate: Callable[..., ActiveRun]


async def begin(starting: Starting, task: str, run_id: str) -> ActiveRun:
    """Start a new run: look at the workspace, ask the verifiers, and store its record.

    Raises:
        UsageError: the task is empty, the workspace is in use, or a verifier cannot start.
    """
    if not task.strip():
        raise UsageError("The task is empty.", "Say what the agent should do.")
    parts, stop = starting.parts, starting.new_stop()
    now, owner = parts.clock.now(), this_process()
    parts.workspace.acquire(run_id)
    orphans = await end_orphans_in(starting.store, str(parts.workspace.path))
    began = monotonic()
    verification = await preflight(parts, parts.redactor(task), stop)
    verified_for = monotonic() - began
    before, checkpoint = Snapshot(problem="The run was ended before it was scanned."), Checkpoint()
    with stop.watched(), parts.workspace.reporting_progress():
        before = await parts.workspace.snapshot()
        checkpoint = await parts.workspace.checkpoint(run_id, 0, "after", seen=before)
    record = RunRecord(
        id=run_id,
        task=parts.redactor(task),
        workspace=str(parts.workspace.path),
        origin=str(parts.workspace.origin) if parts.workspace.origin else None,
        onto=parts.workspace.onto,
        settings=starting.settings,
        started_at=now,
        pid=owner.pid,
        owner=owner,
        apart=_apart(parts.workspace),
        fingerprint=before.fingerprint,
        checkpoint=checkpoint.commit,
        plan=parts.read_plan(),
    )
    await starting.store.create(record, owner=owner.token)
    run = starting.activate(record, RunState.of(record), owner, stop, seq=0)
    run.before = before
    green = verification is not None and verification.passed and len(verification.verdicts) == len(parts.verifiers)
    told: list[Event] = [started(parts, run, already_green=green), *_ended(run, orphans, parts.clock.now())]
    if verification is not None:
        run.state = evolve(run.state, spent=run.state.spent.waited(verified_for))
        told.append(_verified(run, verification, at=parts.clock.now()))
    await run.log.commit(*told)
    return run


async def take_up(
    starting: Starting, record: RunRecord, anew: Collection[str] = (), *, from_checkpoint: bool = False
) -> ActiveRun:
    """Make a stored run this process's own, and find out how far it is by a fold over its records.

    Args:
        starting: the parts of the runner.
        record: of the run.
        anew: the names of limits that are meant as they are, without earlier extensions.
        from_checkpoint: take the workspace back to its state before the iteration that was cut off.

    Raises:
        UsageError: the workspace is in use, or there is no such checkpoint.
        RunOwnedError: another process works on the run.
    """
    parts, owner = starting.parts, this_process()
    parts.workspace.acquire(record.id)
    found = await taken_over(starting.store, record, owner, settings=starting.settings, anew=anew)
    record = evolve(found.record, apart=_apart(parts.workspace, found.record.apart))
    run = starting.activate(record, found.state.as_of(parts.clock.now()), owner, starting.new_stop(), seq=found.seq)
    run.inbox.recall(found.requests)
    told: list[Event] = [started(parts, run, resumed=True), *_ended(run, found.orphans, parts.clock.now())]
    await run.checkpointing.restore_protected(run.state.number, until=found.alive_until)
    if from_checkpoint:
        told.append(await _restore(starting, run))
    await run.log.commit(*told, run=run.record)
    return run


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


def _apart(workspace: Workspace, before: Iterable[str] = ()) -> tuple[str, ...]:
    """The paths in a workspace that are Ralph's own, with those that were so in the run's earlier processes."""
    workspace.own_files.update(before)
    return tuple(sorted(map(storable, workspace.own_files)))


def _ended(run: ActiveRun, orphans: tuple[str, ...], at: datetime) -> list[Event]:
    return [OrphansEnded(**run.stamp(at, iteration=0), processes=orphans)] if orphans else []


def _verified(run: ActiveRun, verification: Verification, *, at: datetime) -> VerificationFinished:
    return VerificationFinished(
        **run.stamp(at, iteration=0), passed=verification.passed, verdicts=verification.verdicts
    )
