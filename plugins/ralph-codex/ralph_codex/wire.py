"""Reading values out of what Codex prints, which may hold anything: nothing here raises."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, cast

__all__ = ["Event", "as_json", "listed", "mapping", "text", "whole"]

Event = Mapping[str, Any]


def mapping(value: object) -> Event:
    return cast("Event", value) if isinstance(value, Mapping) else {}


def listed(value: object) -> list[Event]:
    """The objects in what should be a list of them."""
    return [mapping(each) for each in cast("Iterable[object]", value)] if isinstance(value, list) else []


def text(value: object) -> str:
    return value if isinstance(value, str) else ""


def whole(value: object) -> int | None:
    """A count; None for what is none."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e15:
        return int(value)
    return None


def as_json(value: object) -> str:
    """A value as JSON text; empty for None and for what cannot be written so."""
    if value is None:
        return ""
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return ""
