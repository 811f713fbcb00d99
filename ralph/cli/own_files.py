"""The files that this program writes itself: the store, and what its output goes to."""

import os
import stat
import sys
from pathlib import Path

from ralph.plugins.registry import is_foreign
from ralph.store import file_of

__all__ = ["own_files"]

_BESIDE = ("", "-wal", "-shm", "-journal")
"""What SQLite has beside its file."""


def own_files(store: str | None) -> list[Path]:
    """The files of a store, and those that standard output and standard error go to, wherever they lie.

    In the workspace none of them is the agent's work, although each grows with every iteration.
    """
    place = None if is_foreign(store) else file_of(store)
    file = os.path.realpath(place) if place else ""
    beside = [Path(f"{file}{end}") for end in _BESIDE if file]
    return [*beside, *filter(None, map(_written_to, (1, 2)))]


def _written_to(number: int) -> Path | None:
    """The file that a stream goes to; None where it goes elsewhere, or nothing tells."""
    try:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            return None
        if sys.platform == "darwin":
            import fcntl

            return Path(os.fsdecode(fcntl.fcntl(number, fcntl.F_GETPATH, bytes(1024)).rstrip(b"\0")))
        return Path(f"/proc/self/fd/{number}").readlink()
    except OSError:
        return None
