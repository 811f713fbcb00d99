"""The logs that other tools leave in their usual places: found, and grouped to loops.

A loop is two turns or more with the same prompt in one folder: the turns of a conversation are not passes of a loop.
Links are not followed, only regular files are read, and of each format's files the newest.
"""

import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from io import BytesIO
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple, cast

from pydantic import ValidationError

from ralph.cli.replay_sources import NEW_RUN, Broken, Line, read_logs
from ralph.cli.session_files import FORMATS, Format, Reader, Told, turns
from ralph.errors import UsageError, plainly
from ralph.executors.program_output import Event, mapping
from ralph.system.files import cleaned, parsed, read_regular
from ralph.system.text import counted
from ralph.types import evolve

_MOST_ENTRIES = 20_000
_MOST_LINE = 8 * 1024 * 1024
_MOST_BYTES = 256 * 1024 * 1024
"""Bytes of all files of one format."""

_SAME = 200
"""Characters in which the prompts of a loop agree, but for the numbers in them."""

_DIGITS = re.compile(r"\d+")


class _File(NamedTuple):
    modified: float
    size: int
    path: Path


@dataclass(slots=True)
class Found:
    """The loops in the usual places.

    Attributes:
        passes: of all loops, and the files that could not be read.
        looked: each format's place, in short and as a pattern, and the number of files there.
        single: turns with a prompt that was given only once.
        twice: turns in session files of this folder, where the loop's own logs are read.
        unread: files beyond the bound.
        covered: this folder, if it has a loop's own logs.
    """

    passes: list[Line | Broken] = field(default_factory=list[Line | Broken])
    looked: list[tuple[str, str, int]] = field(default_factory=list[tuple[str, str, int]])
    single: int = 0
    twice: int = 0
    unread: int = 0
    covered: str = ""
    names: Counter[str] = field(default_factory=Counter[str])

    def notes(self) -> Iterator[str]:
        """Yield where the passes come from, what they used, and what is not among them."""
        used = [line.usage for line in self.passes if isinstance(line, Line) and line.usage]
        read, written = sum(each.input_tokens or 0 for each in used), sum(each.output_tokens or 0 for each in used)
        yield "Read: " + "; ".join(f"{place} ({counted(number, 'file')})" for place, _, number in self.looked if number)
        if read or written:
            yield f"Tokens: {read:,} in, {written:,} out"
        if self.single:
            yield f"Not counted: {counted(self.single, 'turn')} with a prompt that was given only once: no loop"
        if self.twice:
            yield f"Not counted: {counted(self.twice, 'turn')} in sessions of this folder: it has its loop's own logs"
        if self.unread:
            yield f"Not read: {self.unread:,} files; the newest {_MOST_BYTES // 1024**2} MiB of each format are read"

    def add(self, told: Sequence[Told], name: str) -> None:
        """Add a loop; the second one of a name gets a number."""
        self.names[name] += 1
        name = name if self.names[name] == 1 else f"{name} #{self.names[name]}"
        for each in told:
            try:
                self.passes.append(Line.model_validate(cleaned({"run": name, **each.fields})))
            except ValidationError as error:
                wrong = plainly(error.errors(include_url=False, include_input=False)[0]["msg"])
                self.passes.append(Broken({"run": name}, wrong))


def find_loops(here: Path, environment: Mapping[str, str]) -> Found:
    """Return the loops in the logs of the current folder and in the session files of this user's agents.

    Raises:
        UsageError: there is no log in any of the places.
    """
    found = Found()
    for form in FORMATS:
        base = Path(environment.get(form.variable) or Path.home() / form.home) if form.variable else here
        files = [each for pattern in form.patterns for each in _files(found, base, pattern.split("/"))]
        patterns = ", ".join(str(base / pattern) for pattern in form.patterns)
        found.looked.append((f"{form.name} in {base}", f"{patterns} ({form.name})", len(files)))
        if form.read:
            _add_sessions(found, form, form.read, _newest(found, files), here)
        else:
            _add_logs(found, form, files, here)
        if not form.variable and any(isinstance(each, Line) for each in found.passes):
            found.covered = str(here)
    if not found.passes and not any(number for *_, number in found.looked):
        places = ", ".join(pattern for _, pattern, _ in found.looked)
        raise UsageError(
            f"No log of another tool was found. Ralph looked for {places}.",
            "Name the folder of your logs, as in --from-logs logs.",
        )
    return found


