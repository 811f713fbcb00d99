"""The databases that the tables can be kept in: their interface, and SQLite with its file, transactions and errors."""

import os
import sqlite3
from collections.abc import Collection, Generator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import monotonic, sleep
from typing import Any, ClassVar, cast

from sqlalchemy import URL, Connection, NullPool, create_engine, inspect
from sqlalchemy.engine.interfaces import DBAPICursor
from sqlalchemy.exc import DBAPIError

from ralph.errors import StoreError
from ralph.store.schema import Migration
from ralph.system.files import take_from_others


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

    @property
    def connects_within(self) -> float:
        """Seconds after which making a connection has failed."""
        return 0.0

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

    def interrupt(self) -> None:
        """End a call that gets no answer, from another thread."""

    def watch(self) -> Connection:
        """Return a connection for `version` alone. Raises what `open` does."""
        raise NotImplementedError

    def version(self, watch: Connection) -> int:
        """Return a number that a commit over another connection changes. Never waits; raises one of `errors`."""
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

    def silent(self, seconds: float) -> StoreError:
        """Return the error for a server that gives no answer."""
        why = f"it has given no answer for {seconds:g} seconds"
        return self.unusable(why, "Check that its server runs and can be reached.", passing=True)

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


BUSY_TIMEOUT = 3.0
"""Seconds to wait for another process's transaction; each of Ralph's takes less than a millisecond."""

PATIENCE = 1.0
"""Seconds to wait in an append of a run, which is retried as long as necessary.

A backup or a database browser must not end a night's work, and a user who ends the run must not have to wait for it.
"""

_BETWEEN_TRIES = 0.005
"""Seconds."""

_FAULTS_SHOWN = 5

_ELSEWHERE = "Check the file and its folder, or name another place for the store."
_DISK_FULL = ("the disk is full", "Make room, then resume the run: everything so far is kept.")
_READ_ONLY = ("it cannot be written", "Check who owns the file and its folder and their permissions.")
_BUSY = (
    "another process keeps it locked",
    "End the program that has it open (a database browser, a backup), then try again.",
)
_GONE = (
    "its file was removed or replaced while it was in use",
    "While a run is active, leave it in its place, with the -wal and -shm files beside it.",
)
_DAMAGED = ("the file is damaged", "Move it away, with the -wal and -shm files beside it, and Ralph begins a new one.")
_FAULTS = {
    sqlite3.SQLITE_BUSY: _BUSY,
    sqlite3.SQLITE_LOCKED: _BUSY,
    sqlite3.SQLITE_PERM: _READ_ONLY,
    sqlite3.SQLITE_READONLY: _READ_ONLY,
    sqlite3.SQLITE_FULL: _DISK_FULL,
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_NOTADB: ("the file is not an SQLite database", "Name another file, or move this one away."),
    sqlite3.SQLITE_CANTOPEN: ("it cannot be opened", _ELSEWHERE),
    sqlite3.SQLITE_IOERR: ("the disk reports an error", "Check the disk: it may be full, over quota or failing."),
    sqlite3.SQLITE_TOOBIG: ("a text is larger than SQLite allows", "Store shorter texts."),
}
_PASSING = _FAULTS.keys() - {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_TOOBIG}


def _driver(connection: Connection) -> sqlite3.Connection:
    return cast("sqlite3.Connection", connection.connection.driver_connection)


