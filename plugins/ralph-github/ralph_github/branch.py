"""The branch that a workspace is on, read without running git: an agent may have written what stands there."""

import os
import re
import stat
from pathlib import Path

__all__ = ["branch_of"]

_HEAD = re.compile(r"ref: refs/heads/([^\s~^:?*\[\\\x00-\x1f\x7f]{1,200})")
_MOST = 4_096


def branch_of(workspace: str | None) -> str | None:
    """The branch; None where it is on none, or where that cannot be told."""
    if workspace is None:
        return None
    folder = Path(workspace)
    place = next((each / ".git" for each in (folder, *folder.parents) if (each / ".git").exists()), None)
    if place is None:
        return None
    if not place.is_dir():  # a worktree's
        pointer = _read(place)
        if not pointer.startswith("gitdir: "):
            return None
        place = place.parent / pointer.removeprefix("gitdir: ")
    found = _HEAD.fullmatch(_read(place / "HEAD"))
    return found[1] if found else None


def _read(path: Path) -> str:
    """The start of a regular file; empty where there is none. A pipe in its place makes nobody wait."""
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except (OSError, ValueError):
        return ""
    try:
        return os.read(opened, _MOST).decode(errors="replace").strip() if stat.S_ISREG(os.fstat(opened).st_mode) else ""
    finally:
        os.close(opened)
