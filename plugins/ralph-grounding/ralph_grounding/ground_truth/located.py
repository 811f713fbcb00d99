"""YAML, JSON and JSON lines that the user wrote, with the lines of their entries for error messages.

YAML is read as text alone: `no` is "no", a date is what was written. Aliases are limited and merge keys have no
meaning, so that no file grows when it is read.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TypeVar, cast

from pydantic import BaseModel, ValidationError

from ralph.errors import UsageError, plainly
from ralph_grounding.ground_truth.files import read_bytes
from ralph_grounding.ground_truth.readable import cleaned

__all__ = ["Located", "read_located"]

_LARGEST = 20_000_000
_LARGEST_YAML = 5_000_000
_MOST_ALIASES = 100
_DEEPEST = 20
_MOST_COPIED = 100_000
_NOTED = 3

_Model = TypeVar("_Model", bound=BaseModel)
_Place = tuple[int | str, ...]


class Located(NamedTuple):
    """A file's data, and the lines of its entries by their paths."""

    file: str
    data: Any
    lines: Mapping[_Place, int]

    def at(self, *place: int | str) -> str:
        """Return the place of an entry, such as "claims.yaml, line 3" or "claims.json, entry 2"."""
        for length in range(len(place), 0, -1):
            if line := self.lines.get(place[:length]):
                return f"{self.file}, line {line}"
        number = next((part + 1 for part in place if isinstance(part, int)), None)
        return self.file if number is None else f"{self.file}, entry {number}"

    def refuse(self, problem: str, remedy: str, *place: int | str) -> NoReturn:
        """Raise `UsageError` with the place."""
        raise UsageError(f"{self.at(*place)}: {problem}", remedy)

    def check(self, model: type[_Model], held: object, remedy: str, *place: int | str) -> _Model:
        """Validate the value at a place as a model. Raises `UsageError` with the first problem."""
        try:
            return model.model_validate(held)
        except ValidationError as error:
            wrong = error.errors(include_url=False, include_input=False)
            # An unknown name is usually a misspelt one, and more helpful than the note that the right one is missing.
            first = next((each for each in wrong if each["type"] == "extra_forbidden"), wrong[0])
            inner = ".".join(str(part) for part in first["loc"])[:100]
            said = plainly(first["msg"][:300])
            if first["type"] != "extra_forbidden":
                self.refuse(f"{inner}: {said}.", remedy, *place, *first["loc"])
            if " " in inner:
                remedy = "Put text that contains a colon in quotes."
            self.refuse(f"{inner!r} is not a known name here.", remedy, *place, *first["loc"])


def read_located(path: Path | str) -> Located:
    """Read a file by its extension: .jsonl, .json, else YAML. Raises `UsageError`."""
    path = Path(path)
    suffix = path.suffix.lower()
    most = _LARGEST if suffix in {".json", ".jsonl", ".ndjson"} else _LARGEST_YAML
    try:
        content = read_bytes(path, most + 1, follow=True)
    except (OSError, ValueError) as error:
        problem = getattr(error, "strerror", None) or error
        raise UsageError(f"{path}: it cannot be read: {problem}.", "Name a file that is there.") from error
    if len(content) > most:
        raise UsageError(f"{path}: it is larger than {most // 1_000_000} MB.", "Split it into several files.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: it is not UTF-8, from byte {error.start} on.", "Save it as UTF-8.") from error
    if suffix in {".jsonl", ".ndjson"}:
        return _json_lines(str(path), text)
    return _json_file(str(path), text) if suffix == ".json" else _yaml_file(str(path), text)


def _json_file(file: str, text: str) -> Located:
    return Located(file, _json(file, text, 0), {})


def _json_lines(file: str, text: str) -> Located:
    data: list[Any] = []
    lines: dict[_Place, int] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            lines[len(data),] = number
            data.append(_json(file, line, number))
    return Located(file, data, lines)


