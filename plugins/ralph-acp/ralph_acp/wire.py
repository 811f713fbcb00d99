"""The line to an agent's process: JSON messages, one a line, bounded, and the end of what it prints besides them."""

import json
from collections import deque
from collections.abc import Iterable
from typing import Any

import anyio.lowlevel

from ralph.executors import Event, JsonLines, Line, Listener, Oversized, Running, Transcript

__all__ = ["Wire"]

_LONGEST = 32 * 1024 * 1024
"""Bytes in one message: an agent sends files whole, before and after."""


class Wire(Listener):
    """The transport of the protocol's library; every piece that comes is a sign of life.

    A line that is not a JSON object counts as printed besides messages: programs print notices on either stream.
    """

    def __init__(self, program: Running, transcript: Transcript) -> None:
        super().__init__(transcript)
        self._program = program
        self._lines = JsonLines(_LONGEST)
        self._received: deque[dict[str, Any]] = deque()
        self._ended = False

    async def send(self, message: dict[str, Any]) -> None:
        await self._program.send(json.dumps(message, separators=(",", ":")).encode() + b"\n")

    async def receive(self) -> dict[str, Any] | None:
        """Return the next message; None when the agent has ended or closed its output."""
        await anyio.lowlevel.checkpoint()  # a flood must not starve the watchdog
        while not self._received and not self._ended:
            try:
                chunk = await anext(self._program.stdout)
            except StopAsyncIteration:
                self._ended = True
                self._take_lines(self._lines.end())
            else:
                self.keep_alive()
                self._take_lines(self._lines.feed(chunk))
        return self._received.popleft() if self._received else None

    async def close(self) -> None:
        """Do nothing: the executor ends the process."""

    def take(self, event: Event) -> None:
        if _well_formed(event):
            self._received.append(dict(event))
        else:
            self.take_text("A message that breaks the rules of JSON-RPC.\n")

    def take_oversized(self, line: Oversized) -> None:
        self.transcript.diagnosed(f"The agent sent a message of {line.size:,} bytes: it is left out.")

    def _take_lines(self, lines: Iterable[Line]) -> None:
        for line in lines:
            self.take_line(line)


def _well_formed(message: Event) -> bool:
    """Return True if the library can take the message: it uses these fields as they come."""
    error = message.get("error")
    return (
        isinstance(message.get("id"), int | str | None)
        and isinstance(message.get("method"), str | None)
        and (error is None or isinstance(error, dict))
    )
