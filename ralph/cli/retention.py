"""The limit on the state folder: at the end of a run, what the oldest finished runs need most room for is removed.

That is their checkpoints and their transcripts; the record of a run, with its iterations and why it stopped, stays.
"""

import os
import re
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing, suppress
from itertools import filterfalse
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from ralph.cli.checkpoints import forget_checkpoints
from ralph.cli.lookup import is_alive
from ralph.errors import RalphError
from ralph.workspace.lock import WorkspaceLock, state_folder

if TYPE_CHECKING:
    from ralph.records.record import RunRecord
    from ralph.store import Store

_MOST_RUNS = 100_000
_PATIENCE = 60.0
_NAMED = 3
_PASSING = re.compile(r"\.db-(?:wal|shm|journal)$")


async def make_room(limit: int, store: "Store", current: str, tell: Callable[[str], None]) -> None:
    """Remove checkpoints and transcripts until the state folder is within its limit, the oldest runs' first.

    Neither those of an active run nor those of the current one are removed. It ends after a minute, and what is left to
    remove is removed at the end of the next run.

    Args:
        limit: in bytes.
        store: the store of the runs.
        current: the id of the run that has just ended.
        tell: called with a sentence if the folder was over its limit.
    """
    before = size = await anyio.to_thread.run_sync(measured)
    if size <= limit:
        return
    removed: list[str] = []
    with anyio.move_on_after(_PATIENCE), suppress(RalphError):
        async with store as opened:
            for run in reversed(await opened.runs(limit=_MOST_RUNS)):
                if run.id != current and await _forget(opened, run):
                    removed.append(run.id)
                    if (size := await anyio.to_thread.run_sync(measured)) <= limit:
                        break
    more = f" It still has {_shown(size)}: remove runs with `ralph runs prune`, or raise the limit."
    freed = f" Removed to make room: the checkpoints and transcripts of {_names(removed)}." if removed else ""
    was = f"{state_folder()} had {_shown(before)}; its limit (state_limit) is {_shown(limit)}."
    tell(f"{was}{freed}{more * (size > limit)}")


def _names(runs: Sequence[str]) -> str:
    more = f" and {len(runs) - _NAMED} more runs" if len(runs) > _NAMED else ""
    return ", ".join(runs[:_NAMED]) + more


async def _forget(store: "Store", run: "RunRecord") -> bool:
    """Remove the checkpoints and the transcript of a finished run; return False if that is not possible now."""
    if run.state != "finished" or run.forgotten or is_alive(run) or await store.leased(run.id):
        return False
    try:
        with ExitStack() as locks:
            for folder in filter(None, (run.workspace, run.origin)):
                lock = WorkspaceLock(Path(folder))
                lock.acquire(run.id)  # cleaning up must not meet a checkpoint that is being made in that folder
                locks.callback(lock.release)
            await forget_checkpoints(run)
            await store.forget_transcript(run.id)
    except RalphError:
        return False
    return True


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
