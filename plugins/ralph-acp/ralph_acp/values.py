"""Reading what an agent sent, whatever it is: nothing here raises."""

import json
from collections.abc import Mapping
from typing import Any, cast

__all__ = ["as_json", "mapping", "objects", "text"]


def mapping(value: object) -> Mapping[str, Any]:
    """The object that it is, or an empty one."""
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def objects(value: object) -> list[Mapping[str, Any]]:
    """The objects in the list that it is, or none."""
    listed = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("Mapping[str, Any]", each) for each in listed if isinstance(each, Mapping)]


def text(value: object) -> str:
    """The text that it is, or an empty one; lone surrogates, which are no text, are replaced."""
    if not isinstance(value, str):
        return ""
    return value if value.isascii() else value.encode("utf-8", "replace").decode()


def as_json(value: object) -> str:
    """A value that came as JSON, as JSON; empty for nothing."""
    if value in (None, "", {}, []):
        return ""
    if isinstance(value, str):
        return text(value)
    try:
        return text(json.dumps(value, ensure_ascii=False))
    except (TypeError, ValueError, RecursionError):
        return ""
