"""Which runs `ralph runs prune` removes."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from ralph.cli.checkpoints import forget
from ralph.cli.lookup import is_alive, opened_store
from ralph.cli.worktree import tell_left
from ralph.errors import RunOwnedError, UsageError
from ralph.records.record import RunRecord
from ralph.settings import parse_duration
from ralph.store import Store

__all__ = ["Pruned", "long_ago", "prune"]

_ALL = 1_000_000


class Pruned(NamedTuple):
    """What came of it, or would.

    Attributes:
        removed: the ids of the runs that are gone, newest first.
        kept: how many others there are.
        worktrees: those that the runs that are gone leave behind.
    """

    removed: list[str]
    kept: int
    worktrees: list[str]


def long_ago(age: str) -> datetime:
    """The moment so long ago. Raises `UsageError`, also for a number alone: whoever means days must not lose what is
    older than as many seconds.
    """
    try:
        seconds = 86400 * float(age[:-1]) if age.endswith("d") else float(str(parse_duration(age)))
        if seconds >= 0 and age[-1].isalpha():
            return datetime.now(UTC) - timedelta(seconds=seconds)
    except (ValueError, OverflowError):
        pass
    raise UsageError(f"--older-than {age!r} is not an age.", "Write 90s, 15m, 12h or 30d.")


async def prune(name: str | None, folder: Path | None, *, before: datetime | None, keep: int, dry_run: bool) -> Pruned:
    """Removes runs but for the newest ones, for those of which something came since a moment, and for live ones.

    Those of a folder are also those in worktrees of it. A worktree that a run has left stays, and is told of. The
    runs' room is given back where no run is at work that would have to wait for that.
    """
    removed: list[str] = []
    worktrees: list[str] = []
    async with opened_store(name, folder) as store:
        every = await store.runs(limit=_ALL)
        found = [run for run in every if folder is None or str(folder) in {run.workspace, run.origin}]
        live = {run.id for run in found if run.state != "finished" and (is_alive(run) or await store.leased(run.id))}
        for run in found[keep:]:
            wanted = run.id not in live and (before is None or await _last_sign(store, run) < before)
            if wanted and (dry_run or await _remove(store, run)):
                removed.append(run.id)
                worktrees += await tell_left(run, would=dry_run)
        if removed and not live and not dry_run:
            await store.compact()
    return Pruned(removed, len(found) - len(removed), worktrees)


async def _remove(store: Store, run: RunRecord) -> bool:
    """Removes a run; False where somebody has just taken it up."""
    try:
        await store.remove(run.id)
    except RunOwnedError:
        return False
    await forget(run)
    return True


async def _last_sign(store: Store, run: RunRecord) -> datetime:
    """When something last came of a run."""
    if run.finished_at is not None:
        return run.finished_at
    last = await store.iteration(run.id, await store.last_iteration(run.id))
    return last.finished_at if last else run.started_at
