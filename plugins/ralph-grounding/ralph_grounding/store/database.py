"""What tells databases apart: how they are reached, how a transaction begins, and what their refusals mean."""

import re
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Any, ClassVar

from sqlalchemy import URL, Connection, NullPool, create_engine, inspect, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError

from ralph.errors import StoreError, UsageError

__all__ = ["Database", "PostgresDatabase", "SqliteFile"]

_PATIENCE = 30.0
"""Seconds to wait for another process's transaction; each of ours takes milliseconds."""

_BETWEEN_TRIES = 0.005
_TEMPORARY = "It may pass: then continue the run; everything up to here is kept."


class Database:
    """A place for the tables.

    Attributes:
        errors: what its refusals are raised as.
    """

    errors: ClassVar[tuple[type[Exception], ...]] = (SQLAlchemyError,)

    @property
    def place(self) -> str:
        """What a person knows it by, without passwords."""
        raise NotImplementedError

    def connect(self) -> Connection:
        """A new connection. Raises one of `errors`, or `StoreError`."""
        raise NotImplementedError

    def tables(self, connection: Connection) -> list[str]:
        """The names of all tables there."""
        raise NotImplementedError

    def begin(self, connection: Connection) -> None:
        """What a transaction that writes begins with."""

    def keep_others_out(self, connection: Connection) -> None:
        """Within a transaction: nobody else makes the tables until it is over."""

    def identity(self) -> object:
        """What stays the same as long as what is written can be found again under the same name."""
        return None

    def is_lost(self, error: Exception) -> bool:
        """Whether the connection is of no use any more, and another one may be."""
        return False

    def explain(self, error: Exception) -> StoreError:
        """What a person is told of one of `errors`."""
        raise NotImplementedError

    def unusable(self, problem: str, remedy: str, *, passing: bool = False) -> StoreError:
        """What a person is told where the place cannot be used."""
        return StoreError(f"The store of analyses {self.place} cannot be used: {problem}.", remedy, passing=passing)


_SQLITE_FAULTS = {
    sqlite3.SQLITE_BUSY: ("another process keeps it locked", "End the program that has it open, then try again."),
    sqlite3.SQLITE_LOCKED: ("another process keeps it locked", "End the program that has it open, then try again."),
    sqlite3.SQLITE_PERM: ("it cannot be written", "Check who owns the file and its folder, and their permissions."),
    sqlite3.SQLITE_READONLY: ("it cannot be written", "Check who owns the file and its folder, and their permissions."),
    sqlite3.SQLITE_FULL: ("the disk is full", "Make room, then continue the run; everything up to here is kept."),
    sqlite3.SQLITE_CORRUPT: ("the file is damaged", "Move it away, with the -wal and -shm files beside it."),
    sqlite3.SQLITE_NOTADB: ("the file is no SQLite database", "Name another file, or move this one away."),
    sqlite3.SQLITE_CANTOPEN: ("it cannot be opened", "Check the file and its folder, or name another place."),
    sqlite3.SQLITE_IOERR: ("the disk reports an error", "Check the disk: it may be full, over quota or failing."),
    sqlite3.SQLITE_TOOBIG: ("a text is larger than SQLite takes", "Lower `max_response`."),
}
_SQLITE_PASSING = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}


