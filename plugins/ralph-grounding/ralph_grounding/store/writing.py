"""The writing statements, each in one transaction of the caller's, and each idempotent.

So a commit with a lost answer needs no investigation: it is simply repeated.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import Connection, Table, case, delete, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.dialects.postgresql import psycopg

from ralph.errors import StoreError, UsageError
from ralph.loop.ownership import Owner
from ralph_grounding.store import rows, tables
from ralph_grounding.store.records import GroundingRun, QuerySet, RunStatus

__all__ = ["begin_run", "end_run", "keep", "keep_label", "keep_verdict"]


def begin_run(connection: Connection, run: GroundingRun, queries: QuerySet, owner: Owner) -> GroundingRun:
    """Add a run, or resume an existing one; delete its failures, to be retried.

    Raises:
        UsageError: it exists, and was begun with other queries or other options.
    """
    _add_queries(connection, queries, run.started_at)
    row = rows.run_row(run, owner)
    if _is_new(connection, tables.runs, row):
        return run
    kept = connection.execute(select(tables.runs).where(tables.runs.c.id == row["id"])).one()
    if kept.query_set_id != run.query_set_id:
        raise _begun_otherwise(run.id, "another set of queries")
    if kept.options != row["options"]:
        raise _begun_otherwise(run.id, "other options")
    connection.execute(delete(tables.failures).where(tables.failures.c.run_id == row["id"]))
    again = {
        "status": "running",
        "failed": 0,
        "total": max(kept.total, run.total),
        "completed_at": None,
        "summary": None,
        "owner": row["owner"],
    }
    connection.execute(update(tables.runs).where(tables.runs.c.id == row["id"]).values(again))
    return rows.read_run(connection.execute(select(tables.runs).where(tables.runs.c.id == row["id"])).one())


def keep(
    connection: Connection,
    run_id: str,
    analyses: Sequence[Mapping[str, Any]],
    failures: Sequence[Mapping[str, Any]],
) -> None:
    """Add rows of analyses and failures to a run; skip an analysis that the run already has."""
    added = sum(_is_added(connection, row) for row in analyses)
    failed = sum(_is_new(connection, tables.failures, row) for row in failures)
    run = tables.runs.c
    progress = run.succeeded + run.failed + added + failed
    total = case((run.total < progress, progress), else_=run.total)
    changed = connection.execute(
        update(tables.runs)
        .where(run.id == rows.storable(run_id))
        .values(succeeded=run.succeeded + added, failed=run.failed + failed, total=total)
    )
    if not changed.rowcount:
        raise StoreError(f"The store no longer has the run {run_id!r}.", "Start it again.")


def end_run(connection: Connection, run_id: str, status: RunStatus, at: datetime, **values: Any) -> None:
    """Set a run's last state. `values` are further columns."""
    found = rows.storable(run_id)
    values |= {"status": status, "completed_at": rows.moment(at)}
    connection.execute(update(tables.runs).where(tables.runs.c.id == found).values(values))


def keep_verdict(connection: Connection, row: Mapping[str, Any]) -> None:
    """Add the verdict of a judge; an existing one stays."""
    _is_new(connection, tables.verdicts, row)


def keep_label(connection: Connection, row: Mapping[str, Any]) -> None:
    """Add a label, or replace it; an empty outcome removes it."""
    connection.execute(delete(tables.labels).where(tables.labels.c.id == row["id"]))
    if row["outcome"]:
        _is_new(connection, tables.labels, row)


def _add_queries(connection: Connection, queries: QuerySet, at: datetime) -> None:
    if _is_new(connection, tables.query_sets, {"id": queries.id, "created_at": rows.moment(at)}) and queries.queries:
        found = [rows.query_row(queries.id, place, query) for place, query in enumerate(queries.queries)]
        connection.execute(insert(tables.queries), found)


def _is_added(connection: Connection, row: Mapping[str, Any]) -> bool:
    """Add an analysis, unless the run has it already. Raises `StoreError` if its id belongs to another one."""
    if _is_new(connection, tables.analyses, row):
        return True
    it = tables.analyses.c
    same = select(it.id).where(it.run_id == row["run_id"], it.asked == row["asked"])
    if connection.execute(same).first() is None:
        raise StoreError(
            f"The store has another analysis with the id {row['id'][:80]!r}.", "Give each analysis an id of its own."
        )
    return False


def _is_new(connection: Connection, table: Table, row: Mapping[str, Any]) -> bool:
    """Add a row, unless an equal one exists."""
    return connection.exec_driver_sql(_insertion(connection.dialect.name, table), dict(row)).rowcount == 1


@cache
def _insertion(dialect: str, table: Table) -> str:
    """Compile the statement once.

    SQLAlchemy compiles such a statement on each use, which takes longer than the database needs to execute it.
    """
    if dialect == "sqlite":
        insertion = sqlite.insert(table).on_conflict_do_nothing()
        return str(insertion.compile(dialect=sqlite.dialect(paramstyle="named")))
    return str(postgresql.insert(table).on_conflict_do_nothing().compile(dialect=psycopg.dialect()))


def _begun_otherwise(run_id: str, what: str) -> UsageError:
    return UsageError(
        f"The run {run_id!r} was started with {what}, so its scores would not be comparable.",
        "Continue it as it was started, or start a new run.",
    )
