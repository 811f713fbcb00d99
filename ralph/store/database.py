"""What a database has to say for itself, so that one set of tables can be kept in it."""

from collections.abc import Collection
from typing import Any, ClassVar

from sqlalchemy import Connection, inspect
from sqlalchemy.engine.interfaces import DBAPICursor

from ralph.errors import StoreError

__all__ = ["Database"]


class Database:
    """A kind of database, and where one of that kind is.

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

    def connect(self) -> Connection:
        """A connection that is fully durable. Raises one of `errors`, or `StoreError`."""
        raise NotImplementedError

    def tables(self, connection: Connection) -> Collection[str]:
        """The names of the tables that are there."""
        return inspect(connection).get_table_names()

    def prepare(self, connection: Connection) -> None:
        """What is kept in the database itself, once it is known to be Ralph's."""

    def begin(self, cursor: DBAPICursor) -> None:
        """What a transaction that writes begins with."""

    def keep_others_out(self, cursor: DBAPICursor) -> None:
        """Within a transaction: nobody else makes or migrates the tables until it is over."""

    def mark(self, cursor: DBAPICursor) -> str:
        """What `was_committed` knows a transaction by; empty where no answer to a commit can get lost."""
        return ""

    def was_committed(self, connection: Connection, mark: str) -> bool:
        """Whether the transaction went through whose answer got lost with its connection."""
        raise NotImplementedError

    def be_patient(self, connection: Connection, *, patient: bool) -> None:
        """From now on the connection waits long for other processes, or not at all."""

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
