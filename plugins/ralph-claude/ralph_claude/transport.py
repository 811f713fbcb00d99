"""Between the SDK and the program: the SDK handles the permission requests, the listener everything else.

The SDK would start the program itself, with all of Ralph's environment, and would leave behind what its tools have
started. Here it gets one that runs already, within its bounds.
"""

from collections.abc import AsyncIterator
from typing import Any

from claude_agent_sdk import CLIConnectionError, Transport

from ralph.executors import JsonLines, Running
from ralph_claude.listener import ClaudeListener

__all__ = ["ProgramTransport"]

_LONGEST = 16 * 1024 * 1024
"""Bytes in one line; pictures that the agent looks at come whole."""

_DIALOGUE = frozenset({"control_request", "control_response", "control_cancel_request"})


class ProgramTransport(Transport):
    """The SDK's line to a program that the executor starts and ends."""

    def __init__(self, program: Running, listener: ClaudeListener) -> None:
        self._program, self._listener = program, listener

    async def connect(self) -> None:
        """Do nothing: the program runs already."""

    async def write(self, data: str) -> None:
        if not self.is_ready():
            raise CLIConnectionError("Claude Code has ended.")
        await self._program.send(data.encode("utf-8", "replace"))

    def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        return self._read()

    async def _read(self) -> AsyncIterator[dict[str, Any]]:
        lines = JsonLines(_LONGEST)
        try:
            async for chunk in self._program.stdout:
                for line in lines.feed(chunk):
                    if isinstance(line, dict) and line.get("type") in _DIALOGUE:
                        yield line
                    else:
                        self._listener.take_line(line)
        finally:
            self._listener.over.set()
        raise CLIConnectionError("Claude Code has ended.")

    async def close(self) -> None:
        """Do nothing: the executor ends the program."""

    def is_ready(self) -> bool:
        return self._program.code is None

    async def end_input(self) -> None:
        self._program.close_stdin()
