"""Running other programs: bounded output, time-outs, and an end for everything that a program started.

`run` runs a program to its end; `spawn` gives one to talk with while it runs. Nothing that was started is left behind
when the caller is cancelled or the time is over. Three things make that hold:

- a program is kept apart from the terminal, so that a Ctrl-C there reaches Ralph alone, which then ends it;
- the tree below it is taken before the first signal is sent, because children of a dead process have no parent;
- its environment carries a mark that its children inherit, by which those without a parent are found again.
"""

import asyncio
import errno
import os
import shlex
import signal
from collections import deque
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import monotonic
from typing import Any, Self, cast

import anyio
import psutil

from ralph.errors import UsageError
from ralph.system.files import absolute_path, find_program
from ralph.system.process_tree import GRACE, effort, end_family, known, marked, new_marker

_ROOM = 256 * 1024
"""Bytes of unread output at which the program has to wait."""


class ProgramMissingError(UsageError):
    """A program does not exist, or cannot be run."""

    def __init__(self, program: str, why: str, remedy: str = "") -> None:
        self.program, self.why = program, why
        usual = "Install it, or name the right program, with its full path if necessary."
        super().__init__(f"{program!r} cannot be run: {why}.", remedy or usual)


@dataclass(frozen=True, slots=True)
class Finished:
    """A program that has ended.

    Attributes:
        code: its exit status; negative for the signal that ended it, as in `subprocess`.
        stdout, stderr: what it wrote, as text. Bytes that are not UTF-8 are replaced. Of more than `max_output`
            bytes the first and the last half of that are kept, with a line in between that says how many are missing.
        stdout_truncated, stderr_truncated: something is missing.
        timed_out: it was ended because its time was over.
        duration: in seconds.
    """

    code: int
    stdout: str
    stderr: str
    stdout_truncated: bool
    stderr_truncated: bool
    timed_out: bool
    duration: float


async def run(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    stdin: bytes | str | None = None,
    timeout: float | None,
    max_output: int = 1_000_000,
    end_leftovers: bool = False,
    idle: float | None = None,
) -> Finished:
    """Run a program to its end.

    A background process that it leaves is neither waited for, even if it holds the output open, nor ended, except with
    `end_leftovers`. At the time-out and on cancellation, the whole tree is ended.

    Args:
        env: the whole environment; None for Ralph's own.
        stdin: what it reads; without it, its input is empty.
        timeout: in seconds; None for as long as it takes.
        max_output: how many bytes of each stream are kept.
        end_leftovers: end its background processes, too.
        idle: in seconds; one that does nothing from one check to the next has timed out, too.

    Raises:
        ProgramMissingError: there is no such program.
        UsageError: it cannot be started with these arguments or in this folder.
    """
    began = monotonic()
    out, err = _Kept(max_output), _Kept(max_output)
    link = await _start(argv, cwd=cwd, env=env, marker=new_marker(), sinks=(out, err), piped=stdin is not None)
    try:
        if stdin is not None:
            link.write(stdin if isinstance(stdin, bytes) else stdin.encode("utf-8", "replace"))
            link.close_stdin()
        with anyio.move_on_after(timeout):
            await _exited(link, idle)
    finally:
        timed_out = not link.exited.is_set()
        if not timed_out:
            link.suspect = end_leftovers or link.code < 0
        await link.finish(GRACE)
    return Finished(
        code=link.code,
        stdout=out.text(),
        stderr=err.text(),
        stdout_truncated=out.truncated,
        stderr_truncated=err.truncated,
        timed_out=timed_out,
        duration=monotonic() - began,
    )


async def _exited(link: "_Link", idle: float | None) -> None:
    before, now = None, 0.0
    while not link.exited.is_set() and (now is None or now != before):
        with anyio.move_on_after(idle):
            await link.exited.wait()
            return
        before, now = now, effort(link.pid)


class Running:
    """A running program, for the one who reads and writes.

    Attributes:
        stdout, stderr: read both, or the program has to wait.
    """

    def __init__(self, link: "_Link", stdout: "ByteStream", stderr: "ByteStream") -> None:
        self._link = link
        self.stdout = stdout
        self.stderr = stderr

    @property
    def pid(self) -> int:
        return self._link.pid

    @property
    def code(self) -> int | None:
        """The exit status, negative for a signal; None while it runs."""
        return self._link.code if self._link.exited.is_set() else None

    def suspected(self) -> None:
        """Note that the program may leave something running behind, as when an agent has used tools.

        What carries the mark is then looked for and ended, even after a normal end.
        """
        self._link.suspect = True

    async def send(self, data: bytes) -> None:
        """Write to the program, and wait while it does not read. What is sent to one that has ended is lost."""
        await self._link.writable.wait()
        self._link.write(data)

    def close_stdin(self) -> None:
        """Close the program's input, once everything is written."""
        self._link.close_stdin()

    async def wait(self) -> int:
        """Return the exit status, as soon as there is one."""
        await self._link.exited.wait()
        return self._link.code