def _json(file: str, text: str, line: int) -> Any:
    try:
        return _shown(json.loads(text, object_pairs_hook=_once))
    except json.JSONDecodeError as error:
        where = line or error.lineno
        raise UsageError(f"{file}, line {where}: it is not JSON: {error.msg}.", "Correct it there.") from error
    except _TwiceError as twice:
        where = f"{file}, line {line}" if line else file
        name = str(twice)[:80]
        raise UsageError(f"{where}: {name!r} is there twice in one object.", "Remove one of them.") from twice
    except (RecursionError, ValueError) as error:
        where = f"{file}, line {line}" if line else file
        raise UsageError(
            f"{where}: it is nested too deeply, or has a number with too many digits.", "Correct it."
        ) from error


class _TwiceError(Exception):
    """A name that occurs twice in an object."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    held = dict(pairs)
    if len(held) < len(pairs):
        names = [name for name, _ in pairs]
        raise _TwiceError(next(name for name in names if names.count(name) > 1))
    return held


def _shown(data: Any) -> Any:
    """Return the data with all its texts cleaned."""
    if isinstance(data, str):
        return cleaned(data)
    if isinstance(data, list):
        return [_shown(each) for each in cast("list[Any]", data)]
    if isinstance(data, dict):
        return {cleaned(name): _shown(each) for name, each in cast("dict[str, Any]", data).items()}
    return data


def _yaml_file(file: str, text: str) -> Located:
    import yaml

    reader: Any = yaml  # its functions have no types
    loader: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        nodes = _bounded(file, reader.parse(text, Loader=loader))
        root: Any = reader.compose(text, Loader=loader)
    except yaml.YAMLError as error:
        mark: Any = getattr(error, "problem_mark", None)
        where = f"{file}, line {mark.line + 1}" if mark else file
        problem = str(getattr(error, "problem", None) or "a character that is not allowed")
        raise UsageError(f"{where}: it is not YAML: {problem[:200]}.", "Correct it there.") from error
    composed = _Composed(file, nodes + _MOST_COPIED)
    return Located(file, composed.value(root, ()), composed.lines)


def _bounded(file: str, events: Iterator[Any]) -> int:
    """Measure a file before it is composed. Raises `UsageError` if it would grow too large."""
    import yaml

    depth = aliases = count = 0
    for event in events:
        count += 1
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        aliases += isinstance(event, yaml.AliasEvent)
        if depth > _DEEPEST or aliases > _MOST_ALIASES:
            what = (
                f"nested more than {_DEEPEST} deep"
                if depth > _DEEPEST
                else f"made of more than {_MOST_ALIASES} aliases"
            )
            raise UsageError(f"{file}, line {event.start_mark.line + 1}: it is {what}.", "Write it out.")
    return count


class _Composed:
    """Builder of data from a file's nodes.

    It notes the lines of entries to the third level; no error names a deeper one.
    """

    def __init__(self, file: str, most: int) -> None:
        self._file, self._left = file, most
        self.lines: dict[_Place, int] = {}

    def value(self, node: Any, place: _Place) -> Any:
        """Return the value of a node. Raises `UsageError`."""
        import yaml

        self._left -= 1
        if len(place) > _DEEPEST or self._left < 0:
            raise UsageError(f"{self._file}: its aliases are circular, or make it too large.", "Write it out.")
        if node is None:
            return None
        if len(place) <= _NOTED:
            self.lines.setdefault(place, node.start_mark.line + 1)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(each, (*place, number)) for number, each in enumerate(node.value)]
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, place)
        return None if node.value in {"null", "~", ""} and not node.style else cleaned(str(node.value))

    def _mapping(self, node: Any, place: _Place) -> dict[str, Any]:
        import yaml

        held: dict[str, Any] = {}
        for key, each in node.value:
            where = f"{self._file}, line {key.start_mark.line + 1}"
            if not isinstance(key, yaml.ScalarNode):
                raise UsageError(f"{where}: a name is a list or a mapping.", "A name must be text.")
            name = cleaned(str(key.value))
            if name in held:
                raise UsageError(f"{where}: {name[:80]!r} is there twice.", "Remove one of them.")
            if len(place) < _NOTED:
                self.lines[*place, name] = key.start_mark.line + 1
            held[name] = self.value(each, (*place, name))
        return held
