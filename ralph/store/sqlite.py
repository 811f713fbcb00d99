"""What is particular to SQLite: how its file is opened, how a transaction begins, what its errors mean."""

import os
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from sqlalchemy import URL, Connection, NullPool, create_engine
from sqlalchemy.exc import DBAPIError

from ralph.errors import StoreError

__all__ = ["SqliteFile"]

BUSY_TIMEOUT = 3.0
"""Seconds to wait for another process's transaction; each of ours takes less than a millisecond."""

PATIENCE = 60.0
"""The same for what comes of a run: somebody's look at the file or a backup of it must not end a night's work."""

_ELSEWHERE = "Check the file and its folder, or name another place for the store."
_DISK_FULL = ("the disk is full", "Make room, then resume the run: everything up to the last iteration is kept.")
_READ_ONLY = ("it cannot be written", "Check who owns the file and its folder and their permissions.")
_BUSY = (
    "another process keeps it locked",
    "End the program that has it open (a database browser, a backup), then try again.",
)
_GONE = (
    "its file was taken away or replaced while it was in use",
    "Leave it in its place, with the -wal and -shm files beside it, while a run goes on.",
)
_DAMAGED = ("the file is damaged", "Move it away, with the -wal and -shm files beside it, and Ralph begins a new one.")
_FAULTS = {
    sqlite3.SQLITE_BUSY: _BUSY,
    sqlite3.SQLITE_LOCKED: _BUSY,
    sqlite3.SQLITE_PERM: _READ_ONLY,
    sqlite3.SQLITE_READONLY: _READ_ONLY,
    sqlite3.SQLITE_FULL: _DISK_FULL,
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_NOTADB: ("the file is no SQLite database", "Name another file, or move this one away."),
    sqlite3.SQLITE_CANTOPEN: ("it cannot be opened", _ELSEWHERE),
    sqlite3.SQLITE_IOERR: ("the disk reports an error", "Check the disk: it may be full, over quota or failing."),
    sqlite3.SQLITE_TOOBIG: ("a text is larger than SQLite takes", "Have the agent print less."),
}


@dataclass(frozen=True)
class SqliteFile:
    """A database file in write-ahead mode, fully durable. Its folder is made where missing, for the owner alone."""

    path: Path

    errors: ClassVar = (DBAPIError, sqlite3.Error)
    """What the database's refusals are raised as: by SQLAlchemy, or by the driver itself."""

    begin = "BEGIN IMMEDIATE"
    """Takes the write lock at once, so that a transaction that has begun cannot find itself locked out."""

    @property
    def place(self) -> str:
        """What a person knows the store by."""
        return str(self.path)

    def connect(self) -> Connection:
        """The one connection that a store needs, in autocommit mode outside of transactions."""
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            irregular = self.path.exists() and not self.path.is_file()
        except OSError as error:
            raise self._unusable(f"{error.filename}: {error.strerror}", _ELSEWHERE) from error
        if irregular:
            raise self._unusable("it is no file", _ELSEWHERE)
        engine = create_engine(
            URL.create("sqlite", database=self.place),
            poolclass=NullPool,
            connect_args={"timeout": BUSY_TIMEOUT, "isolation_level": None, "check_same_thread": False},
            hide_parameters=True,
        )
        connection = engine.connect()
        with connection.begin():
            for pragma in ("foreign_keys = ON", "synchronous = FULL"):
                connection.exec_driver_sql(f"PRAGMA {pragma}")
        return connection

    def prepare(self, connection: Connection) -> None:
        """What is kept in the file itself, once it is known to be Ralph's."""
        connection.exec_driver_sql("PRAGMA journal_mode = WAL")

    def be_patient(self, connection: Connection, *, patient: bool) -> None:
        """From now on the connection waits long for other processes, or not at all."""
        connection.exec_driver_sql(f"PRAGMA busy_timeout = {PATIENCE * 1000 * patient:.0f}")

    def is_busy(self, error: Exception) -> bool:
        """Whether another process is in the way, and waiting may help."""
        code: int | None = getattr(_cause(error), "sqlite_errorcode", None)
        return (code or 0) & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}

    def identity(self) -> tuple[int, int] | None:
        """Which file has the name now; None where none has. What is written to a file without a name is lost."""
        try:
            found = os.stat(self.path)  # noqa: PTH116 - before every commit: the cheapest way to know
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def gone(self) -> StoreError:
        """What a person is told where the name has become another file's, or nobody's."""
        return self._unusable(*_GONE)

    def explain(self, error: Exception) -> StoreError:
        """What a person is told of one of `errors`."""
        cause = _cause(error)
        if not isinstance(cause, sqlite3.Error):
            return self._unusable(str(error), _ELSEWHERE)
        code: int | None = getattr(cause, "sqlite_errorcode", None)
        if code is not None and code & 0xFF == sqlite3.SQLITE_CONSTRAINT:
            return self._refused(code)
        return self._unusable(*_FAULTS.get((code or 0) & 0xFF, (str(cause), _ELSEWHERE)))

    def _refused(self, code: int) -> StoreError:
        if code == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
            return StoreError(f"The store {self.place} holds no such run.", "`ralph runs` lists those that it holds.")
        return StoreError(
            f"The store {self.place} already holds what was to be added to it.",
            "Another process seems to be at work on the same run: end one of the two.",
        )

    def _unusable(self, problem: str, remedy: str) -> StoreError:
        return StoreError(f"The store {self.place} cannot be used: {problem}.", remedy)


def _cause(error: Exception) -> BaseException | None:
    return error.orig if isinstance(error, DBAPIError) else error
