"""The `ralph` program as a person runs it: a process of its own, with a state folder of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

RALPH = (sys.executable, "-m", "ralph")


@dataclass(frozen=True)
class Ran:
    """A `ralph` that has ended."""

    code: int
    stdout: str
    stderr: str

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.stdout.splitlines()]

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event["type"] == kind]

    @property
    def end(self) -> dict[str, Any]:
        """The last event, which must be that of the run's end."""
        last = self.events[-1]
        assert last["type"] == "run_finished"
        return last


@pytest.fixture
def environment(tmp_path: Path, copilot_cli: Path) -> dict[str, str]:
    """An environment in which nothing of the user's is read or written but the CLI's cache."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("RALPH_", "COPILOT_", "GH_"))}
    return {
        **kept,
        "COPILOT_CLI_PATH": str(copilot_cli),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "NO_COLOR": "1",
    }


@pytest.fixture
def ralph(environment: Mapping[str, str], tmp_path: Path) -> Callable[..., Ran]:
    """Runs `ralph` with arguments and returns what it printed."""

    def run(*words: str, stdin: str = "", timeout: float = 50, **more: str) -> Ran:
        ended = subprocess.run(
            (*RALPH, *words),
            check=False,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=timeout,
            cwd=tmp_path / "workspace" if (tmp_path / "workspace").exists() else tmp_path,
            env={**environment, **more},
        )
        return Ran(ended.returncode, ended.stdout, ended.stderr)

    return run


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A git repository with one commit."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "README.md").write_text("# Project\n")
    identity = ("-c", "user.name=test", "-c", "user.email=test@localhost")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "start")):
        subprocess.run(("git", *identity, *words), cwd=folder, check=True, capture_output=True)
    return folder
