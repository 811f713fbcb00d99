"""Where runs are kept: `open_store` finds the store that a name means."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

from ralph.errors import UsageError
from ralph.store.base import Store

if TYPE_CHECKING:
    from ralph.store.postgres import PostgresDatabase

__all__ = ["Store", "default_path", "is_server", "open_store"]

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")


def open_store(url: str | None = None) -> Store:
    """The store that a name means, to be used in `async with`; nothing is read or written before.

    Args:
        url: "memory:", "sqlite:///PATH" or a path, "~" allowed, or "postgresql://USER@HOST/DATABASE"; None for the
            user's own store.

    Raises:
        UsageError: it means no store.
    """
    if url == "memory:":
        from ralph.store.memory import MemoryStore

        return MemoryStore()
    from ralph.store.sql import SqlStore

    if url is not None and is_server(url):
        return SqlStore(_server(url))
    from ralph.store.sqlite import SqliteFile

    return SqlStore(SqliteFile(default_path() if url is None else _path(url)))


def default_path() -> Path:
    """The file of the user's own store: outside of any workspace, so out of the agent's way."""
    from platformdirs import user_state_path

    return user_state_path("ralph") / "ralph.db"


def is_server(url: str) -> bool:
    """Whether the name means a database on a server, rather than a file or nothing that is kept."""
    return url.startswith(("postgresql://", "postgres://"))


def _server(url: str) -> "PostgresDatabase":
    try:
        from ralph.store.postgres import PostgresDatabase
    except ImportError as error:
        raise UsageError(
            "A store in PostgreSQL needs the package psycopg, which is not installed, or not whole.",
            "Install it with `pip install 'ralph-runtime[postgres]'`.",
        ) from error
    return PostgresDatabase.named(url)


def _path(url: str) -> Path:
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
