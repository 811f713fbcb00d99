"""The store that a command means, and the runs in it."""

import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ralph.cli.plugin_loading import plugins_of
from ralph.cli.store_url import configured_store
from ralph.errors import UsageError

if TYPE_CHECKING:
    from ralph.records.record import IterationRecord, RunRecord
    from ralph.store import Store

__all__ = ["find_iteration", "find_run", "is_alive", "opened_run", "opened_store", "owner_text", "run_state"]


@asynccontextmanager
async def opened_store(name: str | None, folder: Path | None = None) -> "AsyncGenerator[Store]":
    """Open the store that the command line names, else that of the settings for a folder.

    Reading does not create a store: an empty one in memory replaces a missing file.
    """
    from ralph.plugins.registry import is_foreign, open_store
    from ralph.store import file_of
    from ralph.store.memory import MemoryStore

    here = folder or Path.cwd()
    url = configured_store(name, here)
    store = open_store(url, lambda: plugins_of(here))
    path = None if is_foreign(url) else file_of(url)
    async with store if path is None or _exists(path) else MemoryStore() as opened:
        yield opened


@asynccontextmanager
async def opened_run(run: str, store: str | None) -> "AsyncGenerator[tuple[Store, RunRecord]]":
    """Open the store, and find a run in it; the arguments are those of `find_run` and `opened_store`."""
    async with opened_store(store) as opened:
        yield opened, await find_run(opened, run)


async def find_run(store: "Store", name: str) -> "RunRecord":
    """Return the run with an id, with the only id that starts so, or for "last" the newest. Raises `UsageError`."""
    if name == "last":
        if newest := await store.runs(limit=1):
            return newest[0]
        raise UsageError("There is no run in the store yet.", "`ralph run` makes one.")
    if run := await store.run(name):
        return run
    alike = [run.id for run in await store.runs(limit=10_000) if name and run.id.startswith(name)]
    if alike:
        raise UsageError(f"Several runs begin with {name!r}: {', '.join(alike[:5])}.", "Give more of the id.")
    raise UsageError(f"There is no run {name[:80]!r} in the store.", "`ralph runs` lists them; `last` is the newest.")


async def find_iteration(store: "Store", run: "RunRecord", number: int) -> "IterationRecord":
    """Return an iteration of a run. Raises `UsageError`."""
    if iteration := await store.iteration(run.id, number):
        return iteration
    raise UsageError(f"Run {run.id} has no iteration {number}.", f"`ralph show {run.id}` lists those that it has.")


def _exists(path: Path) -> bool:
    """Return whether a file exists, also if this cannot be found out."""
    try:
        path.stat()
    except FileNotFoundError:
        return False
    except OSError:
        pass
    return True


def is_alive(run: "RunRecord") -> bool:
    """Return whether the process of an unfinished run still exists, as far as this machine can see."""
    import psutil

    from ralph.loop.ownership import has_died, is_here
    from ralph.system.process_tree import lives

    if run.state == "finished":
        return False
    if run.owner is not None:
        elsewhere = run.owner.host != socket.gethostname()
        return not has_died(run.owner) and (is_here(run.owner) or elsewhere)
    try:
        return run.pid > 0 and lives(psutil.Process(run.pid))
    except psutil.Error:
        return False


def run_state(run: "RunRecord") -> str:
    """Return why a run stopped, or "running", "paused" or "crashed"."""
    if run.state == "finished":
        return run.stop_reason or "finished"
    return run.state if is_alive(run) else "crashed"


def owner_text(run: "RunRecord") -> str:
    """Return the process that owns a run, as shown to the user."""
    from ralph.loop.ownership import is_here

    if run.owner is None or is_here(run.owner):
        return f"process {run.pid}"
    return f"process {run.owner.pid} on {run.owner.host}"
