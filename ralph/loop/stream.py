"""The events of a run as an asynchronous iterator."""

from collections import deque
from typing import Self

import anyio

from ralph.hooks import Hooks
from ralph.records.events import Event, MessageStreamed

__all__ = ["EventStream"]

_FAR_BEHIND = 1_000
"""Unread events from which on pieces of unfinished messages are dropped."""


class EventStream(Hooks):
    """An observer that keeps the events of a run until they are read; it never delays the run."""

    def __init__(self) -> None:
        self._unread: deque[Event] = deque()
        self._changed = anyio.Event()
        self._ended = False

    async def on_event(self, event: Event) -> None:
        if len(self._unread) < _FAR_BEHIND or not isinstance(event, MessageStreamed):
            self._unread.append(event)
            self._changed.set()

    def end(self) -> None:
        """Let the reader stop after the last unread event."""
        self._ended = True
        self._changed.set()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        while not self._unread:
            if self._ended:
                raise StopAsyncIteration
            self._changed = anyio.Event()
            await self._changed.wait()
        return self._unread.popleft()
