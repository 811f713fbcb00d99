"""How tables come to be what a package expects of them, whichever of its versions made them."""

from collections.abc import Callable, Collection
from typing import NamedTuple

from sqlalchemy import Column, Connection, Integer, MetaData, Table, insert, select, update

from ralph.errors import StoreError

__all__ = ["Migration"]


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
