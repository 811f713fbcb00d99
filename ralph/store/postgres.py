"""The PostgreSQL database: its connections, lost commits and errors."""

import os
import re
import socket
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any, ClassVar, cast

import psycopg
from psycopg.conninfo import timeout_from_conninfo
from sqlalchemy import URL, Connection, Dialect, NullPool, create_engine, event, make_url, text
from sqlalchemy.engine.interfaces import DBAPICursor
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError

from ralph.errors import StoreError, UsageError
from ralph.store.database import Database, cause

PATIENCE = 3.0
"""Seconds to wait for another process's lock; each of Ralph's lasts milliseconds."""

_LONGEST = 60.0
"""Seconds after which the server itself ends a statement, for a client that no longer waits for it."""

SCHEMA = "ralph"
"""The schema of the tables, so that they can share a database; `?schema=NAME` in the URL names another."""

_REACHED = {
    "connect_timeout": "3",
    "keepalives_idle": "20",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "10000",
    "application_name": "ralph",
}
"""Connection settings that detect a vanished server, unless the URL or the environment sets them."""

_VARIABLES = {"connect_timeout": "PGCONNECT_TIMEOUT", "application_name": "PGAPPNAME"}
_MOST_PATIENT = 60
"""The most seconds for a connection that the environment gives, which is meant for other programs, too."""

_POLL = 0.05

_MIGRATION = 0x52414C50
_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_PATIENT = "This may pass: then resume the run; everything so far is kept."
_FAULTS = {
    "25006": ("it accepts no changes at present", _PATIENT),
    "28": ("the server refuses this user", "Check the user and the password in its URL."),
    "3D000": ("there is no such database", "Make it with `createdb`, or name another one in the URL."),
    "42501": (
        "this user lacks the permission",
        "Grant the user CREATE on the database, or name another user in the URL.",
    ),
    "53": ("the server is out of room", "Make room on its disk or end other connections, then resume the run."),
    "55P03": ("another process keeps it locked", "End the session that holds the lock, then try again."),
}
_PASSING = ("08", "25006", "40", "53", "55P03", "57P", "58")
_LOST = ("08", "57P")


