"""The tables that runs are kept in, for any database that SQLAlchemy speaks to, and the steps that lead to them.

Records and events are JSON in text columns; what is looked up or sorted by has a column of its own. Moments are UTC
in ISO format, which sorts as text.
"""

from collections.abc import Callable

from sqlalchemy import Column, Connection, ForeignKey, Index, Integer, MetaData, Table, Text, inspect, select

from ralph.errors import StoreError

__all__ = ["STEPS", "events", "is_current", "iterations", "migrate", "runs"]

_METADATA = MetaData()

runs = Table(
    "runs",
    _METADATA,
    Column("id", Text, primary_key=True),
    Column("workspace", Text),
    Column("started_at", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("record", Text, nullable=False),
    Index("runs_by_start", "started_at"),
    Index("runs_by_workspace", "workspace", "started_at"),
)

iterations = Table(
    "iterations",
    _METADATA,
    Column("run_id", Text, ForeignKey("runs.id"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("record", Text, nullable=False),
)

events = Table(
    "events",
    _METADATA,
    Column("run_id", Text, ForeignKey("runs.id"), primary_key=True),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("type", Text, nullable=False),
    Column("iteration", Integer, nullable=False),
    Column("body", Text, nullable=False),
)

_schema_version = Table("schema_version", MetaData(), Column("version", Integer, nullable=False))


def _create(connection: Connection) -> None:
    _METADATA.create_all(connection)
    _schema_version.create(connection)
    connection.execute(_schema_version.insert().values(version=1))


STEPS: tuple[Callable[[Connection], None], ...] = (_create,)
"""Step n makes a store of version n + 1 from one of version n; version 0 is an empty database.

A step that was released does not change: one that alters a table is added, and the earlier ones then spell out what
they created.
"""


def is_current(connection: Connection, place: str) -> bool:
    """Whether nothing needs to be migrated. Raises `StoreError` for what no step leads on from; writes nothing."""
    return _version(connection, place) == len(STEPS)


def migrate(connection: Connection, place: str) -> None:
    """Takes the steps that are missing, within the caller's transaction."""
    for step in STEPS[_version(connection, place) :]:
        step(connection)
    connection.execute(_schema_version.update().values(version=len(STEPS)))


def _version(connection: Connection, place: str) -> int:
    tables = inspect(connection).get_table_names()
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
