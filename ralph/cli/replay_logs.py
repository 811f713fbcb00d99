"""A folder of another tool's logs as recorded passes: a file a pass."""

import errno
import os
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from ralph.cli.replay_lines import Line
from ralph.cli.transcripts import told_by
from ralph.errors import UsageError, plainly
from ralph.system.files import read_regular
from ralph.system.jsonl import cleaned

__all__ = ["Unread", "read_logs"]

_MOST_FILES = 100_000
_MOST_BYTES = 64 * 1024 * 1024

_NEW_RUN = 6 * 3600.0
"""Seconds between two passes after which another run begins: the agents' own limits pass within five hours."""

_CLAUDE = re.compile(r"claude_output_.*(?<!_stream)(?<!_stderr)\.(?:log|txt|jsonl?)\Z", re.DOTALL)
_LOG = re.compile(r"[^.].*\.(?:log|txt|md|jsonl?|out)\Z", re.DOTALL | re.IGNORECASE)
_TIME = re.compile(r"(?<!\d)(20\d\d)-?(\d\d)-?(\d\d)[_T -]?(\d\d)[-:.]?(\d\d)[-:.]?(\d\d)(?!\d)", re.ASCII)
_NUMBER = re.compile(r"(\d{1,18})", re.ASCII)


class Unread(NamedTuple):
    """A file that is left out, and why."""

    file: str
    error: str


def read_logs(folder: Path) -> Iterator[Line | Unread]:
    """The passes of a folder's logs in the order of their names, numbers by their value; each with its run's name.

    Where logs are called `claude_output_…`, only they are read (frankbria's ralph: the same turn's `…_stream.log` has
    more on it and is read instead), else every log and text file. Links are not followed, and nothing but regular
    files is opened. A pause of six hours between the times in two names begins another run.

    Raises:
        UsageError: the folder cannot be read, or holds no log.
    """
    names = _names(folder)
    runs = _runs([_time(name) for name in names])
    title = folder.resolve().name or "logs"
    for name, number in zip(names, runs, strict=True):
        run = f"{title}#{number}" if runs[-1] > 1 else title
        yield _read(folder, name, run)


def _names(folder: Path) -> list[str]:
    """The files that hold passes, in order."""
    try:
        with os.scandir(folder) as entries:
            found = [
                entry.name for _, entry in zip(range(_MOST_FILES), entries, strict=False) if _LOG.match(entry.name)
            ]
    except OSError as error:
        raise UsageError(
            f"The folder {str(folder)!r} cannot be read: {error.strerror}.", "Name the folder that holds the logs."
        ) from error
    names = [name for name in found if _CLAUDE.match(name)] or found
    if not names:
        raise UsageError(
            f"There is no log in the folder {str(folder)!r}.",
            "A log is called claude_output_….log, or ends in .log, .txt, .md, .json, .jsonl or .out.",
        )
    return sorted(names, key=_natural)


def _natural(name: str) -> tuple[Sequence[tuple[int, str]], str]:
    """By words and by the value of numbers: iteration-10 after iteration-9."""
    parts = _NUMBER.split(name)
    return [(int(part), "") if place % 2 else (0, part) for place, part in enumerate(parts)], name


def _time(name: str) -> datetime | None:
    """The time in a file's name, in the zone of this machine."""
    found = _TIME.search(name)
    try:
        return datetime(*map(int, found.groups())).astimezone() if found else None  # type: ignore[arg-type]
    except (ValueError, OverflowError):
        return None


def _runs(times: Sequence[datetime | None]) -> list[int]:
    """The number of each pass's run, from 1."""
    number, last, runs = 1, None, list[int]()
    for time in times:
        if time is not None and last is not None and (time - last).total_seconds() > _NEW_RUN:
            number += 1
        last = time or last
        runs.append(number)
    return runs


def _read(folder: Path, name: str, run: str) -> Line | Unread:
    path = folder / name
    try:
        content, modified = _content(path)
        told = told_by(content)
        told.setdefault("at", _time(name) or _begin(modified, told.get("duration")))
        return Line.model_validate(cleaned({"run": run, **told}))
    except OSError as error:
        linked = error.errno == errno.ELOOP
        return Unread(name, "it is a link, and links are not followed" if linked else error.strerror or str(error))
    except ValidationError as error:
        return Unread(name, plainly(error.errors(include_url=False, include_input=False)[0]["msg"]))


def _begin(written: datetime, duration: Any) -> datetime:
    """When a pass began whose log was written last at its end."""
    took = duration if isinstance(duration, float) and 0 < duration < _NEW_RUN else 0.0
    return written - timedelta(seconds=took)


def _content(path: Path) -> tuple[str, datetime]:
    """What a log holds, the one with the whole stream before the one with the result alone, and when it was written."""
    modified = datetime.fromtimestamp(path.lstat().st_mtime, UTC)
    stream = path.with_name(f"{path.stem}_stream{path.suffix}")
    for candidate in (stream, path) if _CLAUDE.match(path.name) else (path,):
        try:
            content = read_regular(candidate, _MOST_BYTES + 1)
        except OSError:
            if candidate is path:
                raise
            continue
        if len(content) <= _MOST_BYTES and (content.strip() or candidate is path):
            return content.decode("utf-8-sig", "replace"), modified
    raise OSError(None, f"it is larger than {_MOST_BYTES // 1024**2} MiB")