@dataclass(frozen=True)
class SqliteFile(Database):
    """A database file in write-ahead mode, fully durable. Its folder is made where missing, for the owner alone."""

    path: Path

    @property
    def place(self) -> str:
        return str(self.path)

    def connect(self) -> Connection:
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            irregular = self.path.exists() and not self.path.is_file()
        except OSError as error:
            raise self.unusable(f"{error.filename}: {error.strerror}", "Name another place for the store.") from error
        if irregular:
            raise self.unusable("it is no file", "Name another place for the store.")
        engine = create_engine(
            URL.create("sqlite", database=str(self.path)),
            poolclass=NullPool,
            connect_args={"timeout": _PATIENCE, "isolation_level": None, "check_same_thread": False},
            hide_parameters=True,
        )
        connection = engine.connect()
        try:
            with connection.begin():
                for pragma in ("foreign_keys = ON", "synchronous = FULL"):
                    connection.exec_driver_sql(f"PRAGMA {pragma}")
                self._write_ahead(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _write_ahead(self, connection: Connection) -> None:
        """SQLite does not wait for others that take this step at the same moment: so it is tried again for a while."""
        end = monotonic() + _PATIENCE
        while True:
            try:
                connection.exec_driver_sql("PRAGMA journal_mode = WAL")
            except DBAPIError as error:
                if _sqlite_code(error) not in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED} or monotonic() > end:
                    raise
                sleep(_BETWEEN_TRIES)
            else:
                return

    def tables(self, connection: Connection) -> list[str]:
        return inspect(connection).get_table_names()

    def begin(self, connection: Connection) -> None:
        """Takes the write lock at once, so that a transaction that has begun cannot find itself locked out."""
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    def identity(self) -> tuple[int, int] | None:
        """Which file has the name now; None where none has."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def explain(self, error: Exception) -> StoreError:
        code = _sqlite_code(error)
        if code == sqlite3.SQLITE_CONSTRAINT:
            return _inconsistent(self.place)
        said = str(error.orig) if isinstance(error, DBAPIError) else str(error)
        known = _SQLITE_FAULTS.get(code, (said, "Check the file and its folder, or name another place."))
        return self.unusable(*known, passing=code in _SQLITE_PASSING)


_POSTGRES_FAULTS = {
    "28": ("the server does not let this user in", "Check the user and the password in its URL."),
    "3D000": ("there is no such database", "Make it with `createdb`, or name another one in the URL."),
    "42501": ("this user may not do that", "Grant the user CREATE on the database, or name another user in the URL."),
    "53": ("the server is out of room", "Make room on its disk or end other connections, then continue the run."),
    "55P03": ("another process keeps it locked", "End the session that holds the lock, then try again."),
}
_POSTGRES_PASSING = ("08", "25006", "40", "53", "55P03", "57P", "58")
_REACHED = {"connect_timeout": "10", "keepalives_idle": "20", "tcp_user_timeout": "30000", "application_name": "ralph"}
_SCHEMA = "ralph"
_SCHEMA_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_MAKING = 0x47524E44


@dataclass(frozen=True)
class PostgresDatabase(Database):
    """A schema in a database of a server: Ralph's own, or that of `?schema=NAME`. It is made where missing."""

    url: URL
    schema: str

    @classmethod
    def named(cls, url: str) -> "PostgresDatabase":
        """The database of a URL such as `postgresql://user@host/database`.

        Raises:
            UsageError: it makes no sense, or the driver is missing.
        """
        _require_driver()
        try:
            parsed = make_url("postgresql+psycopg://" + url.partition("://")[2])
        except (ArgumentError, ValueError) as error:
            raise UsageError(
                "postgresql://… is no URL of a database.",
                "Write postgresql://USER:PASSWORD@HOST:PORT/DATABASE, with % signs for what is special in a URL.",
            ) from error
        if {"password", "sslpassword"} & parsed.query.keys():
            raise UsageError(
                "The store's URL has a password behind the question mark, where nothing knows it for a secret.",
                "Put it into ~/.pgpass or PGPASSWORD, or before the @: postgresql://USER:PASSWORD@HOST/DATABASE.",
            )
        schema = parsed.query.get("schema", _SCHEMA)
        if not isinstance(schema, str) or not _SCHEMA_NAME.fullmatch(schema):
            raise UsageError(
                f"The schema {schema!r} in the store's URL is no name that Ralph can use.",
                "Write small letters, digits and underscores: ?schema=my_team.",
            )
        return cls(parsed.difference_update_query(["schema"]), schema)

    @property
    def place(self) -> str:
        url, host = self.url, self.url.query.get("host")
        query = {"host": host} if host else {}
        shown = URL.create("postgresql", url.username, None, url.host, url.port, url.database, query)
        return shown.render_as_string() + (f" (schema {self.schema})" if self.schema != _SCHEMA else "")

    def connect(self) -> Connection:
        own = {key: value for key, value in _REACHED.items() if key not in self.url.query}
        engine = create_engine(self.url, poolclass=NullPool, connect_args=own, hide_parameters=True)
        connection = engine.connect()
        try:
            with connection.begin():
                for setting in (f"search_path = {self.schema}", f"lock_timeout = '{_PATIENCE}s'"):
                    connection.execute(text(f"SET {setting}"))
                self._require_unicode(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _require_unicode(self, connection: Connection) -> None:
        encoding = connection.scalar(text("SELECT current_setting('server_encoding')"))
        if encoding != "UTF8":
            remedy = "Make a database for it with `createdb --encoding=UTF8 --template=template0`."
            raise self.unusable(f"its encoding is {encoding}", remedy)

    def tables(self, connection: Connection) -> list[str]:
        found = text("SELECT tablename::text FROM pg_tables WHERE schemaname = :schema").bindparams(schema=self.schema)
        return list(connection.scalars(found))

    def keep_others_out(self, connection: Connection) -> None:
        connection.execute(text(f"SELECT pg_advisory_xact_lock({_MAKING})"))
        connection.execute(text(f"CREATE SCHEMA IF NOT EXISTS {self.schema}"))

    def is_lost(self, error: Exception) -> bool:
        if isinstance(error, DBAPIError) and error.connection_invalidated:
            return True
        state = _state(error)
        return state.startswith(("08", "57P")) if state else type(_cause(error)).__name__ == "OperationalError"

    def explain(self, error: Exception) -> StoreError:
        state = _state(error)
        if state.startswith("23"):
            return _inconsistent(self.place)
        lost = self.is_lost(error)
        remedy = "Check that its server runs and can be reached." if lost else "Ask who looks after the server."
        known = next((_POSTGRES_FAULTS[prefix] for prefix in (state, state[:2]) if prefix in _POSTGRES_FAULTS), None)
        passing = lost or (bool(state) and state.startswith(_POSTGRES_PASSING))
        return self.unusable(*(known or (self._said(error), remedy)), passing=passing)

    def _said(self, error: Exception) -> str:
        """The server's own words in one line, without the password and the hints, which begin with a tab."""
        lines = [line.strip() for line in str(_cause(error)).splitlines() if line.strip() and line[0] != "\t"]
        said = " ".join(" ".join(lines).split())[:400].rstrip(".?")
        password = self.url.password
        return said.replace(str(password), "***") if password else said


def _require_driver() -> None:
    try:
        import psycopg  # noqa: F401  # pyright: ignore[reportUnusedImport]
    except ImportError as error:
        raise UsageError(
            "A store in PostgreSQL needs the package psycopg, which is not installed, or not whole.",
            "Install it with `pip install 'ralph-grounding[postgres]'`.",
        ) from error


def _inconsistent(place: str) -> StoreError:
    return StoreError(
        f"The store of analyses {place} does not take what was to be added: it lacks what that belongs to, or holds "
        "another of that id.",
        "Another process seems to be at work on the same run, or the run was removed.",
    )


def _cause(error: Exception) -> Any:
    return error.orig if isinstance(error, DBAPIError) else error


def _sqlite_code(error: Exception) -> int:
    code: int | None = getattr(_cause(error), "sqlite_errorcode", None)
    return (code or 0) & 0xFF


def _state(error: Exception) -> str:
    """The code that the standard gives the error; empty where it came from elsewhere than the server."""
    return getattr(_cause(error), "sqlstate", None) or ""