def _files(found: Found, folder: Path, parts: Sequence[str]) -> Iterator[_File]:
    """Yield the regular files that a pattern names, without following a link below the folder."""
    try:
        with os.scandir(folder) as entries:
            listed = [each for each in islice(entries, _MOST_ENTRIES) if fnmatchcase(each.name, parts[0])]
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        found.passes.append(Broken({"folder": str(folder)}, error.strerror or str(error)))
        return
    for entry in listed:
        if len(parts) > 1 and entry.is_dir(follow_symlinks=False):
            yield from _files(found, Path(entry.path), parts[1:])
        elif len(parts) == 1 and entry.is_file(follow_symlinks=False):
            with suppress(OSError):  # it has gone meanwhile
                status = entry.stat(follow_symlinks=False)
                yield _File(status.st_mtime, status.st_size, Path(entry.path))


def _newest(found: Found, files: Sequence[_File]) -> list[_File]:
    room, kept = _MOST_BYTES, list[_File]()
    for each in sorted(files, reverse=True):
        if each.size <= room:
            room -= each.size
            kept.append(each)
    found.unread += len(files) - len(kept)
    return kept[::-1]


def _add_logs(found: Found, form: Format, files: Sequence[_File], here: Path) -> None:
    for folder in dict.fromkeys(each.path.parent for each in files):
        if sum(each.size for each in files if each.path.parent == folder) > _MOST_BYTES:
            wrong = f"it holds more than {_MOST_BYTES // 1024**2} MiB: replay it with --from-logs DIR"
            found.passes.append(Broken({"folder": str(folder)}, wrong))
            continue
        title = f"{folder.relative_to(here.parent)} ({form.name})"
        for each in read_logs(folder):
            known = isinstance(each, Line)
            found.passes.append(evolve(each, run=f"{title}{str(each.run)[len(folder.name) :]}") if known else each)


def _add_sessions(found: Found, form: Format, read: Reader, files: Sequence[_File], here: Path) -> None:
    """Add the loops in session files; those of the covered folder are known already.

    In a file of this folder each turn is a pass. Elsewhere people talk with their agents as well.
    """
    loops, seen = defaultdict[tuple[str, str], list[Told]](list), set[object]()
    for file in files:
        try:
            content = read_regular(file.path, _MOST_BYTES)
        except OSError as error:
            found.passes.append(Broken({"file": str(file.path)}, error.strerror or str(error)))
            continue
        for told in turns(_events(content), read):
            same = (told.folder, told.at, told.prompt, told.fields["text"])
            if told.at and same in seen:  # an agent may copy a session into that which continues it
                continue
            seen.add(same)
            if told.folder and told.folder == found.covered:
                found.twice += 1
                continue
            at = told.at or datetime.fromtimestamp(file.modified, UTC)
            key = ("", str(file.path)) if not form.variable else (told.folder, _DIGITS.sub("#", told.prompt)[:_SAME])
            loops[key].append(told._replace(at=at, fields={"at": at, **told.fields}))
    for (folder, _), held in loops.items():
        where = Path(folder).name or folder if folder else here.name
        for run in _nights(sorted(held, key=attrgetter("at"))):
            if len(run) > 1 or not form.variable:
                found.add(run, f"{where} ({form.name})")
            else:
                found.single += 1


def _nights(held: Sequence[Told]) -> Iterator[list[Told]]:
    """Yield the turns between which no more than six hours pass."""
    run = list[Told]()
    for told in held:
        if run and (cast("datetime", told.at) - cast("datetime", run[-1].at)).total_seconds() > NEW_RUN:
            yield run
            run = []
        run.append(told)
    if run:
        yield run


def _events(content: bytes) -> Iterator[Event]:
    for line in BytesIO(content):
        if len(line) <= _MOST_LINE and line.lstrip().startswith(b"{") and (event := mapping(parsed(line))):
            yield event
