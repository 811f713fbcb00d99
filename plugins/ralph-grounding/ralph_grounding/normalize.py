"""Preparation of an answer before it is judged: a text that can be stored and shown, and what was odd about it."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

__all__ = ["NormalizedAnswer", "normalize"]

_UNSHOWN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_FENCE = re.compile(r"^[ \t]{0,3}(`{3,}|~{3,})", re.MULTILINE)
_NAMES = ("response", "answer", "content", "text", "output", "message", "result")
_DEPTH = 6
_MOST_WRAPPED = 1_000_000


class NormalizedAnswer(NamedTuple):
    """An answer, ready to be judged.

    Attributes:
        text: without characters that no store or terminal can hold, at most as long as requested.
        oddities: the repairs, a sentence each; empty for an ordinary answer.
        cut_from: the original length if it was cut; 0 if it is whole.
    """

    text: str
    oddities: tuple[str, ...] = ()
    cut_from: int = 0


def normalize(said: object, most: int, *, unwrap: bool = True) -> NormalizedAnswer:
    """Make a text of what a provider gave: a text, or something that contains one, such as a provider's own JSON.

    Args:
        said: the provider's answer.
        most: maximum number of characters.
        unwrap: False for a text that was prepared before.
    """
    oddities: list[str] = []
    text = said if isinstance(said, str) and not unwrap else _unwrapped(said, oddities)
    length = len(text)
    text = text[:most]
    shown = _UNSHOWN.sub("\N{REPLACEMENT CHARACTER}", text)
    if shown != text:
        oddities.append("It contains characters that cannot be shown; they were replaced.")
    if _is_left_open(shown):
        oddities.append("It ends inside a code block, as if it was cut off.")
    return NormalizedAnswer(shown, tuple(oddities), length if length > most else 0)


def _unwrapped(said: object, oddities: list[str]) -> str:
    """Return the text itself: of a string that is only a JSON object, the text within."""
    if isinstance(said, bytes | bytearray):
        said = said.decode("utf-8", "replace")
    if isinstance(said, str):
        stripped = said.strip() if len(said) <= _MOST_WRAPPED else ""
        if not (stripped.startswith("{") and stripped.endswith("}")):
            return said
        try:
            inner = _text_in(json.loads(stripped), _DEPTH)
        except (ValueError, RecursionError):
            return said
        if inner is None:
            return said
        oddities.append("It is JSON; the text inside is scored.")
        return inner
    inner = _text_in(said, _DEPTH)
    if inner is None:
        oddities.append(f"It is not text but {_kind(said)}; it is scored as an empty answer.")
        return ""
    oddities.append(f"It is not text but {_kind(said)}; the text inside is scored.")
    return inner


def _text_in(value: Any, depth: int) -> str | None:
    """Return the text of an object such as endpoints return; None if it has none."""
    if isinstance(value, str):
        return value
    if depth == 0:
        return None
    if isinstance(value, Mapping):
        held = cast("Mapping[str, Any]", value)
        if isinstance(choices := held.get("choices"), list) and choices:
            return _text_in(cast("list[Any]", choices)[0], depth - 1)
        named = (_text_in(held[name], depth - 1) for name in _NAMES if name in held)
        return next((text for text in named if text is not None), None)
    if isinstance(value, Sequence):
        parts = (_text_in(part, depth - 1) for part in cast("Sequence[Any]", value))
        return "\n".join(part for part in parts if part is not None) or None
    return None


def _kind(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, Mapping):
        return "an object"
    return "a list" if isinstance(value, Sequence) else "a number or a truth value"


def _is_left_open(text: str) -> bool:
    """Return True if a code fence is opened and never closed."""
    opened = ""
    for fence in _FENCE.finditer(text):
        if not opened:
            opened = fence[1]
        elif fence[1][0] == opened[0] and len(fence[1]) >= len(opened):
            opened = ""
    return bool(opened)
