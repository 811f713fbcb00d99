"""The interface of a database that the tables can be kept in."""

from collections.abc import Collection, Generator
from contextlib import closing, contextmanager
from typing import Any, ClassVar

from sqlalchemy import Connection, inspect
from sqlalchemy.engine.interfaces import DBAPICursor
from sqlalchemy.exc import DBAPIError

from ralph.errors import StoreError
from ralph.store.schema import Migration

__all__ = ["Database"]


class Database:
    """A kind of database with its address: a place for tables, shared with any number of processes.

    `open` makes a connection, and `transaction` does the writing. If one of `errors` is raised, `is_lost` says whether
    to try again over a new connection, and `explain` makes the message for the user.

    Attributes:
        errors: the errors of SQLAlchemy and of the driver.
        immediate: a transaction takes no longer than a switch to another thread, so that it may run on the event loop
            if no other process is in the way.
        clock: the SQL for the seconds since 1970 by the database's clock.
    """

    errors: ClassVar[tuple[type[Exception], ...]]
    immediate: ClassVar[bool]
    clock: ClassVar[str]

    @property
    def place(self) -> str:
        """The store's name for the user, without passwords."""
        raise NotImplementedError

    def open(self, migration: Migration, *, patience: float | None = None) -> Connection:
        """Connect, and create or migrate the tables if necessary.

        Args:
            migration: the steps to the tables.
            patience: seconds that a transaction waits for other processes; None for the usual.

        Raises:
            StoreError: the database is not one for these tables; one of `errors` if the database refuses.
        """
        connection = self.connect()
        try:
            with connection.begin():
                done = migration.is_done(connection, self.place, self.tables(connection))
                self.prepare(connection)
                if patience is not None:
                    self.wait_for_others(connection, patience)
            if not done:
                with self.transaction(connection) as cursor:
                    self.keep_others_out(cursor)
                    migration.do(connection, self.place, self.tables(connection))
        except BaseException:
            connection.close()
            raise
        return connection

    def connect(self) -> Connection:
        """Return a fully durable connection, whatever tables exist. Raises one of `errors`, or `StoreError`."""
        connection = self.reach()
        try:
            with connection.begin():
                self.set_up(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    @contextmanager
    def transaction(self, connection: Connection) -> Generator[DBAPICursor]:
        """Commit everything that the block does over the connection, or nothing."""
        with connection.begin() as transaction, closing(connection.connection.cursor()) as cursor:
            self.begin(cursor)
            yield cursor
            try:
                transaction.commit()
            except self.errors as error:
                if not self.is_lost(error):
                    transaction.rollback()
                raise

    def reach(self) -> Connection:
        """Return a connection from the driver."""
        raise NotImplementedError

    def set_up(self, connection: Connection) -> None:
        """Apply the settings of every connection."""

    def tables(self, connection: Connection) -> Collection[str]:
        """Return the names of the existing tables."""
        return inspect(connection).get_table_names()

    def prepare(self, connection: Connection) -> None:
        """Apply persistent settings to a database that is known to be Ralph's."""

    def begin(self, cursor: DBAPICursor) -> None:
        """Begin a transaction that writes."""

    def keep_others_out(self, cursor: DBAPICursor) -> None:
        """Prevent other processes from creating or migrating tables during this transaction."""

    def mark(self, cursor: DBAPICursor) -> str:
        """Return the id of a transaction for `was_committed`; empty if no commit's answer can be lost."""
        return ""

    def was_committed(self, connection: Connection, mark: str) -> bool:
        """Return whether a transaction was committed although its connection was lost."""
        raise NotImplementedError

    def be_patient(self, connection: Connection, *, patient: bool) -> None:
        """Set whether the connection waits for other processes, as an append does, or not at all."""

    def wait_for_others(self, connection: Connection, seconds: float) -> None:
        """Set how long the connection waits for other processes."""
        raise NotImplementedError

    def identity(self) -> Any:
        """Return a value that changes if the store under this name is replaced by another one."""

    def gone(self) -> StoreError:
        """Return the error for a store that was replaced."""
        raise NotImplementedError

    def is_busy(self, error: Exception) -> bool:
        """Return whether another process is in the way, so that waiting may help."""
        raise NotImplementedError

    def is_lost(self, error: Exception) -> bool:
        """Return whether the connection is lost, so that a new one may help."""
        return False

    def explain(self, error: Exception) -> StoreError:
        """Return the error for the user, made from one of `errors`."""
        raise NotImplementedError

    def faults(self, connection: Connection) -> list[str]:
        """Return the damage that the database itself finds; one sentence each."""
        return []

    def compact(self, connection: Connection) -> None:
        """Return unused space to the disk, if the database does not do that itself."""

    def unusable(self, problem: str, remedy: str, *, passing: bool = False) -> StoreError:
        """Return the error for a database that cannot be used."""
        return StoreError(f"The store {self.place} cannot be used: {problem}.", remedy, passing=passing)

    def homeless(self) -> StoreError:
        """Return the error for a row that refers to a missing one."""
        return StoreError(
            f"The store {self.place} cannot add this entry: the one that it belongs to is missing.",
            "It may have been removed meanwhile: start again.",
        )

    def taken(self) -> StoreError:
        """Return the error for a row that exists already."""
        return StoreError(
            f"The store {self.place} already holds what should be added.",
            "Another process seems to write to the same run: end one of the two.",
        )


def cause(error: Exception) -> Any:
    """Return the driver's own error."""
    return error.orig if isinstance(error, DBAPIError) else error
