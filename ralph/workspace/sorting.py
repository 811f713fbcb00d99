"""What of a workspace's changed paths a checkpoint can hold, and what it leaves out."""

import os
import stat
from collections.abc import Iterable
from typing import NamedTuple

from ralph.workspace.looking import go_on

__all__ = ["LARGEST", "MOST_AT_ONCE", "Sorted", "leads_elsewhere", "sort"]

LARGEST = 100 * 1024 * 1024
"""Bytes of a file that is held; larger ones are left out."""

MOST_AT_ONCE = 4 * 1024 * 1024 * 1024
"""Bytes that one checkpoint reads; what is beyond that is left to the next one."""


class Sorted(NamedTuple):
    """Paths by what is to be done with them.

    Attributes:
        held: files and links that can be held as they are.
        inner: folders that are repositories of their own.
        gone: where nothing is any more that could be held.
        left_out: why what is there is not held, by path.
    """

    held: list[bytes]
    inner: list[bytes]
    gone: list[bytes]
    left_out: dict[bytes, str]


def sort(top: os.PathLike[str], paths: Iterable[bytes]) -> Sorted:
    """Sorts paths below a folder; it blocks, and opens nothing."""
    found = Sorted([], [], [], {})
    root = os.fsencode(top) + b"/"
    budget = MOST_AT_ONCE
    links: dict[bytes, bool] = {b"": False}
    for number, path in enumerate(dict.fromkeys(path.removesuffix(b"/") for path in paths)):
        go_on(number)
        try:
            state = os.lstat(root + path)
        except (OSError, ValueError):
            found.gone.append(path)
            continue
        if leads_elsewhere(root, path, links):
            found.gone.append(path)
        elif stat.S_ISDIR(state.st_mode):
            (found.inner if os.path.lexists(root + path + b"/.git") else found.gone).append(path)
        elif reason := _unheld(root + path, state, budget):
            found.left_out[path] = reason
        else:
            budget -= state.st_size
            found.held.append(path)
    return found


def leads_elsewhere(root: bytes, path: bytes, links: dict[bytes, bool]) -> bool:
    """Whether a folder on the way to a path is a link; `links` remembers what was found, with `b""` for the root."""
    folder = path.rpartition(b"/")[0]
    if folder not in links:
        links[folder] = stat.S_ISLNK(os.lstat(root + folder).st_mode) or leads_elsewhere(root, folder, links)
    return links[folder]


def _unheld(path: bytes, state: os.stat_result, budget: int) -> str:
    """Why something is not held, or the empty string."""
    if stat.S_ISLNK(state.st_mode):
        return ""
    if not stat.S_ISREG(state.st_mode):
        return "it is neither a file nor a link"
    if state.st_size > LARGEST:
        return f"it has {state.st_size / 1e6:,.0f} MB"
    if state.st_size > budget:
        return "it is too much at once"
    return "" if os.access(path, os.R_OK) else "it cannot be read"
