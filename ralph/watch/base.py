"""`Display`, the base of everything that shows a run, and the writer that keeps a slow reader from delaying the run."""

import errno
import json
import os
import select
import sys
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread
from types import TracebackType
from typing import Self, TextIO, cast

from ralph.hooks import Hooks
from ralph.records.events import Diagnosed, Event, MessageReceived, MessageStreamed, ToolFinished, ToolStarted
from ralph.system.text import SPELT_OUT, PrintableStream

DISK_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""The numbers of the errors that mean that a disk has no room left."""

_MOST_UNREAD = 16 * 1024 * 1024
_LAST_WAIT = 1.0
_STEPS = {
    "wait": "another process is fetching the Copilot CLI",
    "download": "fetching the Copilot CLI",
    "check": "checking the Copilot CLI",
    "unpack": "unpacking the Copilot CLI",
}


class BackgroundWriter:
    """A file-like writer that writes to a stream's descriptor from its own thread.

    A stream without a descriptor is written to directly. The thread starts with the first text; `close` ends it. Has
    what `rich` needs of a file.

    Attributes:
        gone: the reader has gone away or the disk is full; later text is dropped.
        refused: the error of a full disk.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream.unfiltered if isinstance(stream, PrintableStream) else stream
        self._descriptor = _descriptor(stream)
        self.encoding = getattr(stream, "encoding", None) or "utf-8"
        self.gone = False
        self.refused: OSError | None = None
        self._waiting: SimpleQueue[bytes | None] = SimpleQueue()
        self._taken = self._written = 0
        self._thread: Thread | None = None

    def write(self, text: str) -> int:
        """Accept a text and return at once."""
        if self.gone:
            return len(text)
        if self._descriptor is None:
            self._stream.write(text)
            return len(text)
        if self._thread is None:
            with suppress(OSError, ValueError):
                self._stream.flush()  # earlier text of the stream comes first
            self._thread = Thread(target=self._pump, args=(self._descriptor,), daemon=True)
            self._thread.start()
        data = text.encode(self.encoding, SPELT_OUT)
        self._taken += len(data)
        self._waiting.put(data)
        return len(text)

    @property
    def full(self) -> bool:
        """True if the reader is so far behind that inessential text should be left out."""
        return self._taken - self._written > _MOST_UNREAD

    def close(self, within: float | None = None) -> None:
        """Wait until all text is written, the reader is gone, or `within` seconds have passed."""
        if self._thread is not None:
            self._waiting.put(None)
            self._thread.join(within)
            self._thread = None

    def flush(self) -> None:
        """Do nothing: the thread writes as soon as the reader reads."""

    def isatty(self) -> bool:
        """Return whether the stream is a terminal."""
        return self._stream.isatty()

    def _pump(self, descriptor: int) -> None:
        while (data := self._waiting.get()) is not None:
            if not self.gone:
                try:
                    _write(descriptor, data)
                except OSError as error:
                    self.refused = error if error.errno in DISK_FULL else None
                    self.gone = True
            self._written += len(data)


def _descriptor(stream: TextIO) -> int | None:
    try:
        return stream.fileno()
    except (OSError, ValueError, AttributeError):
        return None


def _write(descriptor: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        try:
            left = left[os.write(descriptor, left) :]
        except BlockingIOError:  # the pipe may have been opened as non-blocking
            select.select([], [descriptor], [])


class Display(Hooks):
    """Observer that shows a run; used as a context manager around the run.

    This base shows nothing: subclass it and implement `show`. A display that cannot write does not break the run.

    `self.out.write` writes only what is visible, and colours. A console from `ralph.watch.terminal.console_for`, or one
    on `self.out.unfiltered` for what draws on the terminal, is for the rest.

    Args:
        out: the stream to write to; standard output by default.
        look_up: the command that shows a run later, without the run's id; empty if no command can.
        endpoint: True if the model is served by an endpoint of the user, and not by GitHub.
    """

    def __init__(self, out: TextIO | None = None, *, look_up: str = "ralph show", endpoint: bool = False) -> None:
        self.out = PrintableStream(cast("TextIO", BackgroundWriter(out if out is not None else sys.stdout)))
        self.look_up = look_up
        self.endpoint = endpoint
        self._step = ""
        self._last_wait: float | None = None

    @property
    def _store_option(self) -> str:
        """The `--store` option for suggested commands; empty if they need none."""
        return self.look_up.removeprefix("ralph show")

    def show(self, event: Event) -> None:
        """Show one event."""

    def note(self, text: str) -> None:
        """Show a message that is not an event of the run: on standard error, which programs do not parse."""
        with suppress(OSError, ValueError):
            sys.stderr.write(f"ralph: {text}\n")
            sys.stderr.flush()

    def progress(self, step: str, done: int, total: int | None) -> None:
        """Show the progress of fetching the agent's program, in bytes: each step once, and each tenth of it."""
        tenth = done * 10 // total if total else 0
        text = _STEPS.get(step, step) + (f": {tenth * 10} % of {total / 1e6:.0f} MB" if total and tenth else " …")
        if text != self._step:
            self._step = text
            self.note(text)

    def verifying(self, verifier: str) -> None:
        """Show that a verifier is running, which can take minutes; its verdict comes as an event."""

    def scanning(self, read: int, of: int) -> None:
        """Show that the workspace is being scanned. Called once a second during the scan.

        Args:
            read: the number of files that were read so far.
            of: the number of files to read; 0 if it is not known yet.
        """

    def hurry(self, text: str) -> None:
        """Show that the run is being ended, and from now on wait only briefly for a slow reader."""
        self._last_wait = _LAST_WAIT
        self.note(text)

    async def on_event(self, event: Event) -> None:
        self.show(event)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.out.close(self._last_wait if kind is None else _LAST_WAIT)
        if refused := self.out.refused:
            whole = f" Free some space; `ralph logs{self._store_option}` shows the whole run." if self.look_up else ""
            self.note(f"There is no room for the output: {refused.strerror}.{whole}")


class JsonDisplay(Display):
    """Writes each event as one line of ASCII JSON, except pieces of messages. The last line is `run_finished`.

    For a reader that is 16 MB behind, it also leaves out messages and tools: `seq` has a gap there.
    """

    def show(self, event: Event) -> None:
        left_out = isinstance(event, MessageStreamed) or (
            self.out.full and isinstance(event, MessageReceived | ToolStarted | ToolFinished | Diagnosed)
        )
        if not left_out:
            fields = event.model_dump(mode="json")
            front = {name: fields.pop(name) for name in ("type", "run_id", "seq", "at")}
            self.out.write(f"{json.dumps({**front, **fields})}\n")
