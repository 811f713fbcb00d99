"""Queries and transactions of a SQL store, synchronous and over one connection.

The methods of `Tables` are those of `Store`; those that yield there return pages here.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC
from itertools import islice
from operator import itemgetter
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Delete,
    Double,
    Insert,
    Row,
    Select,
    Table,
    Update,
    bindparam,
    delete,
    func,
    insert,
    literal_column,
    select,
    update,
)
from sqlalchemy.engine.interfaces import DBAPICursor

from ralph.errors import OwnershipLostError, RecordError, RunOwnedError, StoreError
from ralph.records.events import Event, parse_event
from ralph.records.record import IterationRecord, RunRecord, Trace, as_json
from ralph.store import schema
from ralph.store.base import LEASE, TRANSCRIPT, Health, described, named
from ralph.store.database import Database
from ralph.store.schema import sealed
from ralph.system.text import storable
from ralph.types import evolve
from ralph.types.requests import Request

_T = TypeVar("_T")

PAGE_ROWS = 500
PAGE_CHARACTERS = 1_000_000
"""The limits of a page, whichever is reached first; a page has at least one row."""

TRACES = 2000
"""The number of traces in one query."""

MOST_PROBLEMS = 20

_LARGEST = 2**31 - 1
"""The largest number that every database accepts in a query; no record has a larger one."""

_TRACES = TypeAdapter(list[Trace])

_run, _iteration, _event = schema.runs.c, schema.iterations.c, schema.events.c
_trace, _owner, _request = schema.traces.c, schema.owners.c, schema.requests.c

_UPDATE_RUN = (
    update(schema.runs)
    .where(_run.id == bindparam("run_id"))
    .values({column: bindparam(column) for column in ("workspace", "started_at", "state", "record", "checksum")})
)


class InDoubtError(Exception):
    """A connection lost during a commit, which may have succeeded or not.

    It has the database's mark of the transaction, its result if it succeeded, and the driver's error.
    """

    def __init__(self, mark: str, result: object, lost: Exception) -> None:
        super().__init__(mark)
        self.mark, self.result, self.lost = mark, result, lost


class Statement:
    """A statement that is compiled once and passed to the driver directly.

    Executing it through SQLAlchemy every time costs half a commit.
    """

    def __init__(self, statement: Insert | Update | Delete | Select[*tuple[Any, ...]], connection: Connection) -> None:
        compiled = statement.compile(dialect=connection.dialect)
        self._text = str(compiled)
        self._shaped = _shape(compiled.positiontup)

    def execute(self, cursor: DBAPICursor, given: Sequence[Mapping[str, Any]]) -> None:
        if given:
            cursor.executemany(self._text, list(map(self._shaped, given)))

    def first(self, cursor: DBAPICursor, **values: Any) -> Sequence[Any] | None:
        """Return the first row found."""
        cursor.execute(self._text, self._shaped(values))
        return cursor.fetchone()


def _shape(positions: Sequence[str] | None) -> Callable[[Mapping[str, Any]], Any]:
    """Return a function that arranges values for the driver: by name, or by the order of the question marks."""
    if positions is None:
        return dict
    if len(positions) == 1:
        return lambda values: (values[positions[0]],)
    return itemgetter(*positions)


class Tables:
    """The tables of a database, for one thread at a time."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.connection = connection = database.open(schema.MIGRATION)
        self._identity = database.identity()
        self._patient: bool | None = None
        self._now: ColumnElement[float] = literal_column(database.clock, Double)
        lease = select(_owner.token, _owner.until > self._now).where(_owner.run_id == bindparam("run_id"))
        self._lease = Statement(lease.with_for_update(), connection)
        self._insert_run = Statement(insert(schema.runs), connection)
        self._update_run = Statement(_UPDATE_RUN, connection)
        self._insert_iteration = Statement(insert(schema.iterations), connection)
        self._insert_trace = Statement(insert(schema.traces), connection)
        self._insert_event = Statement(insert(schema.events), connection)

    def was_committed(self, mark: str) -> bool:
        with self.connection.begin():
            return self.database.was_committed(self.connection, mark)

    def create(self, run: RunRecord, events: Sequence[Event], owner: str) -> None:
        run_row, event_rows = _run_row(run), _event_rows(run.id, events)
        lease: dict[str, Any] = {"run_id": run.id, "token": owner, "until": self._now + LEASE if owner else 0.0}

        def work(cursor: DBAPICursor) -> None:
            self._insert_run.execute(cursor, [run_row])
            self.connection.execute(insert(schema.owners).values(lease))
            self._insert_event.execute(cursor, event_rows)

        self._transact(work)

    def append(
        self,
        run_id: str,
        events: Sequence[Event],
        iteration: IterationRecord | None,
        run: RunRecord | None,
        owner: str,
        *,
        patient: bool = True,
    ) -> None:
        event_rows = _event_rows(run_id, events)
        key = {"run_id": run_id, "number": iteration.number if iteration else 0}
        iteration_rows = [sealed(schema.iterations, {**key, "record": as_json(iteration)})] if iteration else []
        trace = as_json(Trace.of(iteration), exclude_defaults=True) if iteration else ""
        trace_rows = [sealed(schema.traces, {**key, "body": trace})] if iteration else []
        run_rows = [{**_run_row(run), "run_id": run_id}] if run else []
        self._before_append(patient=patient)

        def work(cursor: DBAPICursor) -> None:
            self._require(cursor, run_id, owner)
            self._insert_event.execute(cursor, event_rows)
            self._insert_iteration.execute(cursor, iteration_rows)
            self._insert_trace.execute(cursor, trace_rows)
            self._update_run.execute(cursor, run_rows)

        self._transact(work)

    def acquire(self, run_id: str, owner: str, dead: str, seconds: float) -> None:
        free = {"", named(owner), dead}

        def work(cursor: DBAPICursor) -> None:
            token, leased = self._hold(cursor, run_id)
            if leased and token not in free:
                raise RunOwnedError(run_id)
            lease = update(schema.owners).where(_owner.run_id == run_id)
            self.connection.execute(lease.values(token=owner, until=self._now + seconds))

        self._transact(work, repeatable=True)

    def renew(self, run_id: str, owner: str, seconds: float) -> None:
        if not self._changed(run_id, owner, until=self._now + seconds):
            raise OwnershipLostError(run_id)

    def release(self, run_id: str, owner: str) -> None:
        self._changed(run_id, owner, token="", until=0.0)

    def leased(self, run_id: str) -> bool:
        valid = (_owner.token != "") & (_owner.until > self._now)
        return bool(self._all(select(_owner.run_id).where(_owner.run_id == run_id, valid)))

    def holder(self, run_id: str) -> str:
        found = self._all(select(_owner.token).where(_owner.run_id == run_id))
        return found[0].token if found else ""

    def ask(self, run_id: str, request: Request) -> int:
        def work(cursor: DBAPICursor) -> int:
            self._hold(cursor, run_id)
            seq = (self.connection.scalar(_last(_request.seq, run_id)) or 0) + 1
            row = {"run_id": run_id, "seq": seq, "body": as_json(evolve(request, seq=seq))}
            self.connection.execute(insert(schema.requests).values(sealed(schema.requests, row)))
            return seq

        return self._transact(work)

    def requests(self, run_id: str, after: int) -> list[Request]:
        found = self._all(_parts(_request.seq, _request.body, run_id, after))
        return [_read(Request.model_validate_json, body, f"Request {seq} of run {run_id}") for seq, body in found]

    def run(self, run_id: str) -> RunRecord | None:
        start = storable(run_id)
        alike = (_run.id >= start, func.substr(_run.id, 1, len(start)) == start)
        found = self._all(select(_run.id, _run.record).where(*alike).order_by(_run.id).limit(2))
        if len(found) == 1 or (found and found[0].id == start):
            return _read_run(*found[0])
        return None

    def runs(self, workspace: str | None, limit: int) -> tuple[list[RunRecord], list[str]]:
        """Return the newest runs that can be read, and what is wrong with the others among them."""
        newest = select(_run.id, _run.record).order_by(_run.started_at.desc(), _run.id.desc())
        if workspace is not None:
            newest = newest.where(_run.workspace == storable(workspace))
        most, seen = min(limit, _LARGEST), 0
        found: list[RunRecord] = []
        odd: list[str] = []
        while len(found) < most and (rows := self._all(newest.limit(most - len(found)).offset(seen))):
            seen += len(rows)
            for row in rows:
                try:
                    found.append(_read_run(*row))
                except RecordError as error:
                    odd.append(str(error))
        return found, odd

    def iterations(self, run_id: str, after: int) -> list[IterationRecord]:
        """Return the next iterations after that number."""
        page = self._page(_parts(_iteration.number, _iteration.record, run_id, after))
        return [_read_iteration(run_id, *row) for row in page]

    def iteration(self, run_id: str, number: int) -> IterationRecord | None:
        it = _iteration
        found = self._all(select(it.record).where(it.run_id == run_id, it.number == min(number, _LARGEST)))
        return _read_iteration(run_id, number, found[0].record) if found else None

    def traces(self, run_id: str, after: int) -> list[Trace]:
        """Return the next traces after that number; make missing or older ones from the records."""
        it = _iteration
        both = schema.iterations.outerjoin(schema.traces, (_trace.run_id == it.run_id) & (_trace.number == it.number))
        found = self._all(_parts(it.number, _trace.body, run_id, after).select_from(both).limit(TRACES))
        bodies = [row.body for row in found if row.body is not None]
        try:
            traces = _TRACES.validate_json(f"[{','.join(bodies)}]")
        except ValidationError:  # they do not have this version's form
            traces = []
        whole = [trace.number for trace in traces] == [row.number for row in found]
        return traces if whole else [Trace.of(each) for each in self.iterations(run_id, after)]

    def events(self, run_id: str, after: int) -> list[tuple[int, Event | None]]:
        """Return the next events after that `seq`, each with its own; None for unknown types."""
        page = self._page(_parts(_event.seq, _event.body, run_id, after))
        return [(seq, _read(_known_event, body, f"Event {seq} of run {run_id}")) for seq, body in page]

    def last_seq(self, run_id: str) -> int:
        return self._all(_last(_event.seq, run_id))[0][0] or 0

    def last_iteration(self, run_id: str) -> int:
        return self._all(_last(_iteration.number, run_id))[0][0] or 0

    def remove(self, run_id: str, owner: str) -> None:
        def work(cursor: DBAPICursor) -> None:
            self._require(cursor, run_id, owner)
            for table in (schema.events, schema.traces, schema.iterations, schema.requests, schema.owners):
                self.connection.execute(delete(table).where(table.c.run_id == run_id))
            self.connection.execute(delete(schema.runs).where(_run.id == run_id))

        if self._all(select(_run.id).where(_run.id == run_id)):
            self._transact(work, repeatable=True)

    def forget_transcript(self, run_id: str) -> int:
        def work(cursor: DBAPICursor) -> int:
            self._require(cursor, run_id, "")
            written = (_event.run_id == run_id) & _event.type.in_(TRANSCRIPT)
            gone = self.connection.execute(delete(schema.events).where(written)).rowcount
            record = self.connection.scalar(_record_of(run_id))
            run = _read_run(run_id, str(record))
            changed = _run_row(evolve(run, forgotten=run.forgotten + gone))
            self.connection.execute(update(schema.runs).where(_run.id == run_id).values(changed))
            return gone

        return self._transact(work)

    def check(self) -> Health:
        with self.connection.begin():
            problems = self.database.faults(self.connection)
        if problems:
            return Health(0, tuple(problems))
        ids = [row.id for row in self._all(select(_run.id).order_by(_run.id))]
        return Health(len(ids), tuple(islice(self._problems(ids), MOST_PROBLEMS)))

    def compact(self) -> None:
        with self.connection.begin():
            self.database.compact(self.connection)

    def _transact(self, work: Callable[[DBAPICursor], _T], *, repeatable: bool = False) -> _T:
        """Commit everything done with the cursor, or nothing.

        Raises `InDoubtError` if the outcome is unknown, unless repeating the work gives the same result.
        """
        mark = ""
        result: Any = None
        try:
            with self.database.transaction(self.connection) as cursor:
                result = work(cursor)
                mark = "" if repeatable else self.database.mark(cursor)
        except self.database.errors as error:
            if mark and self.database.is_lost(error):
                raise InDoubtError(mark, result, error) from error
            raise
        return result

    def _hold(self, cursor: DBAPICursor, run_id: str) -> tuple[str, bool]:
        """Lock the run until the transaction ends; return its owner's token, and whether the lease is valid.

        Raises `StoreError` if the run does not exist.
        """
        lease = self._lease.first(cursor, run_id=run_id)
        if lease is None:
            # A process of an older version that has the file open still makes runs as it knows them.
            self.connection.execute(schema.without_owner(_run.id == run_id))
            lease = self._lease.first(cursor, run_id=run_id)
        if lease is None:
            raise StoreError(
                f"The store {self.database.place} holds no run {run_id}.", "`ralph runs` lists those that it holds."
            )
        return lease[0], bool(lease[1])

    def _require(self, cursor: DBAPICursor, run_id: str, owner: str) -> None:
        """Lock the run. Raises an error if another owner has it."""
        token, leased = self._hold(cursor, run_id)
        if owner and token != owner:
            raise OwnershipLostError(run_id)
        if token and leased and not owner:
            raise RunOwnedError(run_id)

    def _changed(self, run_id: str, owner: str, **values: Any) -> bool:
        """Change an owner's lease; return False if the token does not own the run."""
        lease = update(schema.owners).where(_owner.run_id == run_id, _owner.token == named(owner)).values(values)
        return self._transact(lambda _: self.connection.execute(lease).rowcount, repeatable=True) > 0

    def _before_append(self, *, patient: bool) -> None:
        if self._patient is not patient:
            with self.connection.begin():
                self.database.be_patient(self.connection, patient=patient)
            self._patient = patient
        if self.database.identity() != self._identity:
            raise self.database.gone()

    def _all(self, statement: Select[*tuple[Any, ...]]) -> Sequence[Row[*tuple[Any, ...]]]:
        with self.connection.begin():
            return self.connection.execute(statement).all()

    def _page(self, statement: Select[*tuple[Any, ...]]) -> list[Row[*tuple[Any, ...]]]:
        """Return the first rows of a query with long texts in its last column."""
        page: list[Row[*tuple[Any, ...]]] = []
        size = 0
        streaming = statement.limit(PAGE_ROWS).execution_options(stream_results=True, max_row_buffer=50)
        with self.connection.begin(), self.connection.execute(streaming) as result:
            for row in result:
                page.append(row)
                size += len(row[-1])
                if size >= PAGE_CHARACTERS:
                    break
        return page

    def _problems(self, ids: list[str]) -> Iterator[str]:
        """Yield the gaps between the parts of runs, the rows that were changed, and the records that cannot be read."""
        yield from self._gaps(schema.events, _event.seq)
        yield from self._gaps(schema.iterations, _iteration.number)
        for table, name in schema.CHECKED.items():
            yield from self._changed_rows(table, name)
        for run_id in ids:
            try:
                for row in self._all(_record_of(run_id)):
                    _read_run(run_id, row.record)
                after = 0
                while page := self.iterations(run_id, after):
                    after = page[-1].number
            except RecordError as error:
                yield error.problem

    def _changed_rows(self, table: Table, name: str) -> Iterator[str]:
        """Yield the rows whose checksum does not match; those of older versions have none, or that of a row before."""
        streaming = select(table).where(table.c.checksum.is_not(None)).order_by(*table.primary_key)
        changed: list[str] = []
        with self.connection.begin(), self.connection.execute(streaming.execution_options(yield_per=100)) as result:
            for row in result.mappings():
                *values, kept = row.values()
                if schema.checksum(values) != kept and not (table is schema.runs and _is_older(row["record"])):
                    changed.append(name.format_map(row))
                if len(changed) >= MOST_PROBLEMS:
                    break
        yield from (f"{each} was changed after it was written: its checksum does not match." for each in changed)

    def _gaps(self, table: Table, number: Column[int]) -> Iterator[str]:
        run_id, last = table.c.run_id, func.max(number)
        counted = select(run_id, func.count(), last).group_by(run_id).having(func.count() != last).order_by(run_id)
        for run, count, highest in self._all(counted):
            if not isinstance(highest, int):
                yield f"Run {run} has {count} {table.name}, and one with {highest!r} in place of a number."
                continue
            missing = highest - count - (self._forgotten(run) if table is schema.events else 0)
            if missing:
                yield f"Run {run} has {count} {table.name}, but the last is number {highest}: {missing} are missing."

    def _forgotten(self, run_id: str) -> int:
        """Return the number of events that were removed to make room; 0 if the record cannot be read."""
        try:
            return sum(_read_run(run_id, row.record).forgotten for row in self._all(_record_of(run_id)))
        except RecordError:
            return 0


