"""The owner of a run: the process that works on it, and the orphans of a dead one."""

import hashlib
import os
import platform
import re
import secrets
import socket
from functools import cache
from pathlib import Path

import anyio.to_thread
import psutil

from ralph.errors import UsageError
from ralph.records.record import Owner
from ralph.system.process_tree import end_family, lives, mark_of_this_process, started_by

__all__ = ["Owner", "end_orphans", "has_died", "is_here", "maker_has_died", "this_process"]

_SAME_START = 5.0
"""Seconds by which two readings of one process's start may differ: setting the clock moves it."""

_LOOKS = 5

_TOKEN = re.compile(r"[0-9a-f]{16}\.([0-9]{1,10})\.([0-9]{1,12})\.([0-9a-f]{16})", re.ASCII)
"""A random part, the process number, its start, and its machine."""


def this_process() -> Owner:
    """Return this process as the owner of a run, with a new token."""
    pid, created = os.getpid(), psutil.Process().create_time()
    return Owner(
        token=f"{secrets.token_hex(8)}.{pid}.{created:.0f}.{_digest(_machine())}",
        host=socket.gethostname(),
        machine=_machine(),
        pid=pid,
        created=created,
        mark=mark_of_this_process(),
    )


def is_here(owner: Owner) -> bool:
    """Return True if the owner is, or was, a process of this machine since it was started."""
    return owner.machine == _machine()


def has_died(owner: Owner) -> bool:
    """Return True if the owner is known to be gone; on another machine, only its lease can tell."""
    return is_here(owner) and _gone(owner.pid, owner.created)


def maker_has_died(token: str) -> bool:
    """Return True if the process that made a token is known to be gone.

    A process that takes a run and dies at once leaves nothing but the token.
    """
    said = _TOKEN.fullmatch(token)
    return said is not None and said[3] == _digest(_machine()) and _gone(int(said[1]), float(said[2]))


def _gone(pid: int, created: float) -> bool:
    try:
        process = psutil.Process(pid)
        same = abs(process.create_time() - created) <= _SAME_START
    except psutil.NoSuchProcess:
        return True
    except psutil.Error:
        return False
    return not (same and lives(process))


async def end_orphans(owner: Owner) -> tuple[str, ...]:
    """End the process trees that a dead process left behind; return their numbers and names.

    They carry the mark of their parent, and started after it. This process and its ancestors are left out: you may type
    `ralph resume` in a shell that the dead run's agent had opened.

    Raises:
        UsageError: one of them cannot be ended.
    """
    if not owner.mark or not is_here(owner):
        return ()
    ended: dict[int, str] = {}
    orphans: set[psutil.Process] = set()
    for _ in range(_LOOKS):
        orphans = await anyio.to_thread.run_sync(_orphans, owner)
        if not orphans:
            return tuple(ended.values())
        ended |= {process.pid: _named(process) for process in orphans}
        await end_family(orphans)
    stubborn = " and ".join(_named(process) for process in orphans)
    raise UsageError(f"What the run's dead process left behind cannot be ended: {stubborn}.", "End it, then try again.")


def _orphans(owner: Owner) -> set[psutil.Process]:
    mine = {psutil.Process(), *psutil.Process().parents()}
    return {process for process in started_by(owner.mark) - mine if _is_after(process, owner) and lives(process)}


def _is_after(process: psutil.Process, owner: Owner) -> bool:
    try:
        return process.create_time() > owner.created - _SAME_START
    except psutil.Error:
        return False


def _named(process: psutil.Process) -> str:
    try:
        return f"{process.pid} {process.name()}"
    except psutil.Error:
        return str(process.pid)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@cache
def _machine() -> str:
    """Return an id of this boot of this machine and of its process-number namespace."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        world = os.readlink("/proc/self/ns/pid")  # noqa: PTH115 - what it says is no path
    except OSError:
        boot, world = f"{platform.node()} {psutil.boot_time():.0f}", ""
    return f"{boot} {world}".strip()
