"""Commands that are run for an agent: in the workspace, confined as the agent is, with bounded output."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from signal import Signals
from typing import Any

import anyio
from anyio.abc import TaskGroup, TaskStatus

from ralph.errors import UsageError
from ralph.executors import ByteStream, Confinement, Redactor, Running, spawn
from ralph.executors.program_output import as_json, objects, text

__all__ = ["Terminals", "command_line"]

_MOST = 16
_LARGEST = 1_000_000
"""Bytes of output that are kept: the last ones."""


@dataclass(slots=True)
class _Terminal:
    limit: int
    program: Running | None = None
    output: bytes = b""
    truncated: bool = False
    killed: anyio.Event = field(default_factory=anyio.Event)
    ended: anyio.Event = field(default_factory=anyio.Event)

    def keep(self, chunk: bytes) -> None:
        self.output += chunk
        if len(self.output) > self.limit:
            self.output, self.truncated = self.output[-self.limit :] if self.limit else b"", True


class Terminals:
    """The terminals of one turn; they end with the task group.

    Every method takes the parameters as the agent sent them and raises `UsageError` for what cannot be done.
    """

    def __init__(
        self,
        group: TaskGroup,
        workspace: Path,
        confinement: Confinement,
        redactor: Redactor,
        *,
        read_only: bool = False,
    ) -> None:
        self._group, self._workspace, self._read_only = group, workspace, read_only
        self._confinement, self._redactor = confinement, redactor
        self._terminals: dict[str, _Terminal] = {}
        self._numbers = count(1)

    async def create(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Start a command."""
        if len(self._terminals) >= _MOST:
            raise UsageError(f"There are {_MOST} terminals already.", "Release one.")
        limit = params.get("outputByteLimit")
        terminal = _Terminal(min(limit, _LARGEST) if isinstance(limit, int) and limit >= 0 else _LARGEST)
        given = {text(each.get("name")): text(each.get("value")) for each in objects(params.get("env"))}
        env = {**self._confinement.environment(), **{name: value for name, value in given.items() if name}}
        cwd = self._folder(text(params.get("cwd")))
        words = _words(params)
        argv = words if len(words) > 1 else ["/bin/sh", "-c", *words]
        confined = self._confinement.command(argv, cwd=cwd, agent=True, read_only=self._read_only)
        await self._group.start(self._run, confined, cwd, env, terminal)
        name = f"terminal-{next(self._numbers)}"
        self._terminals[name] = terminal
        return {"terminalId": name}

    def output(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the output so far, known secrets and tokens masked, and the exit status if there is one."""
        terminal = self._named(params)
        shown = terminal.output.decode("utf-8", "replace")
        if terminal.truncated:  # half a secret would not be known for one
            shown = shown.partition("\n")[2]
        status = {"exitStatus": _status(terminal)} if terminal.ended.is_set() else {}
        return {"output": self._redactor.for_agent()(shown), "truncated": terminal.truncated, **status}

    async def wait(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the exit status, once there is one."""
        terminal = self._named(params)
        await terminal.ended.wait()
        return _status(terminal)

    async def kill(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """End the command and what it started; its output can still be read."""
        terminal = self._named(params)
        terminal.killed.set()
        await terminal.ended.wait()
        return {}

    async def release(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """End and forget the command."""
        await self.kill(params)
        self._terminals.pop(text(params.get("terminalId")), None)
        return {}

    async def _run(
        self, argv: list[str], cwd: Path, env: dict[str, str], terminal: _Terminal, *, task_status: TaskStatus[None]
    ) -> None:
        try:
            async with spawn(argv, cwd=cwd, env=env) as program:
                program.suspected()
                terminal.program = program
                task_status.started()
                async with anyio.create_task_group() as group:
                    group.start_soon(_until, terminal.killed, group.cancel_scope)
                    async with anyio.create_task_group() as reading:
                        reading.start_soon(_keep, program.stdout, terminal)
                        reading.start_soon(_keep, program.stderr, terminal)
                    await program.wait()
                    group.cancel_scope.cancel()
        finally:
            terminal.ended.set()

    def _folder(self, said: str) -> Path:
        root = self._workspace.resolve()
        folder = (root / said).resolve() if "\0" not in said else Path("/")
        if not folder.is_relative_to(root):
            raise UsageError(f"The folder {said[:200]!r} lies outside the workspace.", "Work in the workspace.")
        return folder

    def _named(self, params: Mapping[str, Any]) -> _Terminal:
        try:
            return self._terminals[text(params.get("terminalId"))]
        except KeyError:
            raise UsageError("There is no such terminal.", "Name one that was created.") from None


def command_line(params: Mapping[str, Any]) -> str:
    """Return the command that a terminal should run, as the user would type it."""
    words = _words(params)
    return shlex.join(words) if len(words) > 1 else words[0]


def _words(params: Mapping[str, Any]) -> list[str]:
    """Return the program and its arguments; a single word is a line for the shell."""
    arguments = params.get("args")
    listed: list[object] = arguments if isinstance(arguments, list) else []  # pyright: ignore[reportUnknownVariableType]
    return [text(params.get("command")), *map(as_json, listed)]


async def _keep(stream: ByteStream, terminal: _Terminal) -> None:
    async for chunk in stream:
        terminal.keep(chunk)


async def _until(killed: anyio.Event, scope: anyio.CancelScope) -> None:
    """Cancel a scope at an event."""
    await killed.wait()
    scope.cancel()


def _status(terminal: _Terminal) -> dict[str, Any]:
    code = terminal.program.code if terminal.program else None
    if code is None or code < 0:
        return {"signal": Signals(-code).name if code else "SIGKILL"}
    return {"exitCode": code}
