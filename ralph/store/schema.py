"""The tables that runs are kept in, for any database that SQLAlchemy speaks to, and the steps that lead to them.

Records and events are JSON in text columns; what is looked up or sorted by has a column of its own. Moments are UTC
in ISO format, which sorts as text. What resuming needs of iterations is in `traces`, apart from their records.
"""

from collections.abc import Callable, Collection

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

from ralph.errors import StoreError

__all__ = ["STEPS", "events", "is_current", "iterations", "migrate", "nobodys", "owners", "requests", "runs", "traces"]

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

_schema_version = Table("schema_version", MetaData(), Column("version", Integer, nullable=False))


def _create(connection: Connection) -> None:
    _METADATA.create_all(connection, tables=[runs, iterations, events])
    _schema_version.create(connection)
    connection.execute(_schema_version.insert().values(version=1))


def _add_owners(connection: Connection) -> None:
    _METADATA.create_all(connection, tables=[traces, owners, requests])
    connection.execute(nobodys())


STEPS: tuple[Callable[[Connection], None], ...] = (_create, _add_owners)
"""Step n makes a store of version n + 1 from one of version n; version 0 is an empty database.

A step that was released does not change: one that alters a table is added, and the earlier ones then spell out what
they created.
"""


def nobodys(*which: ColumnElement[bool]) -> Insert:
    """Makes runs nobody's that have no row among the owners."""
    return insert(owners).from_select(
        ["run_id", "token", "until"], select(runs.c.id, literal("", _Text), literal(0.0)).where(*which)
    )


def is_current(connection: Connection, place: str, tables: Collection[str]) -> bool:
    """Whether nothing needs to be migrated. Raises `StoreError` for what no step leads on from; writes nothing.

    Args:
        place: what a person knows the store by.
        tables: the names of those that are there.
    """
    return _version(connection, place, tables) == len(STEPS)


def migrate(connection: Connection, place: str, tables: Collection[str]) -> None:
    """Takes the steps that are missing, within the caller's transaction."""
    for step in STEPS[_version(connection, place, tables) :]:
        step(connection)
    connection.execute(_schema_version.update().values(version=len(STEPS)))


def _version(connection: Connection, place: str, tables: Collection[str]) -> int:
    if not tables:
        return 0
    version = connection.scalar(select(_schema_version.c.version)) if _schema_version.name in tables else None
    if version is None:
        raise StoreError(
            f"{place} is a database, but not one that Ralph made.", "Name another place for the store, or a new file."
        )
    if version > len(STEPS):
        raise StoreError(
            f"{place} was written by a newer Ralph (its schema has version {version}, this Ralph knows {len(STEPS)}).",
            "Upgrade Ralph, or name another place for the store.",
        )
    return version
