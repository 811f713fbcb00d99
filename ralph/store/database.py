"""What a database has to say for itself, so that one set of tables can be kept in it."""

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
    """A kind of database, and where one of that kind is: a place for tables, shared with any number of processes.

    A connection is made with `open`, what writes is done in a `transaction`. Where one of `errors` is raised,
    `is_lost` says whether the same is worth another try over a new connection, and `explain` what to tell a person.

    Attributes:
        errors: what its refusals are raised as: by SQLAlchemy, or by the driver itself.
        immediate: a transaction takes about as long as the trip to another thread, so that it may be done on the
            event loop where nobody is in the way.
        clock: the seconds since 1970 by its own clock, in SQL.
    """

    errors: ClassVar[tuple[type[Exception], ...]]
    immediate: ClassVar[bool]
    clock: ClassVar[str]

    @property
    def place(self) -> str:
        """What a person knows the store by, without passwords."""
        raise NotImplementedError

    def open(self, migration: Migration, *, patience: float | None = None) -> Connection:
        """A connection to tables as the migration leaves them, which are made or migrated where needed.

        Args:
            patience: seconds for which a transaction waits for other processes, where the usual are not enough.

        Raises:
            StoreError: it is no place for these tables; one of `errors` where the database refuses.
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
        """A connection that is fully durable, whatever tables are there. Raises one of `errors`, or `StoreError`."""
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
        """Commits all of what is done over the connection meanwhile, or none of it."""
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
        """A connection as the driver makes it."""
        raise NotImplementedError

    def set_up(self, connection: Connection) -> None:
        """What every connection has to be told first."""

    def tables(self, connection: Connection) -> Collection[str]:
        """The names of the tables that are there."""
        return inspect(connection).get_table_names()

    def prepare(self, connection: Connection) -> None:
        """What is kept in the database itself, once it is known to be no stranger's."""

    def begin(self, cursor: DBAPICursor) -> None:
        """What a transaction that writes begins with."""

    def keep_others_out(self, cursor: DBAPICursor) -> None:
        """Within a transaction: nobody else makes or migrates tables until it is over."""

    def mark(self, cursor: DBAPICursor) -> str:
        """What `was_committed` knows a transaction by; empty where no answer to a commit can get lost."""
        return ""

    def was_committed(self, connection: Connection, mark: str) -> bool:
        """Whether the transaction went through whose answer got lost with its connection."""
        raise NotImplementedError

    def be_patient(self, connection: Connection, *, patient: bool) -> None:
        """From now on the connection waits for other processes as what comes of a run does, or not at all."""

    def wait_for_others(self, connection: Connection, seconds: float) -> None:
        """From now on the connection waits that long for other processes."""
        raise NotImplementedError

    def identity(self) -> Any:
        """What stays the same as long as what is written can be found again under the same name."""

    def gone(self) -> StoreError:
        """What a person is told where the identity is another one."""
        raise NotImplementedError

    def is_busy(self, error: Exception) -> bool:
        """Whether another process is in the way, and waiting may help."""
        raise NotImplementedError

    def is_lost(self, error: Exception) -> bool:
        """Whether the connection is of no use any more, and another one may be."""
        return False

    def explain(self, error: Exception) -> StoreError:
        """What a person is told of one of `errors`."""
        raise NotImplementedError

    def faults(self, connection: Connection) -> list[str]:
        """What the database itself finds damaged; a sentence each."""
        return []

    def compact(self, connection: Connection) -> None:
        """Gives room that is no longer needed back to the disk, where the database does not do that by itself."""

    def unusable(self, problem: str, remedy: str, *, passing: bool = False) -> StoreError:
        """What a person is told where the database cannot be used."""
        return StoreError(f"The store {self.place} cannot be used: {problem}.", remedy, passing=passing)

    def homeless(self) -> StoreError:
        """What a person is told where a row belongs to another one that is not there."""
        return StoreError(
            f"The store {self.place} cannot add this entry: the one that it belongs to is missing.",
            "It may have been removed meanwhile: start again.",
        )

    def taken(self) -> StoreError:
        """What a person is told where a row is there already."""
        return StoreError(
            f"The store {self.place} already holds what should be added.",
            "Another process seems to be at work on the same run: end one of the two.",
        )


def cause(error: Exception) -> Any:
    """The driver's own error."""
    return error.orig if isinstance(error, DBAPIError) else error
