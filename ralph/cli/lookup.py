"""Finding runs in the store."""

import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import psutil

from ralph.cli.plugin_loading import plugins_of
from ralph.cli.store_url import stated_store
from ralph.errors import UsageError
from ralph.loop.ownership import has_died, is_here
from ralph.plugins.stores import is_foreign, open_store
from ralph.records.record import RunRecord
from ralph.store import Store, file_of
from ralph.store.memory import MemoryStore
from ralph.system.process_tree import lives

__all__ = ["find_run", "is_alive", "opened_store", "state_of", "where"]


@asynccontextmanager
async def opened_store(name: str | None, folder: Path | None = None) -> AsyncGenerator[Store]:
    """The store that the command line names, else the one of the settings in force in a folder.

    One that is not there yet is not made by looking into it: an empty one stands for it.
    """
    here = folder or Path.cwd()
    place = stated_store(name, here)
    store = open_store(place, lambda: plugins_of(here))
    path = None if is_foreign(place) else file_of(place)
    async with store if path is None or _exists(path) else MemoryStore() as opened:
        yield opened


async def find_run(store: Store, name: str) -> RunRecord:
    """The run of that id, of the one id that begins so, or for "last" the newest. Raises `UsageError`."""
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


def _exists(path: Path) -> bool:
    """Whether a file is there, or is kept from us."""
    try:
        path.stat()
    except FileNotFoundError:
        return False
    except OSError:
        pass
    return True


def is_alive(run: RunRecord) -> bool:
    """Whether the process that had an unfinished run is still there, as far as can be told from here."""
    if run.state == "finished":
        return False
    if run.owner is not None:
        elsewhere = run.owner.host != socket.gethostname()
        return not has_died(run.owner) and (is_here(run.owner) or elsewhere)
    try:
        return run.pid > 0 and lives(psutil.Process(run.pid))
    except psutil.Error:
        return False


def state_of(run: RunRecord) -> str:
    """Where a run stands, in a word: why it stopped, or "running", "paused", "crashed"."""
    if run.state == "finished":
        return run.stop_reason or "finished"
    return run.state if is_alive(run) else "crashed"


def where(run: RunRecord) -> str:
    """The process that has a run, for people."""
    if run.owner is None or is_here(run.owner):
        return f"process {run.pid}"
    return f"process {run.owner.pid} on {run.owner.host}"
