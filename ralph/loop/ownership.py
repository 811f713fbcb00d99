"""The owner of a run: the process that works on it, and the orphans of a dead one."""

import os
import re
import secrets
import socket

import anyio.to_thread
import psutil

from ralph.errors import UsageError
from ralph.records.record import Owner
from ralph.store.base import Store
from ralph.system.process_tree import (
    digest,
    end_family,
    has_ended,
    lives,
    machine,
    mark_of_this_process,
    remove_left_folders,
    start_of,
    started_by,
)

__all__ = ["Owner", "end_left_behind", "end_orphans", "has_died", "is_here", "maker_has_died", "this_process"]

_LATELY = 5
"""Runs that are looked at for a dead owner."""

_LOOKS = 5

_TOKEN = re.compile(r"[0-9a-f]{16}\.([0-9]{1,10})\.(t?[0-9]{1,20})\.([0-9a-f]{16})", re.ASCII)
"""A random part, the process number, its start, and its machine."""


def this_process() -> Owner:
    """Return this process as the owner of a run, with a new token."""
    pid = os.getpid()
    start = start_of(pid)
    return Owner(
        token=f"{secrets.token_hex(8)}.{pid}.{start}.{digest(machine())}",
        host=socket.gethostname(),
        machine=machine(),
        pid=pid,
        created=psutil.Process().create_time(),
        start=start,
        mark=mark_of_this_process(),
    )


def is_here(owner: Owner) -> bool:
    """Return True if the owner is, or was, a process of this machine since it was started."""
    return owner.machine == machine()


def has_died(owner: Owner) -> bool:
    """Return True if the owner is known to be gone; on another machine, only its lease can tell."""
    return is_here(owner) and has_ended(owner.pid, owner.start or f"{owner.created:.0f}")


def maker_has_died(token: str) -> bool:
    """Return True if the process that made a token is known to be gone.

    A process that takes a run and dies at once leaves nothing but the token.
    """
    said = _TOKEN.fullmatch(token)
    return said is not None and said[3] == digest(machine()) and has_ended(int(said[1]), said[2])


async def end_left_behind(store: Store, workspace: str, *, finished: bool = False) -> tuple[str, ...]:
    """End what dead owners of the latest runs, of a store and of a folder, left behind; see `end_orphans`.

    This includes runs that had finished: their agent ends only after that is stored. With `finished`, it is only these:
    a run that can be resumed records then what it ends.
    """
    lately = [*await store.runs(workspace=workspace, limit=_LATELY), *await store.runs(limit=_LATELY)]
    found = [run for run in lately if run.state == "finished" or not finished]
    dead = {run.owner.mark: run.owner for run in found if run.owner is not None and has_died(run.owner)}
    return await end_orphans(*dead.values())


async def end_orphans(*owners: Owner) -> tuple[str, ...]:
    """End the process trees that dead processes left behind; return their numbers and names.

    They carry the mark of their parent. This process and its ancestors are left out: you may type `ralph resume` in a
    shell that the dead run's agent had opened. Temporary folders of dead processes are removed, too.

    Raises:
        UsageError: one of them cannot be ended.
    """
    marks = {owner.mark for owner in owners if owner.mark and is_here(owner)}
    ended: dict[int, str] = {}
    orphans: set[psutil.Process] = set()
    for _ in range(_LOOKS):
        orphans = await anyio.to_thread.run_sync(_orphans, marks) if marks else set()
        if not orphans:
            await anyio.to_thread.run_sync(remove_left_folders)
            return tuple(ended.values())
        ended |= {process.pid: _named(process) for process in orphans}
        await end_family(orphans)
    stubborn = " and ".join(_named(process) for process in orphans)
    raise UsageError(f"What the run's dead process left behind cannot be ended: {stubborn}.", "End it, then try again.")


def _orphans(marks: set[str]) -> set[psutil.Process]:
    mine = {psutil.Process(), *psutil.Process().parents()}
    return {process for process in started_by(*marks) - mine if lives(process)}


def _named(process: psutil.Process) -> str:
    try:
        return f"{process.pid} {process.name()}"
    except psutil.Error:
        return str(process.pid)