@dataclass(frozen=True)
class SqliteFile(Database):
    """A database file in write-ahead mode, fully durable. Its folder is created if missing, for the owner alone."""

    path: Path

    errors: ClassVar = (DBAPIError, sqlite3.Error)
    immediate: ClassVar = True
    clock: ClassVar = "(julianday('now') - 2440587.5) * 86400.0"

    @property
    def place(self) -> str:
        return str(self.path)

    def reach(self) -> Connection:
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            irregular = self.path.exists() and not self.path.is_file()
        except OSError as error:
            raise self.unusable(f"{error.filename}: {error.strerror}", _ELSEWHERE) from error
        if irregular:
            raise self.unusable("it is not a file", _ELSEWHERE)
        self._make_private()
        return self._connected()

    def _connected(self) -> Connection:
        engine = create_engine(
            URL.create("sqlite", database=str(self.path)),
            poolclass=NullPool,
            connect_args={"timeout": BUSY_TIMEOUT, "isolation_level": None, "check_same_thread": False},
            hide_parameters=True,
        )
        return engine.connect()

    def _make_private(self) -> None:
        """Create the file for its owner alone, or take an existing one from others; SQLite's other files follow it."""
        with suppress(OSError):  # SQLite says why it cannot open it
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        for suffix in ("", "-wal", "-shm"):
            with suppress(OSError):
                take_from_others(self.path.with_name(self.path.name + suffix))

    def set_up(self, connection: Connection) -> None:
        reading = partial(str, encoding="utf-8", errors="replace")  # one damaged row fails by itself
        _driver(connection).text_factory = reading
        for pragma in ("foreign_keys = ON", "synchronous = FULL"):
            connection.exec_driver_sql(f"PRAGMA {pragma}")

    def prepare(self, connection: Connection) -> None:
        """Switch a new file to write-ahead mode; other files stay as they are.

        SQLite does not wait for other processes in this step, such as those that take it at the same time. So it is
        retried until `BUSY_TIMEOUT` has passed; the last try may still wait as long for readers.
        """
        end = monotonic() + BUSY_TIMEOUT
        while True:
            try:
                connection.exec_driver_sql("PRAGMA journal_mode = WAL")
            except DBAPIError as error:
                if not self.is_busy(error) or monotonic() > end:
                    raise
                sleep(_BETWEEN_TRIES)
            else:
                return

    def begin(self, cursor: DBAPICursor) -> None:
        """Take the write lock at once, so that a transaction cannot find itself locked out later."""
        cursor.execute("BEGIN IMMEDIATE")

    def be_patient(self, connection: Connection, *, patient: bool) -> None:
        self.wait_for_others(connection, PATIENCE * patient)

    def wait_for_others(self, connection: Connection, seconds: float) -> None:
        connection.exec_driver_sql(f"PRAGMA busy_timeout = {seconds * 1000:.0f}")

    def watch(self) -> Connection:
        connection = self.connect()
        with connection.begin():
            self.wait_for_others(connection, 0.0)
        return connection

    def version(self, watch: Connection) -> int:
        return _driver(watch).execute("PRAGMA data_version").fetchall()[0][0]

    def is_busy(self, error: Exception) -> bool:
        code: int | None = getattr(cause(error), "sqlite_errorcode", None)
        return (code or 0) & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}

    def identity(self) -> tuple[int, int] | None:
        """Return the device and inode of the file; None if it does not exist."""
        try:
            found = os.stat(self.path)  # noqa: PTH116 - before every commit: the cheapest way to know
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def gone(self) -> StoreError:
        return self.unusable(*_GONE)

    def explain(self, error: Exception) -> StoreError:
        said = cause(error)
        if not isinstance(said, sqlite3.Error):
            return self.unusable(str(error), _ELSEWHERE)
        code: int = getattr(said, "sqlite_errorcode", None) or 0
        kind = code & 0xFF
        if kind == sqlite3.SQLITE_CONSTRAINT:
            return self.homeless() if code == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY else self.taken()
        return self.unusable(*_FAULTS.get(kind, (str(said), _ELSEWHERE)), passing=kind in _PASSING)

    def faults(self, connection: Connection) -> list[str]:
        found = [str(row[0]) for row in connection.exec_driver_sql(f"PRAGMA quick_check({_FAULTS_SHOWN})")]
        return [] if found == ["ok"] else [f"The file is damaged: {fault}." for fault in found]

    def compact(self, connection: Connection) -> None:
        connection.exec_driver_sql("VACUUM")
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")


@dataclass(frozen=True)
class SqliteMemory(SqliteFile):
    """A database that lasts as long as its connection."""

    path: Path = Path(":memory:")

    @property
    def place(self) -> str:
        return "memory:"

    def reach(self) -> Connection:
        return self._connected()

    def identity(self) -> None:
        """Return nothing: no other process can replace it."""
