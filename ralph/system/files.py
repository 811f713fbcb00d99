"""Reading files within bounds: a file that others may have put there, and a user's texts and JSON lines.

A broken line is a value, not an exception. Programs are found by name in the absolute folders of PATH alone: a relative
entry, or an empty one, means a folder of the workspace, where an agent or a clone may have put one of that name.
"""

import json
import os
import re
import shutil
import stat
import sys
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar, cast

from ralph.errors import UsageError, plainly
from ralph.system.text import storable

if TYPE_CHECKING:
    from pydantic import BaseModel

MOST_BYTES = 64 * 1024 * 1024
"""Of one line, and of a text."""

_MOST_PARTS = 64
_DEEP_KEY = re.compile(
    rf"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){{{_MOST_PARTS}}}""", re.ASCII
)

_M = TypeVar("_M", bound="BaseModel")


def read_regular(
    path: bytes | str | os.PathLike[str], limit: int, *, offset: int = 0, folder: int | None = None
) -> bytes:
    """Return at most `limit` bytes of a regular file. Raises `OSError` for a link or a FIFO; never waits."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    handle = os.open(path, flags, dir_fd=folder)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(None, "it is not a regular file")
        if offset:
            os.lseek(handle, offset, os.SEEK_SET)
        chunks: list[bytes] = []
        while limit > 0 and (chunk := os.read(handle, limit)):
            chunks.append(chunk)
            limit -= len(chunk)
        return b"".join(chunks)
    finally:
        os.close(handle)


def read_if_regular(path: str | os.PathLike[str], limit: int, *, offset: int = 0) -> bytes:
    """Return at most `limit` bytes of a regular file; none if it cannot be read."""
    with suppress(OSError, ValueError):
        return read_regular(path, limit, offset=offset)
    return b""


def parsed(said: str | bytes) -> Any:
    """Return the value of a JSON text; None if it is not valid."""
    with suppress(ValueError, RecursionError):
        return json.loads(said)
    return None


def create_file(path: str | os.PathLike[str], content: bytes, mode: int = 0o666, *, folder: int | None = None) -> None:
    """Write a new file. Raises `OSError` if there is anything of its name, even a dangling link."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    with os.fdopen(os.open(path, flags, mode, dir_fd=folder), "wb") as file:
        file.write(content)


def take_from_others(path: Path) -> None:
    """Leave a file or folder of this user's to its owner alone, unless a group or others were let write to it.

    What they may only read is what a usual umask leaves; what they may write was meant. Raises `OSError`.
    """
    found = path.lstat()
    ours = os.name == "posix" and found.st_uid == os.getuid() and not stat.S_ISLNK(found.st_mode)
    if ours and found.st_mode & 0o077 and not found.st_mode & 0o022:
        path.chmod(stat.S_IMODE(found.st_mode) & 0o700)


def toml_table(text: str) -> dict[str, Any]:
    """Parse TOML. Raises `tomllib.TOMLDecodeError`, also for keys of more than 64 parts.

    The parser needs memory and time for the square of a key's parts: gigabytes for one of 80 kB.
    """
    import tomllib

    if deep := _DEEP_KEY.search(text):
        line = text.count("\n", 0, deep.start()) + 1
        raise tomllib.TOMLDecodeError(f"A key has more than {_MOST_PARTS} parts (at line {line})")
    return tomllib.loads(text)


def home_folders() -> tuple[Path, ...]:
    """Return the user's home folder, with links resolved, and that of the system's records if `HOME` names another."""
    homes = [Path.home()]
    if sys.platform != "win32":
        import pwd

        with suppress(KeyError):  # a user without an entry, as in some containers
            homes.append(Path(pwd.getpwuid(os.getuid()).pw_dir))
    return tuple(dict.fromkeys(home.resolve() for home in homes))


@contextmanager
def opened(name: str) -> Generator[BinaryIO]:
    """Open a file, or with "-" the standard input. Raises `UsageError` if it cannot be opened or read."""
    try:
        if name == "-":
            yield sys.stdin.buffer
        else:
            with Path(name).open("rb") as stream:
                yield stream
    except BrokenPipeError:
        raise  # the reader of the output has gone
    except OSError as error:
        raise UsageError(
            f"The file {name!r} cannot be read: {error.strerror}.", "Name a readable file, or - for standard input."
        ) from error


