"""`--set KEY=VALUE`: settings by their full names, for one call."""

import json
from collections.abc import Sequence
from typing import Any, cast

from ralph.errors import SettingError, UsageError
from ralph.settings import Source

__all__ = ["what_if"]

_NAME = "--set"
_NOTHING = {"none", "null"}


def what_if(given: Sequence[str]) -> Source:
    """What `--set` options say, later ones before earlier ones; "none" unsets, lists and tables are JSON.

    Raises `UsageError` for one that is no KEY=VALUE. Whether there is such a setting is for `load_settings` to say.
    """
    values: dict[str, Any] = {}
    for one in given:
        key, equals, value = one.partition("=")
        if not equals or not all(part.strip() for part in key.split(".")):
            raise UsageError(f"--set {one[:80]!r} is not KEY=VALUE.", "Write it as in --set breaker.no_progress=5.")
        *sections, name = (part.strip() for part in key.split("."))
        table = values
        for section in sections:
            inner: object = table.get(section)
            table[section] = inner if isinstance(inner, dict) else {}
            table = cast("dict[str, Any]", table[section])
        table[name] = _value(key, value.strip())
    return Source(_NAME, values)


def _value(key: str, text: str) -> object:
    """Text, for the setting's own type to be read from it."""
    if text.lower() in _NOTHING:
        return None
    if not text.startswith(("[", "{")):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        remedy = f"""Write it as in {_NAME} '{key[:80]}=["…"]'."""
        raise SettingError(key[:80], _NAME, "lists and tables are written as JSON.", remedy) from None
