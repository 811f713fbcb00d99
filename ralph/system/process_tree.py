"""The tree of processes below a program: marking it, finding it and ending it.

A process is always named by its number and the time when it was created, so that a number which the system gave to
another process in the meantime is never hit. What its parent left behind belongs to nobody and is found by a mark: an
environment variable, which children inherit.
"""

import os
import secrets
from collections.abc import Callable, Iterable, Mapping

import anyio
import anyio.to_thread
import psutil

__all__ = [
    "GRACE",
    "MARK",
    "end_family",
    "end_tree",
    "known",
    "lives",
    "mark_of_this_process",
    "marked",
    "new_marker",
    "started_by",
    "started_here",
    "survivors",
]

MARK = "RALPH_TURN"
"""The environment variable that marks what Ralph started. A Ralph within a Ralph adds its own mark after a colon."""

GRACE = 2.0
"""How long, in seconds, a program has between being asked to end and being killed."""


_THIS_PROGRAM = secrets.token_hex(8)


def new_marker() -> str:
    """A mark that no other process carries."""
    return f"{mark_of_this_process()}.{secrets.token_hex(8)}"


def mark_of_this_process() -> str:
    """What this process's marks begin with, up to a dot; one that was forked off makes marks of its own."""
    return f"{_THIS_PROGRAM}-{os.getpid()}"


def marked(environment: Mapping[str, str], marker: str) -> dict[str, str]:
    """The environment with the mark, beside the one that it may have already."""
    outer = environment.get(MARK)
    return {**environment, MARK: f"{outer}:{marker}" if outer else marker}


async def end_tree(root: psutil.Process | int, grace: float = GRACE, *, marker: str | None = None) -> None:
    """Ends a process, its descendants and whatever carries the mark: asks, waits up to `grace` seconds, then kills."""
    await end_family({root} if isinstance(root, psutil.Process) else known(root), grace, marker=marker)


async def end_family(roots: Iterable[psutil.Process], grace: float = GRACE, *, marker: str | None = None) -> None:
    """Ends processes with their descendants and whatever carries the mark, as `end_tree` does.

    It goes on until a look finds nothing alive, a bounded number of times, for a tree can grow while it is felled.
    A process that is gone already, or is not ours to end, is passed over.
    """
    family = await anyio.to_thread.run_sync(_family, roots, marker)
    _signal(family, psutil.Process.terminate)
    await _wait_gone(family, grace)
    for _ in range(10):
        again = await anyio.to_thread.run_sync(_family, family, marker)
        family = {process for process in again if lives(process)}
        if not family:
            return
        _signal(family, psutil.Process.kill)
        await _wait_gone(family, 1.0)


def survivors(marker: str) -> set[psutil.Process]:
    """The processes that carry the mark, whoever their parent is. It reads the environment of every process."""
    return _carrying(lambda mark: mark == marker)


def started_here() -> set[psutil.Process]:
    """The processes that carry any mark of this process's making, whoever their parent is."""
    return started_by(mark_of_this_process())


def started_by(process_mark: str) -> set[psutil.Process]:
    """The processes that carry any mark of a process's making, which may be gone: see `mark_of_this_process`."""
    return _carrying(lambda mark: mark.startswith(f"{process_mark}."))


def known(pid: int) -> set[psutil.Process]:
    """The process of that number, if there is one: a short-lived one may be gone before it is looked at."""
    try:
        return {psutil.Process(pid)}
    except psutil.NoSuchProcess:
        return set()


def lives(process: psutil.Process) -> bool:
    """Whether it can still do anything; one that waits to be reaped cannot."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def _carrying(wanted: Callable[[str], bool]) -> set[psutil.Process]:
    found: set[psutil.Process] = set()
    for pid in psutil.pids():
        try:
            process = psutil.Process(pid)
            if any(map(wanted, process.environ().get(MARK, "").split(":"))):
                found.add(process)
        except (psutil.Error, OSError):
            continue
    return found


def _family(roots: Iterable[psutil.Process], marker: str | None) -> set[psutil.Process]:
    family = set(roots)
    for root in tuple(family):
        try:
            family.update(root.children(recursive=True))
        except psutil.Error:
            continue
    return family | survivors(marker) if marker else family


def _signal(family: Iterable[psutil.Process], send: Callable[[psutil.Process], None]) -> None:
    """The oldest first: an agent whose tool ends before it hears anything itself goes on with its work."""
    for process in sorted(family, key=_born):
        try:
            send(process)
        except (psutil.Error, OSError):
            continue


def _born(process: psutil.Process) -> tuple[float, int]:
    """When it began, to a hundredth of a second, and its number, which tells more where both began at once."""
    try:
        return process.create_time(), process.pid
    except psutil.Error:
        return 0.0, process.pid


async def _wait_gone(family: Iterable[psutil.Process], patience: float) -> None:
    """Returns when none lives, or after `patience` seconds. It has to look: the system tells an end to parents only."""
    pause = 0.002
    with anyio.move_on_after(patience):
        while any(lives(process) for process in family):
            await anyio.sleep(pause)
            pause = min(2 * pause, 0.05)
