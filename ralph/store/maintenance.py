"""Maintenance of a SQL store, synchronously: removing runs, finding damage, freeing space."""

from collections.abc import Iterator
from itertools import islice

from sqlalchemy import Table, delete, func, select
from sqlalchemy.engine.interfaces import DBAPICursor

from ralph.errors import RecordError
from ralph.store import rows, schema
from ralph.store.base import Health
from ralph.store.tables import Tables

__all__ = ["check", "compact", "remove"]

MOST = 20

_PARTS = (schema.events, schema.traces, schema.iterations, schema.requests, schema.owners)


def remove(tables: Tables, run_id: str, owner: str) -> None:
    """Remove a run and everything of it."""

    def work(cursor: DBAPICursor) -> None:
        tables.require(cursor, run_id, owner)
        for table in _PARTS:
            tables.connection.execute(delete(table).where(table.c.run_id == run_id))
        tables.connection.execute(delete(schema.runs).where(schema.runs.c.id == run_id))

    if tables.all(select(schema.runs.c.id).where(schema.runs.c.id == run_id)):
        tables.transact(work, repeatable=True)


def check(tables: Tables) -> Health:
    """Look for damage in everything except transcripts."""
    with tables.connection.begin():
        problems = tables.database.faults(tables.connection)
    if problems:
        return Health(0, tuple(problems))
    ids = [row.id for row in tables.all(select(schema.runs.c.id).order_by(schema.runs.c.id))]
    return Health(len(ids), tuple(islice(_problems(tables, ids), MOST)))


def compact(tables: Tables) -> None:
    """Return unused space to the disk."""
    with tables.connection.begin():
        tables.database.compact(tables.connection)


def _problems(tables: Tables, ids: list[str]) -> Iterator[str]:
    yield from _gaps(tables, schema.events, schema.events.c.seq.name, "events")
    yield from _gaps(tables, schema.iterations, schema.iterations.c.number.name, "iterations")
    for run_id in ids:
        yield from _unreadable(tables, run_id)


def _gaps(tables: Tables, table: Table, number: str, what: str) -> Iterator[str]:
    run_id, last = table.c.run_id, func.max(table.c[number])
    counted = select(run_id, func.count(), last).group_by(run_id).having(func.count() != last).order_by(run_id)
    for run, count, highest in tables.all(counted):
        yield f"Run {run} has {count} {what}, but the last is number {highest}: {highest - count} are missing."


def _unreadable(tables: Tables, run_id: str) -> Iterator[str]:
    try:
        record = tables.all(select(schema.runs.c.record).where(schema.runs.c.id == run_id))
        for row in record:
            rows.read_run(run_id, row.record)
        after = 0
        while page := tables.iterations(run_id, after):
            after = page[-1].number
    except RecordError as error:
        yield error.problem
