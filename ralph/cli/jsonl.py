"""JSON lines as others write them: bounded, cleaned, and a broken one is an answer, not an end."""

import json
import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast

from pydantic import BaseModel, ValidationError

from ralph.errors import UsageError
from ralph.status.fields import storable

__all__ = ["MOST_BYTES", "as_object", "cleaned", "objects", "opened"]

MOST_BYTES = 64 * 1024 * 1024
"""Of one line."""

_M = TypeVar("_M", bound=BaseModel)


@contextmanager
def opened(name: str) -> Generator[BinaryIO]:
    """A file, or with "-" what comes in. Raises `UsageError` where it cannot be opened or read."""
    try:
        if name == "-":
            yield sys.stdin.buffer
        else:
            with Path(name).open("rb") as stream:
                yield stream
    except OSError as error:
        raise UsageError(f"The file {name!r} cannot be read: {error.strerror}.", "Name one that can, or -.") from error


def objects(stream: BinaryIO, model: type[_M], *, most: int = MOST_BYTES) -> Iterator[tuple[int, _M | str]]:
    """Each line that is not empty: its number, from 1, and what it holds, or what is wrong with it."""
    for number, line in enumerate(_lines(stream, most), start=1):
        if line is None:
            yield number, f"the line is longer than {most // 1024**2} MiB"
        elif line.strip():
            yield number, as_object(line, model)


def as_object(line: bytes, model: type[_M]) -> _M | str:
    """What a JSON text holds, its texts cleaned so that they can be stored; else what is wrong with it."""
    try:
        said = cleaned(json.loads(line.decode("utf-8-sig", "replace")))
    except json.JSONDecodeError as error:
        return f"it is no JSON: {error}"
    except RecursionError:
        return "it is nested too deeply"
    except ValueError:
        return "it holds a number that is too long"
    if not isinstance(said, dict):
        return "it is no object"
    try:
        return model.model_validate(said)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        return f"{_place(first['loc'], cast('object', said))}: {first['msg'].replace('a valid tuple', 'a list')}"[:300]


def _place(parts: Sequence[int | str], said: object) -> str:
    """Where in an object something is wrong; the kinds of value that could stand there are no part of the place."""
    place: list[str] = []
    for part in parts:
        if isinstance(said, dict):
            said = cast("dict[object, object]", said).get(part)
        elif isinstance(said, list) and isinstance(part, int):
            said = cast("list[object]", said)[part]
        else:
            break
        place.append(str(part))
    return ".".join(place)


def cleaned(value: Any) -> Any:
    """A JSON value whose texts can be stored: what agents wrote holds anything."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, list):
        return [cleaned(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {key: cleaned(item) for key, item in cast("dict[str, Any]", value).items()}
    return value


def _lines(stream: BinaryIO, most: int) -> Iterator[bytes | None]:
    """The lines of a stream; None for one that is too long, which is read past without being kept."""
    while line := stream.readline(most + 1):
        if len(line) <= most or line.endswith(b"\n"):
            yield line
            continue
        while (rest := stream.readline(most)) and not rest.endswith(b"\n"):
            pass
        yield None
