"""JSON lines as they come out of a program, within bounds: no line, however long, takes more memory than one may."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

__all__ = ["JsonLines", "Oversized", "Unreadable"]

_HEAD = 4_096


@dataclass(frozen=True, slots=True)
class Oversized:
    """A line that was longer than allowed and is not kept.

    Attributes:
        head: its first 4,096 bytes.
        size: in bytes, without the line break.
    """

    head: bytes
    size: int

    def field(self, name: str) -> str:
        """A field of text that stands in the head, by its name, the first of that name; empty where there is none."""
        match = re.search(rb'"%s"\s*:\s*"((?:[^"\\]|\\.){0,200})"' % re.escape(name).encode(), self.head)
        return match[1].decode("utf-8", "replace") if match else ""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A line that is not a JSON object; its first 300 characters."""

    text: str


class JsonLines:
    """Takes chunks of bytes and gives the lines in them as JSON objects; empty lines are passed over.

    Args:
        limit: in bytes; of a longer line only the head is kept.
    """

    def __init__(self, limit: int = 1_048_576) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> Iterator[dict[str, Any] | Oversized | Unreadable]:
        """The lines that the chunk ends."""
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            self._add(piece)
            yield from self.end()
        self._add(rest)

    def end(self) -> Iterator[dict[str, Any] | Oversized | Unreadable]:
        """The line that is under way, as if it ended here."""
        line, size = b"".join(self._parts), self._size
        self._parts, self._size = [], 0
        if size > self._limit:
            yield Oversized(line[:_HEAD], size)
        elif line.strip():
            yield _parsed(line)

    def _add(self, piece: bytes) -> None:
        if not piece:
            return
        within = self._size <= self._limit
        self._size += len(piece)
        if self._size <= self._limit:
            self._parts.append(piece)
        elif within:
            self._parts = [b"".join(self._parts)[:_HEAD] + piece[:_HEAD]]


def _parsed(line: bytes) -> dict[str, Any] | Unreadable:
    try:
        value: Any = json.loads(line)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        return cast("dict[str, Any]", value)
    return Unreadable(line[:1_200].decode("utf-8", "replace").strip()[:300])
