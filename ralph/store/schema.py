"""The tables that runs are kept in, for any database that SQLAlchemy speaks to, and the steps that lead to them.

Records and events are JSON in text columns; what is looked up or sorted by has a column of its own. Moments are UTC
in ISO format, which sorts as text. What resuming needs of iterations is in `traces`, apart from their records.
"""

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Double,
    ForeignKey,
    Index,
    Insert,
    Integer,
    MetaData,
    Table,
    Text,
    insert,
    literal,
    select,
)

from ralph.store.migration import Migration

__all__ = ["MIGRATION", "events", "iterations", "nobodys", "owners", "requests", "runs", "traces"]

_METADATA = MetaData()
_Text = Text().with_variant(Text(collation="C"), "postgresql")
"""Sorts by code points everywhere."""

runs = Table(
    "runs",
    _METADATA,
    Column("id", _Text, primary_key=True),
    Column("workspace", _Text),
    Column("started_at", _Text, nullable=False),
    Column("state", _Text, nullable=False),
    Column("record", Text, nullable=False),
    Index("runs_by_start", "started_at"),
    Index("runs_by_workspace", "workspace", "started_at"),
)

iterations = Table(
    "iterations",
    _METADATA,
    Column("run_id", _Text, ForeignKey("runs.id"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("record", Text, nullable=False),
)

events = Table(
    "events",
    _METADATA,
    Column("run_id", _Text, ForeignKey("runs.id"), primary_key=True),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("type", _Text, nullable=False),
    Column("iteration", Integer, nullable=False),
    Column("body", Text, nullable=False),
)

traces = Table(
    "traces",
    _METADATA,
    Column("run_id", _Text, ForeignKey("runs.id"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("body", Text, nullable=False),
    sqlite_with_rowid=False,
)
"""Iterations that were kept before there were traces have none."""

owners = Table(
    "owners",
    _METADATA,
    Column("run_id", _Text, ForeignKey("runs.id"), primary_key=True),
    Column("token", _Text, nullable=False),
    Column("until", Double[float](), nullable=False),
    sqlite_with_rowid=False,
)
"""One row a run. The token is empty where nobody owns it; `until` is in seconds since 1970 by the database's clock."""

requests = Table(
    "requests",
    _METADATA,
    Column("run_id", _Text, ForeignKey("runs.id"), primary_key=True),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("body", Text, nullable=False),
    sqlite_with_rowid=False,
)


def _create(connection: Connection) -> None:
    _METADATA.create_all(connection, tables=[runs, iterations, events])


def _add_owners(connection: Connection) -> None:
    _METADATA.create_all(connection, tables=[traces, owners, requests])
    connection.execute(nobodys())


MIGRATION = Migration("Ralph", "schema_version", (_create, _add_owners))


def nobodys(*which: ColumnElement[bool]) -> Insert:
    """Makes runs nobody's that have no row among the owners."""
    return insert(owners).from_select(
        ["run_id", "token", "until"], select(runs.c.id, literal("", _Text), literal(0.0)).where(*which)
    )
