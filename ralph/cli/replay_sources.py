"""The sources of recorded passes: JSON lines, and a folder with another tool's logs. What is missing stays unknown."""

import errno
import json
import os
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import AfterValidator, BaseModel, Field, ValidationError, model_validator

from ralph.analysis import analyze_text
from ralph.cli.transcripts import parse_transcript
from ralph.errors import UsageError, plainly
from ralph.pipeline.replay import Moves, Pass, failure_of
from ralph.system.files import cleaned, objects, opened, read_regular
from ralph.types import evolve
from ralph.types.output import Answered, Failed, Outcome, Usage
from ralph.types.plan import parse_plan

_MOST = 10**12
_SHORT = 500
"""Characters up to which a reply can be an error and nothing else."""
_YEARS = range(1970, 9000)


def _placed(moment: datetime) -> datetime:
    if moment.year not in _YEARS:
        raise ValueError(f"a year from {_YEARS.start} to {_YEARS.stop - 1} is needed")
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


Count = Annotated[int, Field(ge=0, le=_MOST)]
Amount = Annotated[float, Field(ge=0, le=_MOST, allow_inf_nan=False)]
Moment = Annotated[datetime, AfterValidator(_placed)]


class GivenChanges(BaseModel, frozen=True):
    """The changes of a pass; files and commits may be given by their names as well, and files alone without a key."""

    files: Count | list[str] | None = None
    commits: Count | list[str] | None = None
    fingerprint: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _of_files(cls, given: object) -> object:
        return {"files": given} if type(given) in {int, list} else given

    def moves(self) -> Moves:
        return Moves(files=_number(self.files), commits=_number(self.commits), fingerprint=self.fingerprint or None)


class _Usage(BaseModel, frozen=True):
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cache_read_tokens: Count | None = None
    premium_requests: Amount | None = None
    cost: Amount | None = None
    model_calls: Count | None = None


class Line(BaseModel, frozen=True):
    """One line of the input of `ralph replay`.

    Attributes:
        run: the run that it is a pass of; lines without one are one run.
        error: the failure of the turn; true if it is not known which.
        plan: the checklist as Markdown.
        cost: in US dollars; it replaces that of `usage`.
        duration: in seconds.
        task: the task of the run.
    """

    run: str | int | None = None
    text: str | None
    error: str | bool | dict[str, Any] | None = None
    denials: Count | list[Any] | None = None
    tools: Count | None = None
    changes: GivenChanges | None = None
    plan: str | None = None
    usage: _Usage | None = None
    cost: Amount | None = None
    duration: Amount | None = None
    at: Moment | None = None
    task: str | None = None

    @property
    def name(self) -> str | None:
        """The run's name; None for the run that has none."""
        return None if self.run is None else str(self.run)

    def as_pass(self) -> Pass:
        usage = Usage(**self.usage.model_dump()) if self.usage else Usage()
        return Pass(
            text=self.text or "",
            task=self.task or "",
            outcome=self._outcome(),
            tools=self.tools,
            denials=_number(self.denials),
            changes=self.changes.moves() if self.changes else None,
            plan=None if self.plan is None else parse_plan(self.plan),
            usage=usage if self.cost is None else evolve(usage, cost=self.cost),
            duration=self.duration,
            at=self.at,
        )

    def _outcome(self) -> Outcome:
        """Return how the turn ended.

        If the error is unnamed, a reply that is nothing but an error names it; a reply that was cut short may be about
        anything.
        """
        match self.error:
            case None:
                return self._implied_outcome()
            case False | "":
                return Answered()
            case True:
                return self._unnamed_failure()
            case str(text) if text == self.text:
                return self._unnamed_failure()
            case str(text):
                return failure_of(text)
            case dict(held):
                return failure_of(json.dumps(held))

    def _implied_outcome(self) -> Outcome:
        """Return the outcome of a line without an error: a failure only for a short reply of a service that is down."""
        text = self.text or ""
        failure = failure_of(text) if text and len(text) <= _SHORT else None
        down = failure and failure.failure == "unavailable" and analyze_text(text).state == "error"
        return failure if failure and down else Answered()

    def _unnamed_failure(self) -> Failed:
        text = self.text or ""
        if analyze_text(text).state in {"limited", "error"}:
            return failure_of(text)
        return Failed(failure="crashed", message="it is not known why")


def _number(given: int | list[Any] | None) -> int | None:
    return len(given) if isinstance(given, list) else given


