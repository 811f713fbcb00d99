"""The removal of runs' checkpoints: of runs that were removed, and to keep the state folder within its limit.

At the end of a run, the oldest finished runs give up what they need most room for: their checkpoints and transcripts.
The record of a run, with its iterations and why it stopped, stays.
"""

import os
import re
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import ExitStack, closing, suppress
from datetime import UTC, datetime
from itertools import filterfalse
from pathlib import Path

import anyio
import anyio.to_thread

from ralph.errors import RalphError, UsageError, WorkspaceError
from ralph.records.record import RunRecord
from ralph.store.base import Store
from ralph.system.text import some_of
from ralph.types import evolve
from ralph.workspace import PlainWorkspace, Workspace, open_workspace
from ralph.workspace.checkpoints import forget_folder
from ralph.workspace.lock import WorkspaceLock, state_folder

_MOST_RUNS = 100_000
_PATIENCE = 60.0
_PASSING = re.compile(r"\.db-(?:wal|shm|journal)$")


async def make_room(limit: int | None, store: Store, ended: RunRecord, tell: Callable[[str], None]) -> None:
    """Remove checkpoints and transcripts until the state folder is within its limit, the oldest runs' first.

    Neither those of an active run nor those of the one that has just ended are removed. It ends after a minute; what is
    left to remove is removed at the end of the next run, as after a run that was cancelled.

    Args:
        limit: in bytes; None for none.
        tell: called with a sentence if the folder was over its limit.
    """
    if limit is None or ended.stop_reason == "cancelled":
        return
    before = size = await anyio.to_thread.run_sync(measured)
    if size <= limit:
        return
    removed: list[str] = []
    why = f"removed to keep the state folder under {_shown(limit)} on {datetime.now(UTC):%Y-%m-%d}"
    with anyio.move_on_after(_PATIENCE), suppress(RalphError):
        for run in reversed(await store.runs(limit=_MOST_RUNS)):
            if run.id != ended.id and await _forget(store, run, why):
                removed.append(run.id)
                if (size := await anyio.to_thread.run_sync(measured)) <= limit:
                    break
    more = f" It still has {_shown(size)}: remove runs with `ralph runs prune`, or raise the limit."
    freed = f" Removed to make room: the checkpoints and transcripts of {some_of(removed, 3)}." if removed else ""
    was = f"{state_folder()} had {_shown(before)}; its limit (state_limit) is {_shown(limit)}."
    tell(f"{was}{freed}{more * (size > limit)}")


async def _forget(store: Store, run: RunRecord, why: str) -> bool:
    """Remove the checkpoints and the transcript of a finished run; return False if that is not possible now."""
    if run.state != "finished" or run.forgotten or run.pruned or await store.leased(run.id):
        return False
    try:
        if not await forget_checkpoints(run, while_busy=False):
            return False
        await store.forget_transcript(run.id)
        if now := await store.run(run.id):
            await store.append(run.id, (), run=evolve(now, pruned=why))
    except RalphError:
        return False
    return True


async def forget_checkpoints(run: RunRecord, *, while_busy: bool = True) -> bool:
    """Release the checkpoints of a run; those of an imported copy stay.

    The objects that only they kept are removed only with the lock on the folder, as those of a checkpoint in the making
    look the same.

    Args:
        run: the record, which may have been removed from the store.
        while_busy: release the checkpoints also if a run is active in the folder; the room is freed another time.

    Returns:
        False if nothing was released because of an active run.
    """
    if run.workspace is None or run.imported:
        return True
    with ExitStack() as locks:
        free = True
        try:
            for folder in filter(None, (run.workspace, run.origin)):
                lock = WorkspaceLock(Path(folder))
                lock.acquire(run.id)
                locks.callback(lock.release)
        except WorkspaceError:
            free = False
        if not free and not while_busy:
            return False
        if free and not await anyio.Path(run.workspace).exists():
            await anyio.to_thread.run_sync(forget_folder, Path(run.workspace))
        with suppress(WorkspaceError):
            await workspace_of(run, read_only=True).forget(run.id, free=free)
    return True


def workspace_of(run: RunRecord, *, read_only: bool = False, excluded: Iterable[Path] = ()) -> Workspace:
    """Return the workspace of a run. Raises `UsageError` if it had none, `WorkspaceError` if its folder is gone.

    With `read_only`, the folder itself may be gone: its checkpoints are elsewhere. The files `excluded` belong to
    this process and are not restored.
    """
    if run.workspace is None:
        raise UsageError(f"Run {run.id} had no workspace.", "Only a run with a workspace has checkpoints.")
    folder = Path(run.workspace)
    if folder.exists():
        return open_workspace(folder, own_files=excluded)
    if read_only:
        removed = PlainWorkspace(folder)
        if removed.checkpoints is not None and removed.checkpoints.folder.exists():
            return removed
        if run.origin:  # an earlier version kept them there
            return open_workspace(Path(run.origin))
    raise WorkspaceError(
        f"The folder of run {run.id} no longer exists: {folder}.", "Its checkpoints belong to that folder."
    )


def measured() -> int:
    """Return the bytes of the state folder.

    Worktrees do not count, which are the user's work, nor files that it shares with the user's repositories, nor what a
    store has for the moment only.
    """
    total = 0
    for where, folders, names in os.walk(state_folder()):
        folders[:] = [name for name in folders if name != "worktrees"]
        for name in filterfalse(_PASSING.search, names):
            path = Path(where, name)
            try:
                found = path.lstat()
                shared = found.st_nlink > 1  # a pack of the user's own repository
                total += 0 if shared else found.st_size - (_unused(path) if path.suffix == ".db" else 0)
            except OSError:
                continue
    return total


def _unused(path: Path) -> int:
    """Return the bytes in a SQLite file that are free for new rows."""
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=1.0)) as connection:
            numbers = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("freelist_count", "page_size")]
    except sqlite3.Error:
        return 0
    return numbers[0] * numbers[1]


def _shown(size: int) -> str:
    return f"{size / 1024**3:.1f} GB" if size >= 1024**3 else f"{size / 1024**2:.0f} MB"
