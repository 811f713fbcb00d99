"""The line to an agent's process: messages of JSON, one a line, bounded, and the end of what it says beside them."""

import json
from collections import deque
from collections.abc import Iterable
from typing import Any

import anyio.lowlevel

from ralph.executors import JsonLines, Oversized, Running, Transcript, Unreadable

__all__ = ["Wire"]

_LONGEST = 32 * 1024 * 1024
"""Bytes in one message: an agent sends files whole, before and after."""

_TAIL = 2_000


class Wire:
    """What the protocol's library sends and receives messages by; every piece that comes is a sign of life.

    A line that is no JSON object is kept as something that the agent says beside: programs print notices where they
    should not.

    Attributes:
        beside: the end of what was said on either stream beside messages.
    """

    def __init__(self, program: Running, transcript: Transcript) -> None:
        self._program, self._transcript = program, transcript
        self._lines = JsonLines(_LONGEST)
        self._received: deque[dict[str, Any]] = deque()
        self._ended = False
        self.beside = ""

    async def send(self, message: dict[str, Any]) -> None:
        await self._program.send(json.dumps(message, separators=(",", ":")).encode() + b"\n")

    async def receive(self) -> dict[str, Any] | None:
        """The next message; None when the agent has ended or closed its output."""
        await anyio.lowlevel.checkpoint()  # a flood must not keep the watchdog from its turn
        while not self._received and not self._ended:
            try:
                chunk = await anext(self._program.stdout)
            except StopAsyncIteration:
                self._ended = True
                self._take(self._lines.end())
            else:
                self._transcript.alive()
                self._take(self._lines.feed(chunk))
        return self._received.popleft() if self._received else None

    async def close(self) -> None:
        """Nothing: the process is ended by who has started it."""

    async def listen_beside(self) -> None:
        """Reads the error stream until it ends."""
        async for chunk in self._program.stderr:
            self._transcript.alive()
            self._said(chunk.decode("utf-8", "replace"))

    def _take(self, lines: Iterable[dict[str, Any] | Oversized | Unreadable]) -> None:
        for line in lines:
            match line:
                case Unreadable(text):
                    self._said(f"{text}\n")
                case Oversized():
                    self._transcript.diagnosed(f"The agent sent a message of {line.size:,} bytes: it is left out.")
                case message if _well_formed(message):
                    self._received.append(message)
                case _:
                    self._said("A message that breaks the rules of JSON-RPC.\n")

    def _said(self, text: str) -> None:
        self.beside = (self.beside + text)[-_TAIL:]


def _well_formed(message: dict[str, Any]) -> bool:
    """Whether the library can take it, which uses these as they come."""
    error = message.get("error")
    return (
        isinstance(message.get("id"), int | str | None)
        and isinstance(message.get("method"), str | None)
        and (error is None or isinstance(error, dict))
    )
