"""Waiting for what tells nobody, such as files and processes, and looking for processes that are left."""

import time
from collections.abc import Callable
from typing import TypeVar

import anyio
import psutil

__all__ = ["lives", "living", "until", "wait_until"]

_T = TypeVar("_T")
_LOOK = 0.01
_PATIENCE = 30.0


async def until(condition: Callable[[], object], patience: float = _PATIENCE) -> None:
    """Waits until a condition holds. Raises `TimeoutError` where it does not within so many seconds."""
    with anyio.fail_after(patience):
        while not condition():  # noqa: ASYNC110 - nothing tells
            await anyio.sleep(_LOOK)


def wait_until(condition: Callable[[], _T], patience: float = _PATIENCE) -> _T:
    """`until`, for code that is not async; what the condition gave at last."""
    deadline = time.monotonic() + patience
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"it did not come about within {patience:g} s")
        time.sleep(_LOOK)
    return found


def lives(pid: int) -> bool:
    """Whether there is such a process, and it is not one that has died and waits for its parent."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def living(word: str) -> list[psutil.Process]:
    """The processes that have a text as a word of their command line."""
    found: list[psutil.Process] = []
    for process in psutil.process_iter():
        try:
            if word in process.cmdline() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found
