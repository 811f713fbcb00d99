"""The store that a command means, and the runs in it."""

import os
import re
import shlex
import socket
import sys
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from ralph.cli.output import confirmed
from ralph.cli.plugins import plugins_of
from ralph.errors import RalphError, UsageError
from ralph.settings.sources import user_file
from ralph.system.files import home_folders, read_regular
from ralph.system.text import one_line, printable, some_of

if TYPE_CHECKING:
    from ralph.records.record import IterationRecord, RunRecord
    from ralph.store import Store

_NOT_SETTINGS = {"RALPH_DEBUG", "RALPH_PLUGINS", "RALPH_TURN"}
_MOST_BYTES = 1_000_000
_LATEST = 200
"""The number of newest runs that are searched for those in a worktree of a folder."""


def configured_store(name: str | None, folder: Path) -> str | None:
    """Return the store that the command line names, else that of the settings for a folder; None for the user's own."""
    if name is not None:
        return name
    variables = {key for key in os.environ if key.upper().startswith("RALPH_")} - _NOT_SETTINGS
    files = (folder / "ralph.toml", user_file())  # looking for them is faster than reading the settings
    if variables <= {"RALPH_STORE"} and not (any(map(os.path.lexists, files)) or _names_us(folder / "pyproject.toml")):
        return os.environ.get("RALPH_STORE")
    from ralph.cli.settings import usable_settings

    return usable_settings(folder).settings.store


def given_store(arguments: Sequence[str]) -> str | None:
    """Return the store that the program's arguments name, by `--store` or by the settings of the folder after `-C`."""
    store, folder = option_value(arguments, "--store"), option_value(arguments, "--directory", "-C")
    if store is not None or folder is None:
        return store
    from ralph.settings import workspace_folder

    try:
        return configured_store(None, workspace_folder(Path(folder)))
    except RalphError:  # it is being reported already
        return None


def option_value(arguments: Sequence[str], *names: str) -> str | None:
    """Return the last value of an option among the program's arguments; None if it is not given."""
    words = [word for each in arguments for word in (each.split("=", 1) if each.startswith("--") else [each])]
    return next((value for name, value in reversed([*pairwise(words)]) if name in names), None)


def store_option(store: str | None) -> str:
    """Return the `--store` option for a suggested command, without a password; empty for None."""
    if store is None:
        return ""
    url = re.sub(r"(?<=://)([^/@:]*):.*(?=@)", r"\1", store)
    return f" --store {shlex.quote(url)}"