@dataclass(frozen=True)
class PostgresDatabase(Database):
    """A schema in a database of a PostgreSQL server, version 13 or later; created if it is missing.

    Raises:
        UsageError: the URL is not valid.
    """

    url: URL
    schema: str
    _reached: list["psycopg.Connection"] = field(default_factory=list["psycopg.Connection"], compare=False)

    errors: ClassVar = (SQLAlchemyError, psycopg.Error)
    immediate: ClassVar = False
    clock: ClassVar = "extract(epoch from clock_timestamp())::double precision"

    @classmethod
    def named(cls, url: str) -> "PostgresDatabase":
        """Return the database for a URL such as `postgresql://user@host/database`."""
        scheme, _, rest = url.partition("://")
        try:
            parsed = make_url(f"postgresql+psycopg://{rest}")
        except (ArgumentError, ValueError) as error:
            raise UsageError(
                f"{scheme}://… is not the URL of a database.",
                "Write postgresql://USER:PASSWORD@HOST:PORT/DATABASE, with special characters percent-encoded.",
            ) from error
        if hidden := sorted({"password", "sslpassword"} & parsed.query.keys()):
            raise UsageError(
                f"The store's URL has {hidden[0]}=… in it, where Ralph cannot tell that it is a secret.",
                "Put it into ~/.pgpass or PGPASSWORD, or before the @: postgresql://USER:PASSWORD@HOST/DATABASE.",
            )
        given = parsed.query.get("connect_timeout")
        seconds = given or os.environ.get("PGCONNECT_TIMEOUT") or "0"
        if not isinstance(seconds, str) or not seconds.isdecimal():
            place = "connect_timeout" if given else "PGCONNECT_TIMEOUT"
            raise UsageError(
                f"{place}={seconds} is not a whole number of seconds.",
                "Write ?connect_timeout=10 in the store's URL, or leave it out.",
            )
        schema = parsed.query.get("schema", SCHEMA)
        if not isinstance(schema, str) or not _NAME.fullmatch(schema):
            raise UsageError(
                f"The schema {schema!r} in the store's URL is not a name that Ralph can use.",
                "Write small letters, digits and underscores: ?schema=my_team.",
            )
        return cls(parsed.difference_update_query(["schema"]), schema)

    @property
    def place(self) -> str:
        url, host = self.url, self.url.query.get("host")
        query = {"host": host} if host else {}
        shown = URL.create("postgresql", url.username, None, url.host, url.port, url.database, query)
        return shown.render_as_string() + (f" (schema {self.schema})" if self.schema != SCHEMA else "")

    @property
    def _reached_by(self) -> dict[str, str]:
        users = {key: given for key, name in _VARIABLES.items() if (given := os.environ.get(name))}
        if seconds := users.get("connect_timeout"):
            users["connect_timeout"] = str(min(int(seconds) or _MOST_PATIENT, _MOST_PATIENT))
        return {key: value for key, value in (_REACHED | users).items() if key not in self.url.query}

    @property
    def connects_within(self) -> float:
        params = {**self.url.query, **self._reached_by}
        hosts = str(params.get("host", "")).count(",") + 1  # one is tried after the other
        return float(hosts * timeout_from_conninfo({"connect_timeout": str(params["connect_timeout"])}))

    def reach(self) -> Connection:
        engine = create_engine(self.url, poolclass=NullPool, connect_args=self._reached_by, hide_parameters=True)

        @event.listens_for(engine, "do_connect")
        def _(dialect: Dialect, _record: object, words: Sequence[Any], options: dict[str, Any]) -> object:
            self._reached[:] = [cast("psycopg.Connection", dialect.connect(*words, **options))]
            return self._reached[0]

        return engine.connect()

    def interrupt(self) -> None:
        """Shut the connection down under a call that gets no answer: its end is then noticed at once."""
        for connection in self._reached:
            with suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(connection.fileno())) as wire:
                wire.shutdown(socket.SHUT_RDWR)

    def set_up(self, connection: Connection) -> None:
        bound = f"statement_timeout = '{_LONGEST}s'"
        for setting in (f"search_path = {self.schema}", "synchronous_commit = on", bound):
            connection.execute(text(f"SET {setting}"))
        self.wait_for_others(connection, PATIENCE)
        encoding = connection.scalar(text("SELECT current_setting('server_encoding')"))
        if encoding != "UTF8":
            remedy = "Make a database for it with `createdb --encoding=UTF8 --template=template0`."
            raise self.unusable(f"its encoding is {encoding}", remedy)

    def tables(self, connection: Connection) -> Collection[str]:
        found = text("SELECT tablename::text FROM pg_tables WHERE schemaname = :schema").bindparams(schema=self.schema)
        return list(connection.scalars(found))

    def keep_others_out(self, cursor: DBAPICursor) -> None:
        cursor.execute(f"SELECT pg_advisory_xact_lock({_MIGRATION})")
        cursor.execute(f"CREATE SCHEMA IF NOT EXISTS {self.schema}")

    def mark(self, cursor: DBAPICursor) -> str:
        cursor.execute(f"SELECT pg_current_xact_id()::text, pg_notify('{self.schema}', '')")  # for `version`
        row = cursor.fetchone()
        return row[0] if row else ""

    def watch(self) -> Connection:
        connection = replace(self, _reached=[]).connect()  # `interrupt` is not for it
        with connection.begin():
            connection.execute(text(f'LISTEN "{self.schema}"'))
        return connection

    def version(self, watch: Connection) -> int:
        """Return the number of commits that the server has reported."""
        wire = cast("psycopg.Connection", watch.connection.driver_connection).pgconn
        wire.consume_input()
        while wire.notifies():
            watch.info["version"] = watch.info.get("version", 0) + 1
        return watch.info.get("version", 0)

    def was_committed(self, connection: Connection, mark: str) -> bool:
        """Return whether a transaction was committed; wait while the server has not noticed the loss."""
        status = text("SELECT pg_xact_status(CAST(:mark AS xid8))").bindparams(mark=mark)
        deadline = monotonic() + PATIENCE
        while (found := connection.scalar(status)) == "in progress":
            if monotonic() > deadline:
                raise self.unusable("it is still busy with an earlier request", _PATIENT, passing=True)
            connection.execute(text(f"SELECT pg_sleep({_POLL})"))
        return found == "committed"

    def wait_for_others(self, connection: Connection, seconds: float) -> None:
        connection.execute(text(f"SET lock_timeout = '{seconds}s'"))

    def is_busy(self, error: Exception) -> bool:
        return _state(error) == "55P03"

    def is_lost(self, error: Exception) -> bool:
        if isinstance(error, DBAPIError) and error.connection_invalidated:
            return True
        state = _state(error)
        return state.startswith(_LOST) if state else isinstance(cause(error), psycopg.OperationalError)

    def explain(self, error: Exception) -> StoreError:
        state = _state(error)
        if state.startswith("23"):
            return self.homeless() if state == "23503" else self.taken()
        if isinstance(cause(error), psycopg.errors.ConnectionTimeout):
            return self.silent(self.connects_within)
        lost = self.is_lost(error)
        known = next((_FAULTS[prefix] for prefix in (state, state[:2]) if prefix in _FAULTS), None)
        remedy = "Check that its server runs and can be reached." if lost else "Ask the administrator of the server."
        problem, remedy = known or (self._said(error), remedy)
        passing = lost or (bool(state) and state.startswith(_PASSING))
        return self.unusable(problem, remedy, passing=passing)

    def _said(self, error: Exception) -> str:
        """Return the database's message in one line, without the password and the hints, which begin with a tab."""
        lines = [line.strip() for line in str(cause(error)).splitlines() if line.strip() and line[0] != "\t"]
        said = " ".join(line if line[-1] in ".:,;?!" else f"{line}." for line in lines)
        said = " ".join(said.split())[:400].rstrip(".?")
        password = self.url.password
        return said.replace(str(password), "***") if password else said


def _state(error: Exception) -> str:
    """Return the error's SQLSTATE code; empty if it did not come from the server."""
    return getattr(cause(error), "sqlstate", None) or ""
