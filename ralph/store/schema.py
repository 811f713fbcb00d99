"""The tables of runs for any database that SQLAlchemy supports, and their migrations.

Records and events are JSON in text columns; keys for searching and sorting have their own columns. Times are UTC in ISO
format, which sorts as text. `traces` has the parts of iterations that resuming needs.

Each row of a run has a checksum of its other columns, so that a changed byte is found.
"""

import zlib
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, NamedTuple

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
    inspect,
    literal,
    select,
    update,
)

from ralph.errors import StoreError

_METADATA = MetaData()
_Text = Text().with_variant(Text(collation="C"), "postgresql")
"""Text that sorts by code points in every database."""


def _checksum() -> Column[str]:
    """Return the column of the checksum; null in rows from before it, or from an older Ralph."""
    return Column("checksum", Text)


runs = Table(
    "runs",
    _METADATA,
    Column("id", _Text, primary_key=True),
    Column("workspace", _Text),
    Column("started_at", _Text, nullable=False),
    Column("state", _Text, nullable=False),
    Column("record", Text, nullable=False),
    _checksum(),
    Index("runs_by_start", "started_at"),
    Index("runs_by_workspace", "workspace", "started_at"),
)


def _part(name: str, number: str, *columns: Column[Any], rowid: bool = True) -> Table:
    return Table(
        name,
        _METADATA,
        Column("run_id", _Text, ForeignKey("runs.id"), primary_key=True),
        Column(number, Integer, primary_key=True, autoincrement=False),
        *columns,
        _checksum(),
        sqlite_with_rowid=rowid,
    )


def _json(name: str) -> Column[str]:
    return Column(name, Text, nullable=False)


iterations = _part("iterations", "number", _json("record"))
events = _part(
    "events", "seq", Column("type", _Text, nullable=False), Column("iteration", Integer, nullable=False), _json("body")
)
requests = _part("requests", "seq", _json("body"), rowid=False)
traces = _part("traces", "number", _json("body"), rowid=False)
"""Iterations from before this table have no trace."""

CHECKED = {
    runs: "The record of run {id}",
    iterations: "Iteration {number} of run {run_id}",
    events: "Event {seq} of run {run_id}",
    requests: "Message {seq} to run {run_id}",
    traces: "The trace of iteration {number} of run {run_id}",
}
"""The tables with a checksum in each row, and what a row is called."""

_SUMMED = {table: tuple(column.name for column in table.c)[:-1] for table in CHECKED}

owners = Table(
    "owners",
    _METADATA,
    Column("run_id", _Text, ForeignKey("runs.id"), primary_key=True),
    Column("token", _Text, nullable=False),
    Column("until", Double[float](), nullable=False),
    sqlite_with_rowid=False,
)
"""One row for each run. The token is empty without an owner; `until` is in seconds since 1970 by the database's clock.
"""


def checksum(values: Iterable[object]) -> str:
    """Return the checksum of a row's columns, in their order."""
    return f"{zlib.crc32(chr(0).join(map(str, values)).encode()):08x}"


def sealed(table: Table, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with its checksum."""
    return {**row, "checksum": checksum(row[name] for name in _SUMMED[table])}


class Migration(NamedTuple):
    """The steps that create a package's tables. The database stores the number of steps taken as the version.

    Attributes:
        maker: the package's name for the user.
        table: the name of the table with the version.
        steps: step n migrates version n to n + 1; version 0 has no tables. A released step does not change: to alter a
            table, add a step, and let the earlier ones spell out what they created.
        guest: the tables may join those of others; otherwise a database with other tables is refused.
    """

    maker: str
    table: str
    steps: tuple[Callable[[Connection], None], ...]
    guest: bool = False

    def is_done(self, connection: Connection, place: str, tables: Collection[str]) -> bool:
        """Return whether every step was taken, without writing. Raises `StoreError` for an unknown version.

        Args:
            place: the database's name for the user.
            tables: the names of the existing ones.
        """
        return self._version(connection, place, tables) == len(self.steps)

    def do(self, connection: Connection, place: str, tables: Collection[str]) -> None:
        """Take the missing steps within the caller's transaction."""
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
    connection.execute(without_owner())


def _add_checksums(connection: Connection) -> None:
    """Add the column to the tables of an older Ralph; new ones have it."""
    for table in CHECKED:
        if "checksum" not in {column["name"] for column in inspect(connection).get_columns(table.name)}:
            connection.exec_driver_sql(f"ALTER TABLE {table.name} ADD COLUMN checksum TEXT")


MIGRATION = Migration("Ralph", "schema_version", (_create, _add_owners, _add_checksums))


def without_owner(*which: ColumnElement[bool]) -> Insert:
    """Return a statement that adds owner rows without an owner for runs that have no row."""
    return insert(owners).from_select(
        ["run_id", "token", "until"], select(runs.c.id, literal("", _Text), literal(0.0)).where(*which)
    )
