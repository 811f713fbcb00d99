"""`ralph config set`: one setting is written into a file of settings; comments and all other lines stay."""

import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any, cast

from ralph.cli.init import write_file
from ralph.errors import SettingError, UsageError
from ralph.settings import FileSource, Source, is_trusted, load_settings, remember, settings_in
from ralph.settings.loading import put
from ralph.settings.model import Settings
from ralph.settings.sources import toml_source
from ralph.system.files import toml_table

_HEADER = re.compile(r"\s*\[")


def changed_file(path: Path, key: str, values: Sequence[str], folder: Path) -> str:
    """Write a setting into a file; return the line. A consent to the file's content before covers the new one, too.

    Raises:
        UsageError: there is no such setting, the value is not valid, or the file cannot be changed line by line.
    """
    before = toml_source(path)
    text = before.content.decode() if before else ""
    value, table = _valid(path, key, values, before, folder)
    line = f"{key.rpartition('.')[2]} = {_toml(value)}"
    changed = next((each for each in _places(text, key, line) if _holds(each, table)), None)
    if changed is None:
        raise UsageError(f"{path} cannot be changed line by line.", f"Edit it yourself: {key} is {_toml(value)}.")
    agreed = before is None or is_trusted(before)
    write_file(path.resolve() if path.parent != folder else path, changed)
    if agreed and path.parent == folder and isinstance(after := toml_source(path), FileSource):
        remember(after)  # the user has just said so
    return line


def _valid(
    path: Path, key: str, values: Sequence[str], before: Source | None, folder: Path
) -> tuple[Any, dict[str, Any]]:
    """Return the value in the first form that the settings accept, and the whole table with it."""
    from ralph.plugins.loading import load_plugins

    problem: SettingError | None = None
    for value in _forms(key, values):
        table = deepcopy(dict(before.values)) if before else {}
        put(table, key, value)
        try:
            load_plugins(load_settings([Source(str(path), table)]), folder)
        except SettingError as error:
            problem = problem or error
        else:
            return value, table
    assert problem is not None
    raise problem


def _forms(key: str, values: Sequence[str]) -> Iterator[Any]:
    """Yield what the words may mean: a value as in TOML, or a text; of a list, all its items."""
    if any(each.key == key and each.is_list for each in settings_in(Settings)):
        first = _parsed(values[0])
        yield first if len(values) == 1 and isinstance(first, list) else [*values]
        return
    text = " ".join(values)
    if (parsed := _parsed(text)) is not None:
        yield parsed
    yield text


def _parsed(text: str) -> Any:
    try:
        return toml_table(f"value = {text}")["value"] if "\n" not in text else None
    except (tomllib.TOMLDecodeError, RecursionError):
        return None


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        table = cast("dict[str, Any]", value)
        return "{" + ", ".join(f"{json.dumps(name)} = {_toml(each)}" for name, each in table.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, cast('list[Any]', value)))}]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str | bool) else str(value)


def _places(text: str, key: str, line: str) -> Iterator[str]:
    """Yield the text with the line in each place that it may belong to; the first that holds the setting counts."""
    section, _, name = key.rpartition(".")
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    headers = [number for number, each in enumerate(lines) if _HEADER.match(each)]
    opening = re.compile(rf"\s*\[\s*{re.escape(section)}\s*\]")
    start = next((n + 1 for n in headers if opening.match(lines[n])), None) if section else 0
    if start is not None:
        end = next((number for number in headers if number >= start), len(lines))
        own = re.compile(rf"\s*{re.escape(name)}\s*=")
        for first in (number for number in range(start, end) if own.match(lines[number])):
            for after in range(first + 1, end + 1):  # a list may have several lines
                yield "".join([*lines[:first], f"{line}\n", *lines[after:]])
        told = next((n for n in range(start, end) if not lines[n].startswith("#")), end) if not section else start
        yield "".join([*lines[:told], f"{line}\n", *lines[told:]])
    elif section:
        yield "".join([*lines, "\n" if lines else "", f"[{section}]\n", f"{line}\n"])


def _holds(text: str, table: dict[str, Any]) -> bool:
    try:
        return toml_table(text) == table
    except (tomllib.TOMLDecodeError, RecursionError):
        return False
