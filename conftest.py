"""The real Copilot CLI and a real PostgreSQL server, for every test that needs them; and how the tests are selected."""

import gc
import os
import signal
import sys
from collections.abc import Generator
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

_SELECTIONS = {
    "": "not (long or alone or attack)",
    "smoke": "smoke and not (long or alone or attack)",
    "long": "(long or attack) and not alone",
}
_SLOWER_UNITS = {"cli", "loop", "pipeline", "store", "testing", "workspace"}
"""The folders of units that take the most time: most of them start programs and servers."""


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Select the tests of folders, or of the whole suite, by their marker, and run them in parallel.

    There are three workers per two processors: many tests wait for a program, or until a time is over. Tests that
    measure times run one after another. Files and single tests that the command line names run as they are.
    """
    option = config.option
    if not all(Path(argument).is_dir() for argument in config.args):
        return
    option.markexpr = _SELECTIONS.get(option.markexpr, option.markexpr)
    single = "PYTEST_XDIST_WORKER" in os.environ or option.usepdb or option.collectonly or option.markexpr == "alone"
    if getattr(option, "numprocesses", 0) is None and not single:
        option.numprocesses, option.dist = 3 * max(2, os.cpu_count() or 2) // 2, "worksteal"


def pytest_configure(config: pytest.Config) -> None:
    """Make what the tests start the same everywhere.

    Each worker has an empty home: agents' login shells run no shell profile, which can take minutes, and workers share
    no store. Ctrl-C and SIGHUP work even if the suite was started in the background, or by `nohup`. Python runs from
    bytecode, as installed programs do: otherwise each `ralph` compiles itself and the SDK, which takes longer than
    what it then does.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    os.environ.setdefault("XDG_CACHE_HOME", str(Path.home() / ".cache"))
    home = TemporaryDirectory(prefix="ralph-home-", ignore_cleanup_errors=True)
    config.add_cleanup(home.cleanup)
    os.environ["HOME"] = home.name
    for kind in ("CONFIG", "DATA", "STATE"):
        os.environ.pop(f"XDG_{kind}_HOME", None)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the units of most rooms as smoke."""
    units = Path(__file__).parent / "tests" / "unit"
    for item in items:
        if " at 0x" in item.nodeid:
            raise pytest.UsageError(f"{item.nodeid} has another name in every worker: give the case an id.")
        if item.path.is_relative_to(units) and item.path.parent.name not in _SLOWER_UNITS:
            item.add_marker("smoke")


def pytest_collection_finish() -> None:
    """Exclude the collected tests and their imports from garbage collection.

    They stay to the end. Each collection would take up to a second, in the middle of a measurement.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(700, 10, 1_000)


@pytest.fixture(autouse=True)
def _kept_ctrl_c() -> Generator[None]:
    """Keep Ctrl-C as it is: a `ralph` that ends, perhaps in this process, leaves it to the system."""
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def provided_cli() -> Found:
    """Provide the Copilot CLI; it is fetched once into the user's cache if it is not there.

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
    """Provide the path of the native Copilot CLI."""
    return provided_cli.path


@pytest.fixture(scope="session")
def copilot_runtime(provided_cli: Found) -> Path:
    """Provide the lighter runtime that the CLI unpacks, for the SDK."""
    runtime = anyio.run(provide_runtime, provided_cli)
    assert runtime is not None, f"{provided_cli} unpacked no runtime"
    return runtime
