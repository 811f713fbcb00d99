"""Observation in tests: a run's events, a clock that the test moves, waiting for files and processes."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import anyio
import anyio.lowlevel
import psutil

from ralph.hooks import Hooks
from ralph.loop.event_log import Clock
from ralph.records.events import Event
from ralph.system import process_tree


class SeenEvents(Hooks):
    """An observer that keeps every event of a run in order."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    async def on_event(self, event: Event) -> None:
        self.events.append(event)

    def kinds(self) -> list[str]:
        """Return the types of all events."""
        return [event.type for event in self.events]

    def of(self, kind: str) -> list[Any]:
        """Return the events of one type."""
        return [event for event in self.events if event.type == kind]


class FakeClock(Clock):
    """A clock that stands still until it is moved; waiting moves it without delay.

    Attributes:
        waits: the moments that were waited for, in order.
    """

    def __init__(self, start: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self._now = start
        self.waits: list[datetime] = []

    def now(self) -> datetime:
        return self._now

    def advance(self, seconds: float) -> None:
        """Move the clock by some seconds."""
        self._now += timedelta(seconds=seconds)

    async def wait_until(self, moment: datetime) -> None:
        self.waits.append(moment)
        self._now = max(self._now, moment)
        await anyio.lowlevel.checkpoint()


_T = TypeVar("_T")
_LOOK = 0.01
_PATIENCE = 30.0


async def until(condition: Callable[[], object], patience: float = _PATIENCE) -> None:
    """Wait until a condition holds. Raises `TimeoutError` after so many seconds."""
    with anyio.fail_after(patience):
        while not condition():  # noqa: ASYNC110 - nothing tells
            await anyio.sleep(_LOOK)


def wait_until(condition: Callable[[], _T], patience: float = _PATIENCE) -> _T:
    """Wait like `until` in synchronous code; return the condition's last result."""
    deadline = time.monotonic() + patience
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"it did not come about within {patience:g} s")
        time.sleep(_LOOK)
    return found


def lives(pid: int) -> bool:
    """Return whether a process exists and is not a zombie."""
    return any(map(process_tree.lives, process_tree.known(pid)))


def living(word: str) -> list[psutil.Process]:
    """Return the processes with a given word in the command line."""
    found = psutil.process_iter(["cmdline"])
    return [each for each in found if word in (each.info["cmdline"] or ()) and process_tree.lives(each)]


def running() -> set[psutil.Process]:
    """Return the processes below this one that are running."""
    return set(filter(process_tree.lives, psutil.Process().children(recursive=True)))
