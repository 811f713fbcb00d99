"""What a SQL store does, synchronously, over its one connection: every change is one transaction."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import closing, contextmanager
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, Insert, Row, Select, Update, bindparam, func, insert, select, update
from sqlalchemy.engine.interfaces import DBAPICursor

from ralph.errors import StoreError
from ralph.events import Event
from ralph.record import IterationRecord, RunRecord
from ralph.store import rows, schema
from ralph.store.sqlite import SqliteFile

__all__ = ["Tables"]

PAGE_ROWS = 500
PAGE_CHARACTERS = 1_000_000
"""Whichever is reached first ends a page; a page has one row at least."""

_UPDATE_RUN = (
    update(schema.runs)
    .where(schema.runs.c.id == bindparam("run_id"))
    .values({column: bindparam(column) for column in ("workspace", "started_at", "state", "record")})
)


class Tables:
    """The tables of a database. Used by one thread at a time."""

    def __init__(self, database: SqliteFile, connection: Connection) -> None:
        self._database = database
        self._connection = connection
        self._file = database.identity()
        self._patient: bool | None = None
        self._insert_run = _Prepared(insert(schema.runs), connection)
        self._update_run = _Prepared(_UPDATE_RUN, connection)
        self._insert_iteration = _Prepared(insert(schema.iterations), connection)
        self._insert_event = _Prepared(insert(schema.events), connection)

    @classmethod
    def open(cls, database: SqliteFile) -> "Tables":
        """Connects, and makes or migrates the tables where needed."""
        connection = database.connect()
        try:
            with connection.begin():
                current = schema.is_current(connection, database.place)
                database.prepare(connection)
            if not current:
                with _transaction(database, connection):
                    schema.migrate(connection, database.place)
            return cls(database, connection)
        except BaseException:
            connection.close()
            raise

    def close(self) -> None:
        self._connection.close()

    def create(self, run: RunRecord, events: Sequence[Event]) -> None:
        run_row, event_rows = rows.run_row(run), rows.event_rows(run.id, events)
        with _transaction(self._database, self._connection) as cursor:
            self._insert_run.execute(cursor, [run_row])
            self._insert_event.execute(cursor, event_rows)

    def append(
        self,
        run_id: str,
        events: Sequence[Event],
        iteration: IterationRecord | None,
        run: RunRecord | None,
        *,
        patient: bool = True,
    ) -> None:
        event_rows = rows.event_rows(run_id, events)
        iteration_rows = [rows.iteration_row(run_id, iteration)] if iteration else []
        run_rows = [{**rows.run_row(run), "run_id": run_id}] if run else []
        self._before_append(patient=patient)
        with _transaction(self._database, self._connection) as cursor:
            self._insert_event.execute(cursor, event_rows)
            self._insert_iteration.execute(cursor, iteration_rows)
            if self._update_run.execute(cursor, run_rows) < len(run_rows):
                raise StoreError(f"The store {self._database.place} holds no run {run_id}.")

    def _before_append(self, *, patient: bool) -> None:
        if self._patient is not patient:
            with self._connection.begin():
                self._database.be_patient(self._connection, patient=patient)
            self._patient = patient
        if self._database.identity() != self._file:
            raise self._database.gone()

    def run(self, run_id: str) -> RunRecord | None:
        start = rows.clean(run_id)
        column = schema.runs.c.id
        found = self._all(
            select(column, schema.runs.c.record)
            .where(func.substr(column, 1, len(start)) == start)
            .order_by(column)
            .limit(2)
        )
        if len(found) == 1 or (found and found[0].id == start):
            return rows.read_run(*found[0])
        return None

    def newest_runs(self, workspace: str | None, limit: int) -> list[RunRecord]:
        run = schema.runs.c
        statement = select(run.id, run.record).order_by(run.started_at.desc(), run.id.desc()).limit(limit)
        if workspace is not None:
            statement = statement.where(run.workspace == rows.clean(workspace))
        return [rows.read_run(*row) for row in self._all(statement)]

    def iterations(self, run_id: str, after: int) -> list[IterationRecord]:
        """The iterations next after that number."""
        it = schema.iterations.c
        statement = select(it.number, it.record).where(it.run_id == run_id, it.number > after).order_by(it.number)
        return [rows.read_iteration(run_id, *row) for row in self._page(statement.limit(PAGE_ROWS))]

    def events(self, run_id: str, after: int) -> list[tuple[int, Event | None]]:
        """The events next after that `seq`, each with its own; None for a type that this version does not know."""
        event = schema.events.c
        statement = select(event.seq, event.body).where(event.run_id == run_id, event.seq > after).order_by(event.seq)
        return [(seq, rows.read_event(run_id, seq, body)) for seq, body in self._page(statement.limit(PAGE_ROWS))]

    def last_seq(self, run_id: str) -> int:
        event = schema.events.c
        with self._connection.begin():
            return self._connection.scalar(select(func.max(event.seq)).where(event.run_id == run_id)) or 0

    def _all(self, statement: Select[Any]) -> Sequence[Row[Any]]:
        with self._connection.begin():
            return self._connection.execute(statement).all()

    def _page(self, statement: Select[Any]) -> list[Row[Any]]:
        page: list[Row[Any]] = []
        size = 0
        with self._connection.begin(), self._connection.execute(statement) as result:
            for row in result:
                page.append(row)
                size += len(row[-1])
                if size >= PAGE_CHARACTERS:
                    break
        return page


@contextmanager
def _transaction(database: SqliteFile, connection: Connection) -> Generator[DBAPICursor]:
    """All of what is done within is committed, or none of it."""
    with connection.begin(), closing(connection.connection.cursor()) as cursor:
        cursor.execute(database.begin)
        yield cursor


class _Prepared:
    """A statement that is compiled once and given to the driver: SQLAlchemy's way, every time, costs half a commit."""

    def __init__(self, statement: Insert | Update, connection: Connection) -> None:
        compiled = statement.compile(dialect=connection.dialect)
        self._text = str(compiled)
        self._values = itemgetter(*(compiled.positiontup or ()))

    def execute(self, cursor: DBAPICursor, given: Sequence[Mapping[str, Any]]) -> int:
        """For each of what is given; returns the number of rows that changed."""
        if not given:
            return 0
        cursor.executemany(self._text, list(map(self._values, given)))
        return cursor.rowcount
