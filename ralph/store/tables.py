"""Queries and transactions of a SQL store, synchronous and over one connection."""

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any, TypeVar

from sqlalchemy import (
    ColumnElement,
    Connection,
    Delete,
    Double,
    Insert,
    Row,
    Select,
    Update,
    bindparam,
    func,
    insert,
    literal_column,
    select,
    update,
)
from sqlalchemy.engine.interfaces import DBAPICursor

from ralph.errors import OwnershipLostError, RunOwnedError, StoreError
from ralph.records.events import Event
from ralph.records.record import IterationRecord, RunRecord, Trace
from ralph.store import rows, schema
from ralph.store.database import Database

__all__ = ["InDoubtError", "Tables"]

_T = TypeVar("_T")

PAGE_ROWS = 500
PAGE_CHARACTERS = 1_000_000
"""The limits of a page, whichever is reached first; a page has at least one row."""

TRACES = 2000
"""The number of traces in one query."""

_LARGEST = 2**31 - 1
"""The largest number that every database accepts in a query; no record has a larger one."""

_UPDATE_RUN = (
    update(schema.runs)
    .where(schema.runs.c.id == bindparam("run_id"))
    .values({column: bindparam(column) for column in ("workspace", "started_at", "state", "record")})
)


class InDoubtError(Exception):
    """A connection lost during a commit, which may have succeeded or not.

    Attributes:
        mark: the database's id of the transaction.
        result: the transaction's result if it succeeded.
        lost: the driver's error.
    """

    def __init__(self, mark: str, result: object, lost: Exception) -> None:
        super().__init__(mark)
        self.mark, self.result, self.lost = mark, result, lost


