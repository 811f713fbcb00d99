"""The program within the test's own process: quick, with folders of its own, and with an agent that is a script."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest

from ralph.cli import main
from ralph.executors.base import Executor
from ralph.loop.runner import Runner
from ralph.records.record import RunRecord
from ralph.store import open_store
from ralph.testing import ScriptedExecutor
from ralph.verifiers import CommandVerifier
from ralph.workspace import open_workspace


@dataclass(frozen=True)
class Ended:
    """A `ralph` that has ended."""

    code: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's home of the test's own; nothing of the real one is read or written."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    for name in ("STATE", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(folder / name.lower()))
    for name in ("RALPH_DEBUG", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    return folder


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that the program is called in."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def ralph(workspace: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., Ended]:
    """Calls `main` with arguments."""

    def call(*words: str) -> Ended:
        monkeypatch.setattr(sys, "argv", ["ralph", *words])
        capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capfd.readouterr()
        assert isinstance(ended.value.code, int)
        return Ended(ended.value.code, out, err)

    return call


@pytest.fixture
def kept_run(workspace: Path) -> Callable[..., RunRecord]:
    """Makes a run in the user's store, by a scripted agent."""

    def run(*replies: str, verify: str = "", executor: Executor | None = None) -> RunRecord:
        runner = Runner(
            executor=executor or ScriptedExecutor(list(replies)),
            store=open_store(),
            workspace=open_workspace(workspace),
            verify=[CommandVerifier(verify)] if verify else (),
        )

        async def whole() -> RunRecord:
            async with runner:
                return await runner.run("Make the tests pass.")

        return anyio.run(whole)

    return run
