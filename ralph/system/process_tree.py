"""The tree of processes below a program: marking it, finding it and ending it.

A process is always named by its number and its start, so that a number which the system gave to another process in the
meantime is never hit. Under Linux the start is counted in ticks since the boot: setting the clock does not move it. A
process without its parent is found by a mark: an environment variable, which children inherit.
"""

import hashlib
import os
import platform
import re
import secrets
import shutil
import stat
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

import anyio
import anyio.to_thread
import psutil

MARK = "RALPH_TURN"
"""The environment variable that marks what Ralph started. A Ralph within a Ralph adds its own mark after a colon."""

GRACE = 2.0
"""Seconds between the request to end and the kill."""

_THIS_PROGRAM = secrets.token_hex(8)

_SCRATCH = re.compile(r"ralph-.*-([0-9]{1,10})\.(t?[0-9]{1,20})\.([0-9a-f]{16})-\w+", re.ASCII)
_SAME_START = 5.0
"""Seconds by which two readings of a start by the clock may differ: setting the clock moves it."""


def new_marker() -> str:
    """Return a mark that no other process carries."""
    return f"{mark_of_this_process()}.{secrets.token_hex(8)}"


def mark_of_this_process() -> str:
    """Return the beginning of this process's marks, up to a dot; a forked process makes marks of its own."""
    return f"{_THIS_PROGRAM}-{os.getpid()}"


@cache
def machine() -> str:
    """Return an id of this boot of this machine and of its process-number namespace."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        world = os.readlink("/proc/self/ns/pid")  # noqa: PTH115 - what it says is no path
    except OSError:
        boot, world = f"{platform.node()} {psutil.boot_time():.0f}", ""
    return f"{boot} {world}".strip()


def digest(text: str) -> str:
    """Return a short digest of an id."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def start_of(pid: int) -> str:
    """Return when a process was started: "t" and ticks since the boot, or without /proc, seconds since 1970.

    Raises:
        psutil.NoSuchProcess: there is none of this number.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return f"t{int(fields[19])}"
    except (OSError, IndexError, ValueError):
        return f"{psutil.Process(pid).create_time():.0f}"


def has_ended(pid: int, start: str) -> bool:
    """Return True if the process with this number and start, from `start_of`, is known to be gone."""
    try:
        process = psutil.Process(pid)
        counted = start.startswith("t")
        same = start_of(pid) == start if counted else abs(process.create_time() - float(start)) <= _SAME_START
    except psutil.NoSuchProcess:
        return True
    except psutil.Error:
        return False
    return not (same and lives(process))


def scratch_folder(name: str) -> TemporaryDirectory[str]:
    """Return a temporary folder; after a kill, `remove_left_folders` of another process removes it."""
    owner = f"{os.getpid()}.{start_of(os.getpid())}.{digest(machine())}"
    return TemporaryDirectory(prefix=f"ralph-{name}-{owner}-", ignore_cleanup_errors=True)


def remove_left_folders() -> None:
    """Remove this user's scratch folders whose process has ended; blocks for a moment. No link is followed."""
    for folder in Path(gettempdir()).glob("ralph-*"):
        owner = _SCRATCH.fullmatch(folder.name)
        if owner and owner[3] == digest(machine()) and has_ended(int(owner[1]), owner[2]):
            with suppress(OSError):
                about = folder.lstat()
                if stat.S_ISDIR(about.st_mode) and about.st_uid == os.getuid():
                    shutil.rmtree(folder)


def marked(environment: Mapping[str, str], marker: str) -> dict[str, str]:
    """Return the environment with the mark, in addition to one that it may have already."""
    outer = environment.get(MARK)
    return {**environment, MARK: f"{outer}:{marker}" if outer else marker}


async def end_tree(root: psutil.Process | int, grace: float = GRACE, *, marker: str | None = None) -> None:
    """End a process, its descendants and whatever carries the mark: ask, wait up to `grace` seconds, then kill."""
    await end_family({root} if isinstance(root, psutil.Process) else known(root), grace, marker=marker)


