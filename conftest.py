"""The real Copilot CLI and a real PostgreSQL server, for every test that needs them; and how the tests are selected."""

import gc
import os
import signal
import sys
from collections.abc import Generator
from fcntl import LOCK_EX, LOCK_SH, LOCK_UN, flock
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
import pytest
from hypothesis import settings

from ralph.errors import ProvisionError
from ralph.executors.copilot.provision import Found, provide_cli, provide_runtime
from ralph.testing.postgres import own_postgres, postgres_server, postgres_url

__all__ = ["copilot_cli", "copilot_runtime", "own_postgres", "postgres_server", "postgres_url", "provided_cli"]

settings.register_profile("ralph", settings(), deadline=None)  # how long an example takes, the machine's load decides
settings.load_profile("ralph")

_START_PROGRAMS = {"cli", "store", "testing", "workspace"}
"""The folders of units that take the most time, since they start programs and servers."""


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Run folders, or the whole suite, without the long tests and with one worker for each processor, at least two.

    Files and single tests that the command line names run as they are, one after another.
    """
    option = config.option
    if not all(Path(argument).is_dir() for argument in config.args):
        return
    option.markexpr = {"": "not long", "smoke": "smoke and not long"}.get(option.markexpr, option.markexpr)
    worker = "PYTEST_XDIST_WORKER" in os.environ
    if getattr(option, "numprocesses", 0) is None and not (worker or option.usepdb or option.collectonly):
        option.numprocesses, option.dist = max(2, os.cpu_count() or 2), "worksteal"


def pytest_configure(config: pytest.Config) -> None:
    """Make what the tests start the same everywhere.

    Each worker has an empty home: agents' login shells run no shell profile, which can take minutes, and workers share
    no store. Ctrl-C works even if the suite was started in the background. Python runs from bytecode, as installed
    programs do: otherwise each `ralph` compiles itself and the SDK, which takes longer than what it then does.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if "PYTEST_XDIST_WORKER" in os.environ:
        config.pluginmanager.register(Turns(Path(__file__)))
    os.environ.setdefault("XDG_CACHE_HOME", str(Path.home() / ".cache"))
    home = TemporaryDirectory(prefix="ralph-home-", ignore_cleanup_errors=True)
    config.add_cleanup(home.cleanup)
    os.environ["HOME"] = home.name
    for kind in ("CONFIG", "DATA", "STATE"):
        os.environ.pop(f"XDG_{kind}_HOME", None)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as long what has to run alone, since the other workers wait for it, and as smoke the units of most rooms."""
    units = Path(__file__).parent / "tests" / "unit"
    for item in items:
        if " at 0x" in item.nodeid:
            raise pytest.UsageError(f"{item.nodeid} has another name in every worker: give the case an id.")
        if item.get_closest_marker("alone"):
            item.add_marker("long")
        elif item.path.is_relative_to(units) and item.path.parent.name not in _START_PROGRAMS:
            item.add_marker("smoke")


class Turns:
    """Lets a test that is marked `alone` wait until no other test runs, and the others until it is done.

    Tests share a lock on `file`, one that is alone has it for itself. Who wants a lock stands in line for it, so that
    a test that is alone need not wait for a moment in which nobody else begins one.
    """

    def __init__(self, file: Path) -> None:
        self._line = os.open(file.parent, os.O_RDONLY)
        self._turn = os.open(file, os.O_RDONLY)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        flock(self._line, LOCK_EX)
        flock(self._turn, LOCK_EX if item.get_closest_marker("alone") else LOCK_SH)
        flock(self._line, LOCK_UN)
        try:
            return (yield)
        finally:
            flock(self._turn, LOCK_UN)


def pytest_collection_finish() -> None:
    """Exclude the collected tests and their imports from garbage collection.

    They stay to the end. Each collection would take up to a second, in the middle of a measurement.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(700, 10, 1_000)


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