@asynccontextmanager
async def spawn(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    marker: str | None = None,
    grace: float = GRACE,
) -> AsyncGenerator[Running]:
    """Start a program to talk with; leaving the block ends it and everything that it started.

    Nothing is left to do for a program that has already ended by itself. After a death by a signal, with
    `Running.suspected`, or if something still holds its output open, what carries the mark is ended, too.

    Args:
        env: the whole environment; None for Ralph's own.
        marker: the mark that it carries; None for a new one.
        grace: in seconds, from the request to end until the kill.

    Raises:
        ProgramMissingError, UsageError: as `run` does.
    """
    out, err = ByteStream(), ByteStream()
    link = await _start(argv, cwd=cwd, env=env, marker=marker or new_marker(), sinks=(out, err), piped=True)
    try:
        yield Running(link, out, err)
    finally:
        await link.finish(grace)


class _Sink:
    """The target of a program's output; by default, it needs neither the transport nor the end."""

    def attach(self, transport: asyncio.ReadTransport) -> None: ...
    def feed(self, data: bytes) -> None: ...
    def end(self) -> None: ...


class _Kept(_Sink):
    """Output of which the first and the last half of `limit` bytes are kept."""

    def __init__(self, limit: int) -> None:
        self._half = max(limit // 2, 1)
        self._head = bytearray()
        self._tail = bytearray()
        self._total = 0

    def feed(self, data: bytes) -> None:
        self._total += len(data)
        rest = self._half - len(self._head)
        if rest > 0:
            self._head += data[:rest]
            data = data[rest:]
        self._tail += data
        if len(self._tail) > 2 * self._half + _ROOM:
            del self._tail[: -self._half]

    @property
    def truncated(self) -> bool:
        return self._total > 2 * self._half

    def text(self) -> str:
        if not self.truncated:
            return (self._head + self._tail).decode("utf-8", "replace")
        missing = f"\n[… {self._total - 2 * self._half} bytes left out …]\n"
        return self._head.decode("utf-8", "replace") + missing + self._tail[-self._half :].decode("utf-8", "replace")


class ByteStream(_Sink):
    """The output of a program, in chunks as they come: `async for chunk in stream`.

    It ends with the program, even if something that the program started holds the stream open. Unread output is
    bounded: the program waits.
    """

    def __init__(self) -> None:
        self._chunks: deque[bytes] = deque()
        self._unread = 0
        self._ended = self._paused = False
        self._changed = asyncio.Event()
        self._transport: asyncio.ReadTransport | None = None

    def attach(self, transport: asyncio.ReadTransport) -> None:
        self._transport = transport

    def feed(self, data: bytes) -> None:
        self._chunks.append(data)
        self._unread += len(data)
        self._changed.set()
        if self._unread > _ROOM and self._transport and not self._paused:
            self._paused = True
            self._transport.pause_reading()

    def end(self) -> None:
        self._ended = True
        self._changed.set()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        while not self._chunks:
            if self._ended:
                raise StopAsyncIteration
            self._changed.clear()
            await self._changed.wait()
        chunk = self._chunks.popleft()
        self._unread -= len(chunk)
        if self._unread <= _ROOM and not self._ended and self._transport and self._paused:
            self._paused = False
            self._transport.resume_reading()
        return chunk


class _Link(asyncio.SubprocessProtocol):
    """The connection between the event loop and one program.

    The loop's own stream classes would wait for the end of the output, which a grandchild can put off forever; here the
    end of the program is the end.
    """

    def __init__(self, sinks: tuple[_Sink, _Sink], marker: str) -> None:
        self.exited = asyncio.Event()
        self.writable = asyncio.Event()
        self.writable.set()
        self.marker = marker
        self.suspect = False
        self.family: set[psutil.Process] = set()
        self._sinks: dict[int, _Sink] = {1: sinks[0], 2: sinks[1]}
        self._open = {1, 2}

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.SubprocessTransport", transport)
        self.family = known(self._transport.get_pid())
        for fd, sink in self._sinks.items():
            sink.attach(cast("asyncio.ReadTransport", self._transport.get_pipe_transport(fd)))

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._sinks[fd].feed(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        self.writable.set()
        if fd in self._open:
            self._open.discard(fd)
            self._sinks[fd].end()

    def pause_writing(self) -> None:
        self.writable.clear()

    def resume_writing(self) -> None:
        self.writable.set()

    def process_exited(self) -> None:
        """Take what was read already, which may still be on its way here, before the end."""
        for fd in self._open:
            cast("asyncio.ReadTransport", self._transport.get_pipe_transport(fd)).pause_reading()
        asyncio.get_running_loop().call_soon(self._end)

    def _end(self) -> None:
        """Take what the program has written into the pipes by now, and end."""
        for fd in tuple(self._open):
            self.suspect |= self._drain(fd)
            self._open.discard(fd)
            self._sinks[fd].end()
        self.suspect |= self.code < 0
        self._transport.close()
        self.exited.set()

    @property
    def pid(self) -> int:
        return self._transport.get_pid()

    @property
    def code(self) -> int:
        code = self._transport.get_returncode()
        return -signal.SIGKILL if code is None else code

    def write(self, data: bytes) -> None:
        cast("asyncio.WriteTransport", self._transport.get_pipe_transport(0)).write(data)

    def close_stdin(self) -> None:
        cast("asyncio.WriteTransport", self._transport.get_pipe_transport(0)).close()

    async def finish(self, grace: float) -> None:
        """End what is left. It cannot be cancelled, and takes a few seconds at most."""
        if self.exited.is_set() and not self.suspect:
            return
        with anyio.CancelScope(shield=True):
            await end_family(self.family, grace, marker=self.marker)
            with anyio.move_on_after(1.0):
                await self.exited.wait()
            self._transport.close()

    def _drain(self, fd: int) -> bool:
        """Take what is left in a pipe, at most a full one; return True if something else still holds it open."""
        pipe = cast("asyncio.ReadTransport", self._transport.get_pipe_transport(fd))
        if pipe.is_closing() or os.name != "posix":
            return False
        number = pipe.get_extra_info("pipe").fileno()
        for _ in range(16):
            try:
                data = os.read(number, 65_536)
            except BlockingIOError:
                return True
            if not data:
                return False
            self._sinks[fd].feed(data)
        return True


async def _start(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str] | None,
    marker: str,
    sinks: tuple[_Sink, _Sink],
    piped: bool,
) -> _Link:
    environment = marked(os.environ if env is None else env, marker)
    if "PATH" in environment:
        environment["PATH"] = absolute_path(environment["PATH"])
    stdin = asyncio.subprocess.PIPE if piped else asyncio.subprocess.DEVNULL
    link = _Link(sinks, marker)
    loop = asyncio.get_running_loop()
    starting = loop.create_task(
        loop.subprocess_exec(lambda: link, *argv, stdin=stdin, cwd=cwd, env=environment, **_apart())
    )
    try:
        with anyio.CancelScope(shield=True):
            await asyncio.shield(starting)
    except asyncio.CancelledError:
        await _abandon(starting, link)
        raise
    except (OSError, ValueError) as error:
        raise _unstartable(argv[0], cwd, error) from error
    return link


async def _abandon(starting: "asyncio.Task[Any]", link: _Link) -> None:
    """End a program with a start that `asyncio.Task.cancel` has interrupted.

    anyio's shield does not stop that, and asyncio ends only the program itself, and then waits until nothing that it
    started holds its output open.
    """
    with anyio.CancelScope(shield=True):
        await asyncio.wait([starting])
        if not starting.cancelled() and starting.exception() is None:
            await link.finish(GRACE)


@cache
def _apart() -> dict[str, Any]:
    """Return the options that keep a program apart from the terminal.

    In a session of its own it cannot even ask for a password there. But Linux schedules a new session as a stranger, at
    the cost of milliseconds on a busy machine: without a terminal, a group of its own is enough.
    """
    if has_terminal():
        return {"start_new_session": True}
    return {"process_group": 0} if os.name == "posix" else {}


def has_terminal() -> bool:
    """Return True if a program in Ralph's session could type into a terminal."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR))
    except OSError:
        return False
    return True


def require_program(program: str, cwd: Path) -> None:
    """Raise the error with which `run` would fail for a program that is missing or not executable."""
    path = str(cwd / program) if os.sep in program else find_program(program)
    if path is None or not Path(path).exists():
        raise _unstartable(program, cwd, FileNotFoundError())
    if not os.access(path, os.X_OK) or Path(path).is_dir():
        raise _unstartable(program, cwd, PermissionError())


def _unstartable(program: str, cwd: Path, error: OSError | ValueError) -> UsageError:
    if not cwd.is_dir():
        return UsageError(f"{program!r} cannot be run in {str(cwd)!r}: there is no such folder.", "Name another one.")
    if isinstance(error, FileNotFoundError):
        return ProgramMissingError(program, "there is no such program")
    if isinstance(error, PermissionError):
        remedy = f"Make it executable: `chmod +x {shlex.quote(program)}`." if (cwd / program).is_file() else ""
        return ProgramMissingError(program, "it is not executable", remedy)
    if isinstance(error, OSError) and error.errno == errno.ENOEXEC:
        return ProgramMissingError(program, "it is not a program for this machine")
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return UsageError(f"{program!r} cannot be started: {reason}.", "Look at its arguments and its environment.")
