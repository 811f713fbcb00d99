"""What Claude Code prints, one JSON object a line, and how to look into it without ever raising.

The SDK's own types for these messages leave out what a turn needs most: what was used since the last result, and why
a tool did not run. So they are read as they stand on the wire.
"""

from collections.abc import Mapping
from typing import Any, cast

__all__ = ["Event", "blocks", "mapping", "number", "said_in", "text", "texts", "whole"]

Event = Mapping[str, Any]


def mapping(value: object) -> Event:
    return cast("Event", value) if isinstance(value, Mapping) else {}


def text(value: object) -> str:
    return value if isinstance(value, str) else ""


def texts(value: object) -> list[str]:
    """The texts in what should be a list of them."""
    return [text(each) for each in cast("list[object]", value)] if isinstance(value, list) else []


def number(value: object) -> float | None:
    """A number that can be meant; None for anything else."""
    return float(value) if isinstance(value, int | float) and 0 <= value < 1e15 else None


def whole(value: object) -> int:
    return int(number(value) or 0)


def blocks(content: object) -> list[Event]:
    """The parts of a message's content; plain text is one part."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [mapping(part) for part in cast("list[object]", content)] if isinstance(content, list) else []


def said_in(content: object) -> str:
    """The text in a message's content."""
    return "\n".join(text(part.get("text")) for part in blocks(content) if part.get("type") == "text")