_MOST_FILES = 100_000
_MOST_BYTES = 64 * 1024 * 1024

NEW_RUN = 6 * 3600.0
"""Seconds between two passes after which another run begins: the agents' own limits pass within five hours."""

_CLAUDE = re.compile(r"claude_output_.*(?<!_stream)(?<!_stderr)\.(?:log|txt|jsonl?)\Z", re.DOTALL)
_LOG = re.compile(r"[^.].*\.(?:log|txt|md|jsonl?|out)\Z", re.DOTALL | re.IGNORECASE)
_TIME = re.compile(r"(?<!\d)(20\d\d)-?(\d\d)-?(\d\d)[_T -]?(\d\d)[-:.]?(\d\d)[-:.]?(\d\d)(?!\d)", re.ASCII)
_NUMBER = re.compile(r"(\d{1,18})", re.ASCII)


class Broken(NamedTuple):
    """A line or a file that is not a pass."""

    place: dict[str, Any]
    error: str

    def as_json(self) -> dict[str, Any]:
        return {"error": self.error, **self.place}

    def __str__(self) -> str:
        where = " ".join(f"{name} {value}" for name, value in self.place.items())
        return f"{where}: {self.error}"


def read_lines(name: str) -> Iterator[Line | Broken]:
    """Yield the passes of a file.

    Raises:
        UsageError: the file cannot be read.
    """
    with opened(name) as stream:
        for number, held in objects(stream, Line):
            yield Broken({"line": number}, held) if isinstance(held, str) else held


def read_logs(folder: Path) -> Iterator[Line | Broken]:
    """Yield the passes of a folder's logs in the order of their names, numbers by value, each with its run's name.

    If logs are called `claude_output_…`, only they are read (frankbria's ralph: the same turn's `…_stream.log` has more
    and is read instead), else every log and text file. Links are not followed, and only regular files are opened. A
    pause of six hours between the times in two names begins another run.

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
    try:
        with os.scandir(folder) as entries:
            found = [
                entry.name for _, entry in zip(range(_MOST_FILES), entries, strict=False) if _LOG.match(entry.name)
            ]
    except OSError as error:
        problem = f"The folder {str(folder)!r} cannot be read: {error.strerror}."
        raise UsageError(problem, "Name the folder that holds the logs.") from error
    names = [name for name in found if _CLAUDE.match(name)] or found
    if not names:
        raise UsageError(
            f"There is no log in the folder {str(folder)!r}.",
            "A log is called claude_output_….log, or ends in .log, .txt, .md, .json, .jsonl or .out.",
        )
    return sorted(names, key=_natural)


def _natural(name: str) -> tuple[Sequence[tuple[int, str]], str]:
    """Return the key of an order by words and by the value of numbers: iteration-10 after iteration-9."""
    parts = _NUMBER.split(name)
    return [(int(part), "") if place % 2 else (0, part) for place, part in enumerate(parts)], name


def _time(name: str) -> datetime | None:
    found = _TIME.search(name)
    try:
        return datetime(*map(int, found.groups())).astimezone() if found else None  # type: ignore[arg-type]
    except (ValueError, OverflowError):
        return None


def _runs(times: Sequence[datetime | None]) -> list[int]:
    number, last, runs = 1, None, list[int]()
    for time in times:
        if time is not None and last is not None and (time - last).total_seconds() > NEW_RUN:
            number += 1
        last = time or last
        runs.append(number)
    return runs


def _read(folder: Path, name: str, run: str) -> Line | Broken:
    path = folder / name
    try:
        content, modified = _content(path)
        fields = parse_transcript(content)
        took: Any = fields.get("duration")  # the last write to a log is at the end of its pass
        known = isinstance(took, float) and 0 < took < NEW_RUN
        fields.setdefault("at", _time(name) or modified - timedelta(seconds=took if known else 0.0))
        return Line.model_validate(cleaned({"run": run, **fields}))
    except OSError as error:
        linked = error.errno == errno.ELOOP
        return Broken(
            {"file": name}, "it is a link, and links are not followed" if linked else error.strerror or str(error)
        )
    except ValidationError as error:
        return Broken({"file": name}, plainly(error.errors(include_url=False, include_input=False)[0]["msg"]))


def _content(path: Path) -> tuple[str, datetime]:
    """Return the content of a log and its time; the log of the whole stream comes before that of the result alone."""
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
