"""Error messages for values that a model of settings rejects: the key, the source, the problem and the remedy."""

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from ralph.errors import SettingError, nearest, plainly
from ralph.settings.consent import leaves
from ralph.settings.fields import is_secret, model_in
from ralph.settings.model import Settings
from ralph.system.text import Redactor, is_secret_name

__all__ = ["names_at", "require_numbers", "setting_error"]

_SHOWN = 80
_REMEDIES = {
    "string_too_short": "Write one, or leave it out.",
    "dict_type": "Write a table.",
    "tuple_type": """Write a list, as in ["…"].""",
}


def setting_error(
    error: ValidationError,
    origins: Mapping[str, str],
    model: type[BaseModel] = Settings,
    within: Sequence[str] = (),
) -> SettingError:
    """Return the message for values that a model rejects.

    Args:
        error: the first of its problems counts; an unknown key comes before any other.
        origins: the source of each full key.
        model: the model that rejects them.
        within: the keys of the table that the model is of.
    """
    errors = error.errors()
    first = next((each for each in errors if each["type"] == "extra_forbidden"), errors[0])
    path = [str(part) for part in first["loc"]]
    key, source = ".".join((*within, *path))[:200], _origin([*within, *path], origins)
    if first["type"] == "extra_forbidden":
        return SettingError(key, source, "there is no such setting.", _meant(path, model))
    if first["type"] == "missing":
        return SettingError(key, source, "it is missing.", "Add it.")
    remedy = _REMEDIES.get(first["type"], "")
    if first["type"] == "model_type":
        remedy = f"It is a section; its settings: {', '.join(names_at(path, model))}."
    secret = any(map(is_secret_name, path)) or any(map(is_secret, _fields_at(path, model)))
    problem = f"{_shown(first['input'], secret=secret)} is not valid"
    return SettingError(key, source, f"{problem}." if remedy else f"{problem}: {plainly(first['msg'])}.", remedy)


def require_numbers(
    values: Mapping[str, object], read: BaseModel, origins: Mapping[str, str], within: str = ""
) -> None:
    """Raise `SettingError` where pydantic has read true or false, in the table of a key, as the number 1 or 0."""
    numbers = dict(leaves(read.model_dump(by_alias=True)))
    for key, value in leaves(values):
        if isinstance(value, bool) and type(numbers.get(key)) in {int, float}:
            wanted = "a whole number" if isinstance(numbers[key], int) else "a number"
            problem = f"{str(value).lower()} is not valid: it should be {wanted}."
            raise SettingError(within + key, _origin([within + key], origins), problem)


def names_at(path: Sequence[str], model: type[BaseModel] = Settings) -> list[str]:
    """Return the names of the settings in the section at a path; none if the path leads to a single value."""
    section: type[BaseModel] | None = model
    parts = iter(path)
    for part in parts:
        field = section.model_fields.get(part) if section else None
        section = model_in(field.annotation) if field is not None else None
        if field is not None and field.annotation is not section:
            next(parts, None)  # a table's key or a list's index
    return sorted(section.model_fields) if section else []


def _fields_at(path: Sequence[str], model: type[BaseModel]) -> Iterator[FieldInfo]:
    """Yield the fields on the way from a model along a path."""
    section: type[BaseModel] | None = model
    for part in path:
        field = section.model_fields.get(part) if section else None
        if field is not None:
            yield field
            section = model_in(field.annotation)


def _meant(path: Sequence[str], model: type[BaseModel]) -> str:
    """Suggest a key for an unknown one: a similar name, or a setting of a section that it was written without."""
    names = names_at(path[:-1], model)
    alone = len(path) == 1
    keys = {name: f"{section}.{name}" for section in names for name in names_at([section], model)} if alone else {}
    here = difflib.get_close_matches(path[-1], names, n=1, cutoff=0.6)
    there = difflib.get_close_matches(path[-1], keys, n=1, cutoff=0.6)
    if there and (not here or path[-1] in keys):
        return f"Did you mean {keys[there[0]]!r}?"
    return nearest(path[-1], names)


def _origin(path: Sequence[str], origins: Mapping[str, str]) -> str:
    """Return the source of a key; if no source sets it, the source of its nearest neighbour."""
    for depth in range(len(path), 0, -1):
        prefix = ".".join(path[:depth])
        within = (source for known, source in origins.items() if known.startswith(f"{prefix}."))
        if (source := origins.get(prefix) or next(within, None)) is not None:
            return source
    return "the settings"


def _shown(value: object, *, secret: bool) -> str:
    """Return a value for a message. Messages end up in logs, so they repeat no key and no header."""
    if secret or not isinstance(value, str | int | float):
        return "the value"
    if not isinstance(value, str):
        return "so large a number" if abs(value) >= 10**20 else json.dumps(value)[:_SHOWN]
    text = Redactor()(value)
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")