async def end_family(roots: Iterable[psutil.Process], grace: float = GRACE, *, marker: str | None = None) -> None:
    """End processes with their descendants and whatever carries the mark, as `end_tree` does.

    It repeats until nothing is alive, a bounded number of times, because a tree can grow while it is felled. A process
    that is gone already, or is not ours to end, is skipped.
    """
    family = set(roots)
    for send, patience in ((psutil.Process.terminate, grace), *[(psutil.Process.kill, 1.0)] * 10):
        family |= await anyio.to_thread.run_sync(_family, family, marker)
        living = set(filter(lives, family))
        if not living:
            return
        for process in sorted(living, key=_born):  # an agent with a tool that ends before itself continues its work
            with suppress(psutil.Error, OSError):
                send(process)
        await _wait_gone(living, patience)


def survivors(marker: str) -> set[psutil.Process]:
    """Return the processes with the mark, whatever their parent. This reads the environment of every process."""
    return _carrying(lambda mark: mark == marker)


def started_by(*process_marks: str) -> set[psutil.Process]:
    """Return the processes with any mark that one of the processes made, even one that has ended."""
    return _carrying(lambda mark: mark.partition(".")[0] in process_marks)


def known(pid: int) -> set[psutil.Process]:
    """Return the process of that number; a short-lived one may be gone already."""
    try:
        return {psutil.Process(pid)}
    except psutil.NoSuchProcess:
        return set()


def lives(process: psutil.Process) -> bool:
    """Return True if the process can still do anything; a zombie cannot."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def effort(pid: int) -> float | None:
    """Return a number that changes while a tree of processes works; None while one waits for a disk or a processor."""
    total = 0.0
    for process in _family(known(pid), None):
        with suppress(psutil.Error, AttributeError):
            if process.status() in _WAITING:
                return None
            total += sum(process.cpu_times()[:2])
            total += sum(process.io_counters()[:2])  # not on macOS
    return total


_WAITING = {psutil.STATUS_DISK_SLEEP, psutil.STATUS_STOPPED, *([psutil.STATUS_RUNNING] if psutil.LINUX else [])}


def _carrying(wanted: Callable[[str], bool]) -> set[psutil.Process]:
    """Look at every process, then again at those without variables and those that were started meanwhile."""
    found: set[psutil.Process] = set()
    looked: set[int] = set()
    for pause in (0.0, 0.002, 0.01, 0.05, 0.0):
        starting = not looked
        for pid in set(psutil.pids()) - looked:
            looked.add(pid)
            with suppress(psutil.Error, OSError):
                marks = _marks(pid)
                if marks and not any(map(wanted, marks)):
                    continue
                process = psutil.Process(pid)
                if not marks:
                    looked.discard(pid)
                    starting |= lives(process) and time.time() - process.create_time() < _STARTING
                elif any(map(wanted, _marks(pid) or marks)):  # its number was not given away meanwhile
                    found.add(process)
        if not starting:
            break
        time.sleep(pause)
    return found


def _marks(pid: int) -> Sequence[str]:
    """Return the marks of a process, [""] if it has none; [] if it shows no variables."""
    if psutil.LINUX:  # psutil's reading takes longer
        block = os.fsdecode(Path(f"/proc/{pid}/environ").read_bytes())
    else:
        block = "\0".join(map("=".join, psutil.Process(pid).environ().items()))
    return ":".join(re.findall(rf"(?:^|\0){MARK}=([^\0]*)", block)).split(":") if block else []


_STARTING = 2.0
"""Seconds within which a process without variables may be one that becomes a program: it is looked at again.

The system shows its variables only a moment after its parent was told that it runs.
"""


def _family(roots: Iterable[psutil.Process], marker: str | None) -> set[psutil.Process]:
    family = set(roots)
    for root in tuple(family):
        with suppress(psutil.Error):
            family.update(root.children(recursive=True) if root.is_running() else ())
    return family | survivors(marker) if marker else family


def _born(process: psutil.Process) -> tuple[float, int]:
    """Return the time of its start, to a hundredth of a second, and its number, which orders those of one moment."""
    try:
        return process.create_time(), process.pid
    except psutil.Error:
        return 0.0, process.pid


async def _wait_gone(family: Iterable[psutil.Process], patience: float) -> None:
    """Return when none lives, or after `patience` seconds. It polls: the system notifies only parents."""
    pause = 0.002
    with anyio.move_on_after(patience):
        while any(lives(process) for process in family):
            await anyio.sleep(pause)
            pause = min(2 * pause, 0.05)
