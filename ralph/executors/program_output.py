"""JSON lines that a program prints: bounded lines, and readers of their values that never raise.

A line takes no more memory than the limit, however long it is. The readers (`mapping`, `text` and so on) accept any
value: what is not of the wanted type becomes an empty one.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from ralph.system.files import parsed

Event = Mapping[str, Any]
"""A JSON object that a program has printed; nothing in it can be relied on."""

_HEAD = 4_096
_LARGEST = 1e15
_SURROGATES = re.compile(r"[\ud800-\udfff]")


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
        """Return the first text field of that name in the head; empty if none exists."""
        match = re.search(rb'"%s"\s*:\s*"((?:[^"\\]|\\.){0,200})"' % re.escape(name).encode(), self.head)
        return match[1].decode("utf-8", "replace") if match else ""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A line that is not a JSON object; its first 300 characters."""

    text: str


Line = dict[str, Any] | Oversized | Unreadable
"""A line of output: an object, or what was wrong with it."""


class JsonLines:
    """Splits chunks of bytes into lines, each read as a JSON object; empty lines are left out.

    Args:
        limit: in bytes; only the head of a longer line is kept.
    """

    def __init__(self, limit: int = 1_048_576) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> Iterator[Line]:
        """Yield the lines that the chunk completes."""
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            self._add(piece)
            yield from self.end()
        self._add(rest)

    def end(self) -> Iterator[Line]:
        """Yield the unfinished line, as if it ended here."""
        line, size = b"".join(self._parts), self._size
        self._parts, self._size = [], 0
        if size > self._limit:
            yield Oversized(line[:_HEAD], size)
        elif line.strip():
            value, head = parsed(line), line[:1_200]
            yield value if isinstance(value, dict) else Unreadable(head.decode("utf-8", "replace").strip()[:300])

    def _add(self, piece: bytes) -> None:
        if not piece:
            return
        within = self._size <= self._limit
        self._size += len(piece)
        if self._size <= self._limit:
            self._parts.append(piece)
        elif within:
            self._parts = [b"".join(self._parts)[:_HEAD] + piece[:_HEAD]]


def mapping(value: object) -> Event:
    """Return the value if it is an object, else an empty one."""
    return cast("Event", value) if isinstance(value, Mapping) else {}


def objects(value: object) -> list[Event]:
    """Return the objects in a list; none for any other value."""
    listed = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("Event", each) for each in listed if isinstance(each, Mapping)]


def text(value: object) -> str:
    """Return a text, with lone surrogates replaced; empty for any other value."""
    if not isinstance(value, str):
        return ""
    return value if value.isascii() else _SURROGATES.sub("\ufffd", value)


def texts(value: object) -> list[str]:
    """Return the items of a list as texts; none for any other value."""
    return [text(each) for each in cast("list[object]", value)] if isinstance(value, list) else []


def number(value: object) -> float | None:
    """Return a number from 0 to 10**15; None for any other value."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < _LARGEST else None


def whole(value: object) -> int | None:
    """Return a count from 0 to 10**15, rounded down; None for any other value."""
    found = number(value)
    return None if found is None else int(found)


def as_json(value: object) -> str:
    """Return a value as JSON text, and a text as it is; empty for None and for what JSON cannot hold."""
    if value is None or isinstance(value, str):
        return text(value)
    try:
        return text(json.dumps(value, ensure_ascii=False))
    except (TypeError, ValueError, RecursionError):
        return ""