def _is_older(record: object) -> bool:
    """Return True for a run as a Ralph from before checksums writes it again: it leaves the checksum as it was."""
    with suppress(ValueError, TypeError, RecursionError):
        keys = frozenset(json.loads(str(record)))
        return "pruned" not in keys and keys <= RunRecord.model_fields.keys()
    return False


def _record_of(run_id: str) -> Select[*tuple[Any, ...]]:
    return select(_run.record).where(_run.id == run_id)


def _last(number: Column[int], run_id: str) -> Select[*tuple[Any, ...]]:
    return select(func.max(number)).where(number.table.c.run_id == run_id)


def _parts(number: Column[int], content: Column[str], run_id: str, after: int) -> Select[*tuple[Any, ...]]:
    return select(number, content).where(number.table.c.run_id == run_id, number > after).order_by(number)


def _run_row(run: RunRecord) -> dict[str, Any]:
    row = {
        "id": run.id,
        "workspace": None if run.workspace is None else storable(run.workspace),
        "started_at": run.started_at.astimezone(UTC).isoformat(timespec="microseconds"),
        "state": run.state,
        "record": as_json(run),
    }
    return sealed(schema.runs, row)


def _event_rows(run_id: str, events: Sequence[Event]) -> list[dict[str, Any]]:
    """Return a row for each event with a `seq`; others are not stored."""
    rows = (
        {"run_id": run_id, "seq": event.seq, "type": event.type, "iteration": event.iteration, "body": as_json(event)}
        for event in events
        if event.seq
    )
    return [sealed(schema.events, row) for row in rows]


def _read(parse: Callable[[str], _T], text: str, name: str) -> _T:
    try:
        return parse(text)
    except ValidationError as error:
        raise RecordError(
            f"{name} cannot be read back: {described(error)}.",
            "It is damaged, or another version of Ralph wrote it: then read it with that version.",
        ) from error


def _read_run(run_id: str, record: str) -> RunRecord:
    return _read(RunRecord.model_validate_json, record, f"The record of run {run_id}")


def _read_iteration(run_id: str, number: int, record: str) -> IterationRecord:
    name = f"The record of iteration {number} of run {run_id}"
    read = _read(IterationRecord.model_validate_json, record, name)
    if read.number != number:  # whoever reads on from there would never end
        raise RecordError(f"{name} is that of iteration {read.number}.", "It is damaged.")
    return read


def _known_event(body: str) -> Event | None:
    """Parse an event; None for a type that this version does not know."""
    try:
        return parse_event(body)
    except ValidationError as error:
        if error.errors(include_url=False)[0]["type"] == "union_tag_invalid":
            return None
        raise