class Statement:
    """A statement that is compiled once and passed to the driver directly.

    Executing it through SQLAlchemy every time costs half a commit.
    """

    def __init__(self, statement: Insert | Update | Delete | Select[Any], connection: Connection) -> None:
        compiled = statement.compile(dialect=connection.dialect)
        self._text = str(compiled)
        self._shaped = _shape(compiled.positiontup)

    def execute(self, cursor: DBAPICursor, given: Sequence[Mapping[str, Any]]) -> int:
        """Execute the statement for each mapping; return the number of changed rows."""
        if not given:
            return 0
        cursor.executemany(self._text, list(map(self._shaped, given)))
        return cursor.rowcount

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

    def __init__(self, database: Database, connection: Connection) -> None:
        self.database = database
        self.connection = connection
        self._identity = database.identity()
        self._patient: bool | None = None
        owner = schema.owners.c
        self.now: ColumnElement[float] = literal_column(database.clock, Double)
        lease = select(owner.token, owner.until > self.now).where(owner.run_id == bindparam("run_id"))
        self._lease = Statement(lease.with_for_update(), connection)
        self._insert_run = Statement(insert(schema.runs), connection)
        self._update_run = Statement(_UPDATE_RUN, connection)
        self._insert_iteration = Statement(insert(schema.iterations), connection)
        self._insert_trace = Statement(insert(schema.traces), connection)
        self._insert_event = Statement(insert(schema.events), connection)

    @classmethod
    def open(cls, database: Database) -> "Tables":
        """Connect, and create or migrate the tables if necessary."""
        return cls(database, database.open(schema.MIGRATION))

    def close(self) -> None:
        self.connection.close()

    def transact(self, work: Callable[[DBAPICursor], _T], *, repeatable: bool = False) -> _T:
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

    def was_committed(self, mark: str) -> bool:
        with self.connection.begin():
            return self.database.was_committed(self.connection, mark)

    def hold(self, cursor: DBAPICursor, run_id: str) -> tuple[str, bool]:
        """Lock the run until the transaction ends; return its owner's token, and whether the lease is valid.

        Raises `StoreError` if the run does not exist.
        """
        lease = self._lease.first(cursor, run_id=run_id)
        if lease is None:
            # A process of an older version that has the file open still makes runs as it knows them.
            self.connection.execute(schema.nobodys(schema.runs.c.id == run_id))
            lease = self._lease.first(cursor, run_id=run_id)
        if lease is None:
            raise self.unknown(run_id)
        return lease[0], bool(lease[1])

    def require(self, cursor: DBAPICursor, run_id: str, owner: str) -> None:
        """Lock the run. Raises an error if another owner has it."""
        token, leased = self.hold(cursor, run_id)
        if owner and token != owner:
            raise OwnershipLostError(run_id)
        if token and leased and not owner:
            raise RunOwnedError(run_id)

    def unknown(self, run_id: str) -> StoreError:
        """Return the error for a run that does not exist."""
        return StoreError(
            f"The store {self.database.place} holds no run {run_id}.", "`ralph runs` lists those that it holds."
        )

    def create(self, run: RunRecord, events: Sequence[Event], owner: str, seconds: float) -> None:
        run_row, event_rows = rows.run_row(run), rows.event_rows(run.id, events)
        lease: dict[str, Any] = {"run_id": run.id, "token": owner, "until": self.now + seconds if owner else 0.0}

        def work(cursor: DBAPICursor) -> None:
            self._insert_run.execute(cursor, [run_row])
            self.connection.execute(insert(schema.owners).values(lease))
            self._insert_event.execute(cursor, event_rows)

        self.transact(work)

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
        event_rows = rows.event_rows(run_id, events)
        iteration_rows = [rows.iteration_row(run_id, iteration)] if iteration else []
        trace_rows = [rows.trace_row(run_id, Trace.of(iteration))] if iteration else []
        run_rows = [{**rows.run_row(run), "run_id": run_id}] if run else []
        self._before_append(patient=patient)

        def work(cursor: DBAPICursor) -> None:
            self.require(cursor, run_id, owner)
            self._insert_event.execute(cursor, event_rows)
            self._insert_iteration.execute(cursor, iteration_rows)
            self._insert_trace.execute(cursor, trace_rows)
            self._update_run.execute(cursor, run_rows)

        self.transact(work)

    def _before_append(self, *, patient: bool) -> None:
        if self._patient is not patient:
            with self.connection.begin():
                self.database.be_patient(self.connection, patient=patient)
            self._patient = patient
        if self.database.identity() != self._identity:
            raise self.database.gone()

    def run(self, run_id: str) -> RunRecord | None:
        start = rows.clean(run_id)
        column = schema.runs.c.id
        found = self.all(
            select(column, schema.runs.c.record)
            .where(column >= start, func.substr(column, 1, len(start)) == start)
            .order_by(column)
            .limit(2)
        )
        if len(found) == 1 or (found and found[0].id == start):
            return rows.read_run(*found[0])
        return None

    def newest_runs(self, workspace: str | None, limit: int) -> list[RunRecord]:
        run = schema.runs.c
        statement = (
            select(run.id, run.record).order_by(run.started_at.desc(), run.id.desc()).limit(min(limit, _LARGEST))
        )
        if workspace is not None:
            statement = statement.where(run.workspace == rows.clean(workspace))
        return [rows.read_run(*row) for row in self.all(statement)]

    def iterations(self, run_id: str, after: int) -> list[IterationRecord]:
        """Return the next iterations after that number."""
        it = schema.iterations.c
        statement = select(it.number, it.record).where(it.run_id == run_id, it.number > after).order_by(it.number)
        return [rows.read_iteration(run_id, *row) for row in self.page(statement.limit(PAGE_ROWS))]

    def iteration(self, run_id: str, number: int) -> IterationRecord | None:
        it = schema.iterations.c
        found = self.all(select(it.record).where(it.run_id == run_id, it.number == min(number, _LARGEST)))
        return rows.read_iteration(run_id, number, found[0].record) if found else None

    def traces(self, run_id: str, after: int) -> list[Trace]:
        """Return the next traces after that number; make missing or older ones from the records."""
        it, trace = schema.iterations.c, schema.traces.c
        both = schema.iterations.outerjoin(schema.traces, (trace.run_id == it.run_id) & (trace.number == it.number))
        statement = select(it.number, trace.body).select_from(both).where(it.run_id == run_id, it.number > after)
        found = self.all(statement.order_by(it.number).limit(TRACES))
        bodies = [row.body for row in found if row.body is not None]
        traces = rows.read_traces(bodies) if len(bodies) == len(found) else None
        if traces is None:
            return [Trace.of(record) for record in self.iterations(run_id, after)]
        return traces

    def events(self, run_id: str, after: int) -> list[tuple[int, Event | None]]:
        """Return the next events after that `seq`, each with its own; None for unknown types."""
        event = schema.events.c
        statement = select(event.seq, event.body).where(event.run_id == run_id, event.seq > after).order_by(event.seq)
        return [(seq, rows.read_event(run_id, seq, body)) for seq, body in self.page(statement.limit(PAGE_ROWS))]

    def last_seq(self, run_id: str) -> int:
        event = schema.events.c
        with self.connection.begin():
            return self.connection.scalar(select(func.max(event.seq)).where(event.run_id == run_id)) or 0

    def last_iteration(self, run_id: str) -> int:
        it = schema.iterations.c
        with self.connection.begin():
            return self.connection.scalar(select(func.max(it.number)).where(it.run_id == run_id)) or 0

    def all(self, statement: Select[Any]) -> Sequence[Row[Any]]:
        with self.connection.begin():
            return self.connection.execute(statement).all()

    def page(self, statement: Select[Any]) -> list[Row[Any]]:
        """Return the first rows of a query with long texts in its last column."""
        page: list[Row[Any]] = []
        size = 0
        streaming = statement.execution_options(stream_results=True, max_row_buffer=50)
        with self.connection.begin(), self.connection.execute(streaming) as result:
            for row in result:
                page.append(row)
                size += len(row[-1])
                if size >= PAGE_CHARACTERS:
                    break
        return page
