"""Between the SDK and the program: the SDK holds the dialogue over permissions, the rest goes to the turn's listener.

The SDK would start the program itself, with all of Ralph's environment, and would leave behind what its tools have
started. Here it is given one that runs already, within its bounds.
"""

from collections.abc import AsyncIterator
from typing import Any

from claude_agent_sdk import CLIConnectionError, Transport

from ralph.executors import JsonLines, Oversized, Running, Unreadable
from ralph_claude.listener import Listener

__all__ = ["ProgramTransport"]

_LONGEST = 16 * 1024 * 1024
"""Bytes in one line; pictures that the agent looks at come whole."""

_DIALOGUE = frozenset({"control_request", "control_response", "control_cancel_request"})


class ProgramTransport(Transport):
    """The SDK's line to a program that somebody else has started and ends."""

    def __init__(self, program: Running, listener: Listener) -> None:
        self._program, self._listener = program, listener

    async def connect(self) -> None:
        """The program runs."""

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
                    match line:
                        case Oversized():
                            self._listener.oversized(line)
                        case Unreadable(text):
                            self._listener.beside(f"{text}\n")
                        case event if event.get("type") in _DIALOGUE:
                            yield event
                        case event:
                            self._listener.take(event)
        finally:
            self._listener.over.set()
        raise CLIConnectionError("Claude Code has ended.")

    async def close(self) -> None:
        """Whoever started the program ends it."""

    def is_ready(self) -> bool:
        return self._program.code is None

    async def end_input(self) -> None:
        self._program.close_stdin()
