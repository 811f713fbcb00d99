"""`Display`, the base of everything that shows a run, and the writer that keeps a slow reader from delaying the run."""

import errno
import json
import os
import select
import stat
import sys
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from queue import SimpleQueue
from threading import Thread
from typing import Self, TextIO, cast

from ralph.decision.outcomes import StopReason
from ralph.hooks import Hooks
from ralph.records.events import (
    Diagnosed,
    Event,
    IterationFinished,
    MessageReceived,
    MessageStreamed,
    RunFinished,
    ToolFinished,
    ToolStarted,
)
from ralph.system.text import SPELT_OUT, PrintableStream
from ralph.types.output import Usage

DISK_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""The numbers of the errors that mean that a disk has no room left."""

_MOST_UNREAD = 16 * 1024 * 1024
_LAST_WAIT = 1.0
_LINES_KEPT = 1_000
"""Last lines that may make room for the very last one on a full disk."""

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
        self._last = b""
        self._lengths = deque[int]([], _LINES_KEPT)
        self._end = self._cut = 0
        self._waiting: SimpleQueue[bytes | None] = SimpleQueue()
        self._taken = self._written = 0
        self._thread: Thread | None = None

    def keep_last(self, line: str) -> None:
        """Name a line, before it is written, that a full disk must not cut off: it takes the place of lines before."""
        self._last = line.encode(self.encoding, SPELT_OUT)

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
    def idle(self) -> bool:
        """True if the reader has taken everything."""
        return self._taken == self._written

    @property
    def full(self) -> bool:
        """True if the reader is so far behind that inessential text should be left out."""
        return self._taken - self._written > _MOST_UNREAD

    def close(self, within: float | None = None) -> None:
        """Wait until all text is written, the reader is gone, or `within` seconds have passed."""
        if self._thread is not None:
            self._waiting.put(None)
            self._thread.join(within)
            written = not self._thread.is_alive()
            self._thread = None
            if written and self.refused and self._last:
                with suppress(OSError):
                    self._overwrite_end()

    def flush(self) -> None:
        """Do nothing: the thread writes as soon as the reader reads."""

    def isatty(self) -> bool:
        """Return whether the stream is a terminal."""
        return self._stream.isatty()

    def _overwrite_end(self) -> None:
        """Put the last line in the place of as many whole lines as it needs, in a file that no one else has grown."""
        descriptor, last, self._last = self._descriptor, self._last, b""
        if descriptor is None or not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return
        if not 0 <= os.fstat(descriptor).st_size - self._end <= self._cut:
            return
        while True:
            os.ftruncate(descriptor, self._end)
            os.lseek(descriptor, self._end, os.SEEK_SET)
            try:
                _write(descriptor, last)
                break
            except OSError as error:
                if error.errno not in DISK_FULL or len(self._lengths) < 2:
                    raise
                self._end -= self._lengths.pop()

    def _pump(self, descriptor: int) -> None:
        with suppress(OSError):
            self._end = os.lseek(descriptor, 0, os.SEEK_CUR)
        while (data := self._waiting.get()) is not None:
            if not self.gone:
                try:
                    _write(descriptor, data)
                    self._lengths.append(len(data))
                    self._end += len(data)
                except OSError as error:
                    self.refused = error if error.errno in DISK_FULL else None
                    self._cut = len(data)
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

    Attributes:
        begun: an event of the run has come.
    """

    begun = False

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

    def end(self, reason: StopReason, problem: str, *, exit_code: int) -> None:
        """Show that the program ends, perhaps before a run began or before it ended.

        Args:
            reason: why the run has stopped.
            problem: the message that standard error shows.
            exit_code: of the program.
        """

    async def on_event(self, event: Event) -> None:
        self.begun = True
        self.show(event)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.out.close(_LAST_WAIT if any(raised) else self._last_wait)
        if refused := self.out.refused:
            whole = f" Free some space; `ralph logs{self._store_option}` shows the whole run." if self.look_up else ""
            self.note(f"There is no room for the output: {refused.strerror}.{whole}")


class JsonDisplay(Display):
    """Writes each event as one line of ASCII JSON, except pieces of messages. The last line is `run_finished`.

    Where no run can begin, the first line is a `usage_error`, with a message and the exit code. For a reader that is
    16 MB behind, it also leaves out messages and tools: `seq` has a gap there.
    """

    _run_id = ""
    _ended = False
    _iterations = 0
    _usage = Usage()

    def show(self, event: Event) -> None:
        left_out = isinstance(event, MessageStreamed) or (
            self.out.full and isinstance(event, MessageReceived | ToolStarted | ToolFinished | Diagnosed)
        )
        if left_out:
            return
        self._run_id, self._ended = event.run_id, isinstance(event, RunFinished)
        if isinstance(event, IterationFinished):
            self._iterations, self._usage = event.iteration, self._usage + event.usage
        fields = event.model_dump(mode="json")
        self._write({**{name: fields.pop(name) for name in ("type", "run_id", "seq", "at")}, **fields})

    def end(self, reason: StopReason, problem: str, *, exit_code: int) -> None:
        """Write what the stream lacks: the first line if no run began, and the last."""
        if self._ended:
            return
        now = datetime.now(UTC)
        if not self._run_id:
            said = {"message": problem, "exit_code": exit_code}
            self._write({"type": "usage_error", "run_id": "", "seq": 0, "at": now.isoformat(), **said})
        self.show(
            RunFinished(
                run_id=self._run_id,
                at=now,
                stop_reason=reason,
                verified=False,
                detail=problem,
                iterations=self._iterations,
                executors={},
                usage=self._usage,
                duration=0.0,
            )
        )
        self.out.close(_LAST_WAIT)

    def _write(self, fields: Mapping[str, object]) -> None:
        line = f"{json.dumps(fields)}\n"
        if self._ended:
            self.out.keep_last(line)
        self.out.write(line)