def _names_us(path: Path) -> bool:
    try:
        return b"ralph" in read_regular(path, _MOST_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True  # the reader of the settings reports it


@asynccontextmanager
async def opened_store(name: str | None, folder: Path | None = None) -> "AsyncGenerator[Store]":
    """Open the store that the command line names, else that of the settings for a folder.

    Reading does not create a store: an empty one in memory replaces a missing file.

    Raises:
        UsageError: the command line names a file that does not exist.
    """
    from ralph.plugins.registry import is_foreign, open_store
    from ralph.store import MemoryStore, file_of

    here = folder or Path.cwd()
    url = configured_store(name, here)
    store = open_store(url, lambda: plugins_of(here, usable=True))
    path = None if is_foreign(url) else file_of(url)
    there = path is None or _exists(path)
    if name is not None and not there:
        raise UsageError(f"There is no store {name[:200]!r} yet.", "Correct --store; or `ralph run` makes one.")
    async with store if there else MemoryStore() as opened:
        await _end_left_behind(opened, here)
        yield opened
        for problem in opened.unreadable:
            sys.stderr.write(f"ralph: {one_line(problem, 400)}\n")


async def _end_left_behind(store: "Store", folder: Path) -> None:
    """End what a Ralph that was killed right after the end of a run has left running, and say so."""
    from ralph.loop.ownership import end_left_behind

    try:
        ended = await end_left_behind(store, str(folder), finished=True)
    except RalphError as error:  # a broken store is the command's own subject
        if isinstance(error, UsageError):
            sys.stderr.write(f"ralph: {one_line(str(error), 400)}\n")
    else:
        if ended:
            sys.stderr.write(f"ralph: Ended what a killed Ralph had left running: {one_line(', '.join(ended), 400)}.\n")


@asynccontextmanager
async def opened_run(
    run: str, store: str | None, *, any_folder: bool = False
) -> "AsyncGenerator[tuple[Store, RunRecord]]":
    """Open the store, and find a run in it; the arguments are those of `find_run` and `opened_store`."""
    async with opened_store(store) as opened:
        yield opened, await find_run(opened, run, any_folder=any_folder)


async def find_run(store: "Store", name: str, folder: Path | None = None, *, any_folder: bool = False) -> "RunRecord":
    """Return a run of a store.

    Args:
        name: its id, the beginning of it, or "last" for the newest of the folder.
        folder: the folder that is meant; None for the current one.
        any_folder: "last" is the newest run of all folders.

    Raises:
        UsageError: there is no such run, or more than one.
    """
    if name == "last":
        here = folder or Path.cwd()
        if last := next(iter(await store.runs(limit=1)), None) if any_folder else await _last_run(store, here):
            return last
        if any_folder or not await store.runs(limit=1):
            raise UsageError("There is no run in the store yet.", "`ralph run` makes one.")
        raise UsageError(
            f"There is no run in {here} yet.",
            "With --any, the last run of any folder is meant; `ralph runs` lists them.",
        )
    if run := await store.run(name):
        return run
    alike = [run.id for run in await store.runs(limit=10_000) if name and run.id.startswith(name)]
    if alike:
        raise UsageError(f"Several runs begin with {name!r}: {', '.join(alike[:5])}.", "Give more of the id.")
    raise UsageError(f"There is no run {name[:80]!r} in the store.", "`ralph runs` lists them all.")


async def _last_run(store: "Store", folder: Path) -> "RunRecord | None":
    """Return the newest run of a folder, of a worktree that was made for it, or else of the nearest one around it."""
    worktrees = [run for run in await store.runs(limit=_LATEST) if run.origin]
    for place in map(str, _within_repository(folder)):
        found = await store.runs(workspace=place, limit=1)
        found += [run for run in worktrees if run.origin == place][:1]
        if found:
            return max(found, key=lambda run: run.started_at)
    return None


def _within_repository(folder: Path) -> list[Path]:
    """Return a folder and those around it up to the top of its git repository; only itself without one.

    A repository of a whole home folder, or of the disk, has other projects in it, so it does not count.
    """
    places = [folder, *folder.parents]
    gits = (place / ".git" for place in places)  # a worktree has a file there
    top = next((number for number, git in enumerate(gits) if git.is_file() or os.path.lexists(git / "HEAD")), 0)
    return [folder] if places[top] in (*home_folders(), places[-1]) else places[: top + 1]


def require_meant(does: str, runs: "Iterable[RunRecord]", folder: Path | None = None, *, yes: bool) -> None:
    """Ask the user before files or checkpoints of another folder are changed than the current one, or its repository.

    Args:
        does: what is to be done, as in "change files".
        runs: the runs that are concerned; those whose folders no longer exist are not.
        folder: the folder that is meant; None for the current one.
        yes: the user has agreed already.

    Raises:
        UsageError: the user does not agree, or cannot be asked because there is no terminal.
    """
    here = folder or Path.cwd()
    meant = {str(here), str(_within_repository(here)[-1])}
    elsewhere = {run.workspace for run in runs if run.workspace and meant.isdisjoint((run.workspace, run.origin))}
    others = [place for place in sorted(elsewhere) if Path(place).exists()]
    if yes or not others:
        return
    problem = f"This would {does} in {some_of(others)}; the current folder is {here}."
    if sys.stdin.isatty() and sys.stderr.isatty():
        sys.stderr.write(f"{printable(problem)}\n")
        if confirmed("Continue?"):
            return
    raise UsageError(problem, "If you mean that, add --yes, or call it there.")


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
