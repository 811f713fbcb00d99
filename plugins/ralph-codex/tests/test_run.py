"""Whole runs of Ralph with the Codex CLI, as a person starts them."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ralph.testing import ModelServer, Say, Shell, Step, WriteFile

DONE = """All of it is done.

---RALPH_STATUS---
STATUS: COMPLETE
TASKS_COMPLETED_THIS_LOOP: 1
FILES_MODIFIED: 1
TESTS_STATUS: PASSING
WORK_TYPE: IMPLEMENTATION
EXIT_SIGNAL: true
RECOMMENDATION: none
---END_RALPH_STATUS---
"""


def ralph(workspace: Path, state: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "XDG_STATE_HOME": str(state), "NO_COLOR": "1"}
    return subprocess.run(
        [sys.executable, "-m", "ralph", *arguments],
        check=False,
        cwd=workspace,
        env=env,
        capture_output=True,
        text=True,
        timeout=50,
    )


@pytest.mark.usefixtures("codex")
def test_a_run_completes(workspace: Path, tmp_path: Path):
    subprocess.run(["git", "init", "-q", str(workspace)], check=True)
    steps: list[Step] = [
        WriteFile("hello.txt", "hi\n"),
        Say("I have begun; more is to do."),
        Shell("cat hello.txt"),
        Say(DONE),
    ]
    with ModelServer(steps, then="repeat_last") as server:
        given = ["run", "Write hello.txt", "--executor", "codex", "--model", "m", "--base-url", server.base_url]
        done = ralph(workspace, tmp_path / "state", *given, "--display", "json", "--max-iterations", "4")
        prompts = server.prompts
    assert done.returncode == 0, done.stderr + done.stdout[-3000:]
    events: list[dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines()]
    assert events[-1]["stop_reason"] == "completed"
    assert (workspace / "hello.txt").read_text() == "hi\n"
    assert "Write hello.txt" in prompts[0]


def test_it_is_listed(workspace: Path, tmp_path: Path):
    listed = ralph(workspace, tmp_path / "state", "plugins", "--json")
    assert listed.returncode == 0, listed.stderr
    assert "ralph-codex" in listed.stdout
