"""The places that settings come from: the user's file, and the files of the workspace."""

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from ralph.errors import SettingError, UsageError, WorkspaceError
from ralph.system.files import read_regular, toml_table

MOST_BYTES = 1_000_000
_NOT_FILES, _SHARED_MEMORY = ("/dev", "/proc", "/sys"), "/dev/shm"  # noqa: S108 - a place of files


@dataclass(frozen=True, slots=True)
class Source:
    """Settings from one place: its name for messages ("ralph.toml"), and the values."""

    name: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FileSource(Source):
    """A source that is a whole file. Consent covers exactly its bytes; for another source it covers the values."""

    content: bytes


def user_file() -> Path:
    """Return the path of the user's own settings, which count in every workspace."""
    from platformdirs import user_config_path

    return user_config_path("ralph", appauthor=False) / "ralph.toml"


def own_sources(workspace: Path) -> list[Source]:
    """Return the workspace's own settings, weakest first: `[tool.ralph]` in its pyproject.toml, then its ralph.toml."""
    return [source for source in (_project(workspace), toml_source(workspace / "ralph.toml")) if source]


def workspace_folder(path: str | Path) -> Path:
    """Return the absolute path of the folder that `-C` names.

    Raises:
        WorkspaceError: there is no such folder, it cannot be read, or it belongs to the system.
    """
    said = f"The workspace {str(path)!r}"
    try:
        folder = Path(path).expanduser().resolve(strict=True)
        is_folder = folder.is_dir()
    except (OSError, RuntimeError, ValueError):
        raise WorkspaceError(f"{said} does not exist.", "Name a folder that does, with -C.") from None
    if not is_folder:
        raise WorkspaceError(f"{said} is not a folder.", "Name the folder that contains it, with -C.")
    if any(folder.is_relative_to(place) for place in _NOT_FILES) and not folder.is_relative_to(_SHARED_MEMORY):
        raise WorkspaceError(f"{said} belongs to the system and has no files to work on.", "Name another, with -C.")
    if not os.access(folder, os.R_OK | os.X_OK):
        raise WorkspaceError(f"{said} cannot be read.", "Give yourself permission to read and enter it.")
    return folder


def toml_source(path: Path) -> FileSource | None:
    """Read a file of settings, bounded, as it may come from anywhere; None if it does not exist.

    Raises:
        UsageError: the file cannot be read, or is too large.
        SettingError: it is not valid TOML in UTF-8.
    """
    content = read_file(path, str(path), "Fix it, or remove it: it is not needed.")
    return None if content is None else parse_toml(path, content)


def read_file(path: Path, named: str, remedy: str) -> bytes | None:
    """Return a file's first bytes, one more than `MOST_BYTES` if it is larger; None if it does not exist.

    Raises:
        UsageError: the file, as it is named, cannot be read.
    """
    try:
        return read_regular(path, MOST_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        problem = "it is a link" if path.is_symlink() else error.strerror or error
        raise UsageError(f"{named} cannot be read: {problem}.", remedy) from error


def parse_toml(path: Path, content: bytes) -> FileSource:
    """Parse a file of settings; raise as `toml_source` does."""
    if len(content) > MOST_BYTES:
        raise UsageError(f"{path} is larger than {MOST_BYTES:,} bytes.", "Settings need only a few lines.")
    try:
        return FileSource(str(path), toml_table(content.decode()), content)
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise SettingError(f"line {line}", str(path), "it is not UTF-8.", "Save the file as UTF-8.") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise SettingError("it is not valid TOML", str(path), f"{error}.", "Correct that line.") from None


def _project(workspace: Path) -> Source | None:
    """Return `[tool.ralph]` of a pyproject.toml; a file that cannot be read is for other tools to report."""
    path = workspace / "pyproject.toml"
    try:
        source = toml_source(path)
    except SettingError:
        return None
    ours = _table_of(source) if source else None
    return None if ours is None else Source(f"{path} [tool.ralph]", ours)


def with_settings_of(before: bytes, now: bytes) -> bytes:
    """Return a pyproject.toml's content with `[tool.ralph]` as it was before, and all else as it is now.

    The lines of its tables are replaced. Where that does not give the same settings, the content is that of before.
    """
    (ours, _), (found, others) = _parted(before), _parted(now)
    if ours == found:
        return now
    if others is None:
        return before
    tables = _TABLE.split(now)
    place = next((number for number, table in enumerate(tables) if _OUR_TABLE.match(table)), len(tables))
    new = [table for table in _TABLE.split(before) if _OUR_TABLE.match(table)]
    rest = [table for table in tables[place:] if not _OUR_TABLE.match(table)]
    parts = [each for each in (*tables[:place], *new, *rest) if each]
    made = b"".join(each if each.endswith(b"\n") else each + b"\n" for each in parts)
    return made if _parted(made) == (ours, others) else before


_KEY = rb"""[ \t]*(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*"""
_TABLE = re.compile(rb"^(?=[ \t]*\[\[?%b(?:\.%b)*\]\]?[ \t]*(?:#.*)?\r?$)" % (_KEY, _KEY), re.MULTILINE)
"""The text before a line that looks like the name of a table."""

_OUR_TABLE = re.compile(rb"""[ \t]*\[\[?[ \t]*(["']?)tool\1[ \t]*\.[ \t]*(["']?)ralph\2[ \t]*[.\]]""")


def _parted(content: bytes) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """Return `[tool.ralph]` of a pyproject.toml's content, and all else; None if the content cannot be read."""
    try:
        source = parse_toml(Path("pyproject.toml"), content)
    except UsageError:
        return None, None
    ours, others = _table_of(source), dict(source.values)
    if ours is not None:
        tools = {name: value for name, value in cast("dict[str, Any]", others.pop("tool")).items() if name != "ralph"}
        others |= {"tool": tools} if tools else {}
    return ours, others


def _table_of(source: Source) -> dict[str, Any] | None:
    tools: object = source.values.get("tool")
    ours: object = cast("dict[str, object]", tools).get("ralph") if isinstance(tools, dict) else None
    return cast("dict[str, Any]", ours) if isinstance(ours, dict) else None
