"""The tables that runs are kept in, for any database that SQLAlchemy speaks to, and the steps that lead to them.

Records and events are JSON in text columns; what is looked up or sorted by has a column of its own. Moments are UTC
in ISO format, which sorts as text. What resuming needs of iterations is in `traces`, apart from their records.
"""

from collections.abc import Callable, Collection
from typing import NamedTuple

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
    update,
)

from ralph.errors import StoreError

__all__ = ["MIGRATION", "Migration", "events", "iterations", "nobodys", "owners", "requests", "runs", "traces"]

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


class Migration(NamedTuple):
    """The steps that lead to a package's tables. The database keeps their version: how many of them were taken.

    Attributes:
        maker: the package, as a person knows it.
        table: the name of the table that the version is kept in.
        steps: step n makes version n + 1 of version n; version 0 has no tables. A step that was released does not
            change: one that alters a table is added, and the earlier ones then spell out what they created.
        guest: the tables may join those of others; otherwise a database that has others is left alone.
    """

    maker: str
    table: str
    steps: tuple[Callable[[Connection], None], ...]
    guest: bool = False

    def is_done(self, connection: Connection, place: str, tables: Collection[str]) -> bool:
        """Whether no step is missing. Raises `StoreError` for what no step leads on from; writes nothing.

        Args:
            place: what a person knows the database by.
            tables: the names of those that are there.
        """
        return self._version(connection, place, tables) == len(self.steps)

    def do(self, connection: Connection, place: str, tables: Collection[str]) -> None:
        """Takes the steps that are missing, within the caller's transaction."""
        version = self._version(connection, place, tables)
        for step in self.steps[version:]:
            step(connection)
        kept = self._kept
        if not version:
            kept.create(connection)
        connection.execute((update if version else insert)(kept).values(version=len(self.steps)))

    @property
    def _kept(self) -> Table:
        return Table(self.table, MetaData(), Column("version", Integer, nullable=False))

    def _version(self, connection: Connection, place: str, tables: Collection[str]) -> int:
        there = self.table in tables
        if not there and (self.guest or not tables):
            return 0
        version = connection.scalar(select(self._kept.c.version)) if there else None
        if version is None:
            raise StoreError(
                f"{place} is a database, but not one that {self.maker} made.",
                "Name another place for the store, or a new file.",
            )
        if version > len(self.steps):
            raise StoreError(
                f"{place} was written by a newer {self.maker} (its schema has version {version}, this {self.maker} "
                f"knows {len(self.steps)}).",
                f"Upgrade {self.maker}, or name another place for the store.",
            )
        return version


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
