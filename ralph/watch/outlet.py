"""A way out for text that never holds up the run: a thread writes, and who reads slowly, or not at all, reads late."""

import errno
import os
import select
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread
from typing import TextIO

from ralph.system.text import SPELT_OUT

__all__ = ["NO_ROOM", "Outlet"]

NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""The numbers of the errors by which a disk says that it takes no more."""

_MOST_UNREAD = 16 * 1024 * 1024


class Outlet:
    """Writes to a stream's descriptor from a thread of its own; to a stream without one at once.

    It has what `rich` asks of a file. The thread begins with the first text; `close` ends it.

    Attributes:
        gone: nobody reads any more, or there is no room; what is written from now on is dropped.
        refused: the error of a disk that has no room.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._descriptor = _descriptor(stream)
        self.encoding = getattr(stream, "encoding", None) or "utf-8"
        self.gone = False
        self.refused: OSError | None = None
        self._waiting: SimpleQueue[bytes | None] = SimpleQueue()
        self._taken = self._written = 0
        self._thread: Thread | None = None

    def write(self, text: str) -> int:
        """Takes a text and returns at once."""
        if self.gone:
            return len(text)
        if self._descriptor is None:
            self._stream.write(text)
            return len(text)
        if self._thread is None:
            with suppress(OSError, ValueError):
                self._stream.flush()  # what was written there before comes first
            self._thread = Thread(target=self._pump, args=(self._descriptor,), daemon=True)
            self._thread.start()
        data = text.encode(self.encoding, SPELT_OUT)
        self._taken += len(data)
        self._waiting.put(data)
        return len(text)

    @property
    def full(self) -> bool:
        """Whether so much waits for its reader that what is not essential should be left out."""
        return self._taken - self._written > _MOST_UNREAD

    def close(self, within: float | None = None) -> None:
        """Returns when all is written, or nobody reads any more, or the time (in seconds) is over."""
        if self._thread is not None:
            self._waiting.put(None)
            self._thread.join(within)
            self._thread = None

    def flush(self) -> None:
        """Nothing waits here for a flush."""

    def isatty(self) -> bool:
        """Whether the stream is a terminal."""
        return self._stream.isatty()

    def _pump(self, descriptor: int) -> None:
        while (data := self._waiting.get()) is not None:
            if not self.gone:
                try:
                    _write(descriptor, data)
                except OSError as error:
                    self.refused = error if error.errno in NO_ROOM else None
                    self.gone = True
            self._written += len(data)


def _descriptor(stream: TextIO) -> int | None:
    try:
        return stream.fileno()
    except (OSError, ValueError, AttributeError):
        return None


def _write(descriptor: int, data: bytes) -> None:
    """Writes all of it, however long the reader takes."""
    left = memoryview(data)
    while left:
        try:
            left = left[os.write(descriptor, left) :]
        except BlockingIOError:  # whoever opened the pipe made it so
            select.select([], [descriptor], [])
