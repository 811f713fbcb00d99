"""Stores of runs: `open_store` returns the store for a URL or a path.

A plug-in keeps tables of its own in the same database: `database_named` returns the `Database`, whose `open` applies a
`Migration`.
"""

import re
from pathlib import Path
from typing import TYPE_CHECKING

from ralph._lazy import lazy_exports
from ralph.errors import UsageError

if TYPE_CHECKING:
    from ralph.store.base import Store
    from ralph.store.database import Database
    from ralph.store.postgres import PostgresDatabase
    from ralph.store.schema import Migration
    from ralph.store.sql import MemoryStore

__all__ = ["Database", "MemoryStore", "Migration", "Store", "database_named", "default_path", "file_of", "open_store"]


_SERVER = re.compile(r"postgres(ql)?://")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_KIND = re.compile(r"(memory|sqlite|postgres(?:ql)?)(:(?!//).*)?", re.IGNORECASE | re.DOTALL)
_MEANT = {"m": "memory:", "s": "sqlite:///PATH", "p": "postgresql://USER@HOST/DATABASE"}
"""The full form of a kind of store, by its first letter."""


def open_store(url: str | None = None) -> "Store":
    """Return the store for a URL, to be used in `async with`; nothing is read or written before.

    Args:
        url: "memory:", "sqlite:///PATH" or a path, "~" allowed, or "postgresql://USER@HOST/DATABASE"; None for the
            user's own store.

    Raises:
        UsageError: the URL names no store.
    """
    database = None if url == "memory:" else database_named(url)
    from ralph.store.sql import MemoryStore, SqlStore

    return SqlStore(database) if database else MemoryStore()


def database_named(url: str | None = None) -> "Database":
    """Return the database of a store, for tables in addition to those of runs; nothing is read or written.

    Args:
        url: as for `open_store`, except "memory:".

    Raises:
        UsageError: the URL names no database.
    """
    if url == "memory:":
        raise UsageError("memory: is not a database.", "Give the path of a file, or postgresql://USER@HOST/DATABASE.")
    path = file_of(url)
    if path is None:
        return _server(str(url))
    from ralph.store.database import SqliteFile

    return SqliteFile(path)


def file_of(url: str | None) -> Path | None:
    """Return the file of a store, which need not exist; None for a store that is not a file.

    Raises:
        UsageError: the URL names no store.
    """
    if url is None:
        return default_path()
    return None if url == "memory:" or _SERVER.match(url) else _path(url)


def default_path() -> Path:
    """Return the file of the user's own store: outside of any workspace, so out of the agent's reach."""
    from platformdirs import user_state_path

    return user_state_path("ralph") / "ralph.db"


def _server(url: str) -> "PostgresDatabase":
    try:
        from ralph.store.postgres import PostgresDatabase
    except ImportError as error:
        from ralph.system.install import extra_remedy

        raise UsageError(
            "A store in PostgreSQL needs the package psycopg, which is not installed, or is incomplete.",
            extra_remedy("postgres"),
        ) from error
    return PostgresDatabase.named(url)


def _path(url: str) -> Path:
    if kind := _KIND.fullmatch(url):  # the user who types only that does not mean a file of that name
        raise UsageError(
            f"{kind[1] + (':…' if kind[2] else '')!r} names no store that Ralph can use.",
            f"Type {_MEANT[kind[1][0].lower()]} instead, or ./{kind[1]} for a file of that name.",
        )
    path = url.removeprefix("sqlite:///")
    scheme = _SCHEME.match(path)
    if scheme or path in {"", ":memory:"} or "\0" in path:
        raise _not_a_store(scheme[0] + "…" if scheme else repr(url))  # what follows may be a password
    try:
        return Path(path).expanduser().absolute()
    except RuntimeError as error:  # a "~user" that does not exist
        raise _not_a_store(repr(url)) from error


def _not_a_store(name: str) -> UsageError:
    return UsageError(
        f"{name} names no store that Ralph can use.",
        "Give the path of a file, the same as sqlite:///PATH, postgresql://USER@HOST/DATABASE, or memory:.",
    )


__getattr__, __dir__ = lazy_exports(__name__)
