"""The real Copilot CLI, for every test in this folder."""

from pathlib import Path

import anyio
import pytest

from ralph.executors.provision import Found, provide_cli, provide_runtime


@pytest.fixture(scope="session")
def provided_cli() -> Found:
    return anyio.run(provide_cli)


@pytest.fixture(scope="session")
def copilot_cli(provided_cli: Found) -> Path:
    """The native Copilot CLI; fetched once into the user's cache where it is not there."""
    return provided_cli.path


@pytest.fixture(scope="session")
def copilot_runtime(provided_cli: Found) -> Path:
    """The lighter runtime that the CLI unpacks, for the SDK."""
    runtime = anyio.run(provide_runtime, provided_cli)
    assert runtime is not None, f"{provided_cli} unpacked no runtime"
    return runtime
