"""The real Copilot CLI and a real PostgreSQL server, for every test that needs them."""

import os
from pathlib import Path

import anyio
import pytest

from ralph.errors import ProvisionError
from ralph.executors.provision import Found, provide_cli, provide_runtime
from ralph.testing.postgres import own_postgres, postgres_server, postgres_url

__all__ = ["copilot_cli", "copilot_runtime", "own_postgres", "postgres_server", "postgres_url", "provided_cli"]


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
