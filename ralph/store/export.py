"""Export and import of runs as files with one JSON object a line.

The first line names the format, the second is the run; its iterations, events and requests follow. The last line counts
them, so that a truncated file is detected.
"""

import re
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator
from functools import partial
from time import monotonic
from typing import BinaryIO, Literal

import anyio
from pydantic import BaseModel, ValidationError

from ralph.errors import UsageError
from ralph.records.events import Event
from ralph.records.record import IterationRecord, RunRecord, as_json
from ralph.store.base import LEASE, Store, described
from ralph.system.text import escaped
from ralph.types import evolve
from ralph.types.requests import Request

MOST_BYTES = 64_000_000
"""Bytes of the longest line."""

_GROUP = 200
_MOST_NUMBER = 2**31 - 1
_YEARS = (1970, 9000)
_RUN_ID = r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}"
_HALFWAY = "an import of it has not come to its end"

Part = RunRecord | IterationRecord | Event | Request


class _End(BaseModel, extra="forbid"):
    iterations: int
    events: int
    requests: int


class _Line(BaseModel, extra="forbid"):
    """One line with exactly one of these fields."""

    ralph_run: Literal[1] | None = None
    run: RunRecord | None = None
    iteration: IterationRecord | None = None
    event: Event | None = None
    request: Request | None = None
    end: _End | None = None


async def exported(store: Store, run: RunRecord) -> AsyncIterator[str]:
    """Yield the lines of a run's file, without line ends."""
    counted: Counter[str] = Counter()

    def line(kind: str, part: BaseModel) -> str:
        counted[f"{kind}s"] += 1
        return escaped(f'{{"{kind}":{as_json(part)}}}')

    yield '{"ralph_run":1}'
    yield line("run", evolve(run, imported=False))
    async for iteration in store.iterations(run.id):
        yield line("iteration", iteration)
    async for event in store.events(run.id):
        yield line("event", event)
    for request in await store.requests(run.id):
        yield line("request", request)
    yield line("end", _counted(counted))


async def imported(store: Store, file: BinaryIO) -> RunRecord:
    """Add the run of a seekable file, which is checked completely before anything is added.

    The run then has no owner and is marked as imported. If adding it fails, nothing of it stays.

    Raises:
        UsageError: the file was not made by `exported`, or the store has a run with that id.
    """
    for _ in parts_of(file):
        pass
    file.seek(0)
    parts = parts_of(file)
    run = next(parts)
    assert isinstance(run, RunRecord)
    found = await store.run(run.id)
    if found is not None and found.id == run.id:
        raise UsageError(
            f"The store already holds a run {run.id}.",
            f"Look at it with `ralph show {run.id}`, or name another place with --store.",
        )
    token = secrets.token_hex(8)
    run = evolve(run, owner=None, pid=0, imported=True)
    await store.create(evolve(run, state="running", detail=_HALFWAY), owner=token)
    try:
        await _add(store, run, parts, token)
    except BaseException:
        with anyio.CancelScope(shield=True):
            await store.remove(run.id, owner=token)
        raise
    await store.release(run.id, token)
    return run


async def _add(store: Store, run: RunRecord, parts: Iterator[Part], token: str) -> None:
    renewed = monotonic()
    events: list[Event] = []
    for part in parts:
        if isinstance(part, IterationRecord):
            await store.append(run.id, (), iteration=part, owner=token)
        elif isinstance(part, Request):
            await store.ask(run.id, part)
        elif not isinstance(part, RunRecord):
            events.append(part)
        if len(events) >= _GROUP:
            await store.append(run.id, events, owner=token)
            events = []
        if monotonic() > renewed + LEASE / 3:
            await store.renew(run.id, token)
            renewed = monotonic()
    await store.append(run.id, events, run=run, owner=token)


def parts_of(file: BinaryIO) -> Iterator[Part]:
    """Yield the run, then its parts, each checked by itself and for its place. Raises `UsageError`."""
    reader = _Reader()
    for number, text in enumerate(_lines(file), 1):
        try:
            part = reader.read(_Line.model_validate_json(text))
        except ValidationError as error:
            raise _broken(number, described(error)) from None
        except ValueError as error:
            raise _broken(number, str(error)) from None
        if part is not None:
            yield part
    if not reader.ended:
        raise UsageError("The file ends before the end of its run.", "It is truncated: export the run again.")


class _Reader:
    """The state of reading a file: the parts that may come next."""

    def __init__(self) -> None:
        self.ended = False
        self._begun = False
        self._run_id = ""
        self._counted: Counter[str] = Counter()
        self._last: Counter[str] = Counter()

    def read(self, line: _Line) -> Part | None:
        """Return a line's content; None for the first and the last. Raises `ValueError` for a misplaced line."""
        given = line.model_fields_set
        if len(given) != 1 or getattr(line, next(iter(given))) is None:
            raise ValueError("it must hold exactly one thing")
        if self.ended or (line.ralph_run is not None) is self._begun:
            raise ValueError("it is not a line of an exported run" if not self._begun else "it is out of place")
        self._begun = True
        if line.end is not None:
            if not self._run_id or line.end != _counted(self._counted):
                raise ValueError("the file does not have as many lines as its last one says: some are missing or added")
            self.ended = True
        elif line.run is not None:
            self._name(line.run)
        elif line.iteration is not None:
            self._count("iterations", line.iteration.number, line.iteration.run_id)
        elif line.event is not None:
            self._count("events", line.event.seq, line.event.run_id)
            _require_number(line.event.iteration)
        elif line.request is not None:
            self._count("requests", line.request.seq, self._run_id)
        part = line.run or line.iteration or line.event or line.request
        if part is not None:
            _Line.model_validate_json(
                f'{{"{next(iter(given))}":{as_json(part)}}}'
            )  # an infinite number would not be read
        return part

    def _name(self, run: RunRecord) -> None:
        if self._run_id:
            raise ValueError("it is a second run")
        if not re.fullmatch(_RUN_ID, run.id):
            raise ValueError("the run's id is not one of Ralph's")
        if not _YEARS[0] <= run.started_at.year <= _YEARS[1]:
            raise ValueError("the run's start is not a valid time")
        self._run_id = run.id

    def _count(self, kind: str, number: int, run_id: str) -> None:
        if not self._run_id or run_id != self._run_id:
            raise ValueError("it belongs to another run")
        if number <= self._last[kind]:
            raise ValueError(f"its number is {number}, and the last was {self._last[kind]}")
        _require_number(number)
        self._last[kind] = number
        self._counted[kind] += 1


def _counted(parts: Counter[str]) -> _End:
    return _End(**{kind: parts[kind] for kind in _End.model_fields})


def _require_number(number: int) -> None:
    if number > _MOST_NUMBER:
        raise ValueError("its number is larger than any database has room for")


def _lines(file: BinaryIO) -> Iterable[bytes]:
    lines = iter(partial(file.readline, MOST_BYTES + 1), b"")
    for number, text in enumerate(lines, 1):
        if len(text) > MOST_BYTES:
            raise _broken(number, f"it is longer than {MOST_BYTES} bytes")
        yield text


def _broken(number: int, problem: str) -> UsageError:
    return UsageError(f"Line {number} cannot be imported: {problem}.", "Give a file made by `ralph export`, unchanged.")