def text_of(name: str) -> str:
    """Return a file's text, or with "-" the standard input's; bytes that are not UTF-8 are replaced.

    Raises `UsageError` if it cannot be read or is larger than `MOST_BYTES`.
    """
    with opened(name) as stream:
        content = stream.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise UsageError(f"The file {name!r} is larger than {MOST_BYTES // 1024**2} MiB.", "Use a part of it.")
    return content.decode("utf-8-sig", "replace")


def refuse_beside_lines(given: Mapping[str, object], instead: str) -> None:
    """Raise `UsageError` for an option with a value that each line of `--jsonl` has for itself.

    Args:
        given: the values, by the options' names.
        instead: what each object says, in a sentence.
    """
    if named := [name for name, value in given.items() if value]:
        raise UsageError(f"{' and '.join(named)} cannot be given with --jsonl.", f"There {instead}")


def objects(
    stream: BinaryIO, model: type[_M], *, most: int | None = None, as_written: bool = False, every: bool = False
) -> Iterator[tuple[int, _M | str]]:
    """Yield each line that is not empty: its number, from 1, and its object, or what is wrong with it.

    Args:
        most: bytes of a line; `MOST_BYTES` by default.
        as_written: texts stay as they are, whatever is in them; otherwise they are made such as can be stored.
        every: report empty lines, too, for callers that get an answer to each line.
    """
    most = MOST_BYTES if most is None else most
    for number, line in enumerate(_lines(stream, most), start=1):
        if line is None:
            yield number, f"the line is longer than {most // 1024**2} MiB"
        elif line.strip():
            yield number, as_object(line, model, as_written=as_written)
        elif every:
            yield number, "the line is empty"


def as_object(line: bytes, model: type[_M], *, as_written: bool = False) -> _M | str:
    """Return the object of a JSON text, with texts that can be stored; else what is wrong with it."""
    from pydantic import ValidationError

    try:
        said = json.loads(line.decode("utf-8-sig", "replace"))
        said = said if as_written else cleaned(said)
    except json.JSONDecodeError as error:
        return f"it is not JSON: {error}"
    except RecursionError:
        return "it is nested too deeply"
    except ValueError:
        return "it holds a number that is too long"
    if not isinstance(said, dict):
        return "it is not an object"
    try:
        return model.model_validate(said)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_input=False)
        first = max(
            errors, key=lambda each: len(each["loc"])
        )  # of kinds that could stand there, the one it is most like
        place = _place(first["loc"], cast("object", said), missing=first["type"] == "missing")
        return f"{place}: {plainly(first['msg'])}"[:300]


def _place(parts: Sequence[int | str], said: object, *, missing: bool) -> str:
    """Return the place in an object, without the kinds of value that could stand there."""
    place: list[str] = []
    for part in parts:
        if isinstance(said, dict) and part in said:
            said = cast("dict[object, object]", said)[part]
        elif isinstance(said, list) and isinstance(part, int):
            said = cast("list[object]", said)[part]
        else:
            continue
        place.append(str(part))
    return ".".join((*place, str(parts[-1])) if missing else place)


def cleaned(value: Any) -> Any:
    """Return a JSON value with texts that can be stored: an agent's text may hold anything."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, list):
        return [cleaned(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {key: cleaned(item) for key, item in cast("dict[str, Any]", value).items()}
    return value


def _lines(stream: BinaryIO, most: int) -> Iterator[bytes | None]:
    """Yield the lines of a stream; None for one that is too long, which is skipped without being kept."""
    while line := stream.readline(most + 1):
        if len(line) <= most or line.endswith(b"\n"):
            yield line
            continue
        while (rest := stream.readline(most)) and not rest.endswith(b"\n"):
            pass
        yield None


def absolute_path(path: str | None) -> str:
    """Return the absolute entries of a PATH; the system's own if there are none."""
    return _absolute(path) or os.defpath


def find_program(name: str, env: Mapping[str, str] | None = None) -> str | None:
    """Return the path of a program on PATH; None if it is not there. Relative entries of PATH do not count.

    Args:
        env: the environment with the PATH; None for Ralph's own.
    """
    path = (os.environ if env is None else env).get("PATH")
    return shutil.which(name, path=os.defpath if path is None else _absolute(path))


def _absolute(path: str | None) -> str:
    return os.pathsep.join(entry for entry in (path or "").split(os.pathsep) if Path(entry).is_absolute())


def lock(handle: int) -> bool:
    """Lock an open file for this process until it is closed; return False, at once, if another one has it."""
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(handle, 1 << 20, os.SEEK_SET)  # others cannot read what is locked, so not a byte of the content
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        if sys.platform == "win32":
            os.lseek(handle, 0, os.SEEK_SET)
        return False
    return True
