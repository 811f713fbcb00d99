"""`ralph run --executor claude` as a person calls it; only the model is scripted."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ralph.testing import ModelServer, Say, Shell, WriteFile, own_environment

DONE = "All done.\n---RALPH_STATUS---\nEXIT_SIGNAL: true\nREASON: written\n---END_RALPH_STATUS---"
REVIEWED = "It is there.\n---RALPH_STATUS---\nEXIT_SIGNAL: true\nREASON: I read it\n---END_RALPH_STATUS---"

pytestmark = pytest.mark.timeout(90)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """One in which nothing of the user's is read or written."""
    return own_environment(tmp_path, "ANTHROPIC_", "CLAUDE")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "README.md").write_text("# Project\n")
    identity = ("-c", "user.name=test", "-c", "user.email=test@localhost")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "start")):
        subprocess.run(("git", *identity, *words), cwd=folder, check=True)
    return folder


@pytest.fixture
def ralph(environment: dict[str, str], workspace: Path) -> Callable[..., subprocess.Popen[str]]:
    def start(*words: str) -> subprocess.Popen[str]:
        command = (sys.executable, "-m", "ralph", *words)
        nothing, pipe = subprocess.DEVNULL, subprocess.PIPE
        return subprocess.Popen(
            command, cwd=workspace, env=environment, text=True, stdin=nothing, stdout=pipe, stderr=pipe
        )

    return start


def against(server: ModelServer, *more: str) -> tuple[str, ...]:
    words = ("--executor", "claude", "--base-url", server.base_url, "--model", "claude-sonnet-5", "--display", "json")
    return ("run", "Create hello.txt", *words, *more)


def told(process: subprocess.Popen[str]) -> list[dict[str, Any]]:
    """The events of a run that ends."""
    out, errors = process.communicate(timeout=60)
    assert out, errors
    return [json.loads(line) for line in out.splitlines()]


@pytest.mark.long
def test_a_file_asked_for_is_there_and_reviewed(ralph: Any, workspace: Path) -> None:
    with ModelServer([WriteFile("hello.txt", "hello\n"), Say(DONE), Say(REVIEWED)]) as server:
        run = ralph(*against(server))
        events = told(run)
        assert set(server.requests[-1].tools) == {"Glob", "Grep", "Read"}
    assert run.returncode == 0
    assert (workspace / "hello.txt").read_text() == "hello\n"
    assert (events[-1]["stop_reason"], events[-1]["verified"]) == ("completed", True)
    assert {"message_received", "tool_started", "tool_finished"} <= {event["type"] for event in events}


@pytest.mark.long
def test_a_limit_on_cost_ends_it(ralph: Any) -> None:
    with ModelServer(then=Say("I go on.")) as server:
        run = ralph(*against(server, "--max-cost", "0.01"))
        events = told(run)
    assert events[-1]["stop_reason"] == "limit_reached"
    assert "cost" in events[-1]["detail"]


def test_the_plug_in_has_settings_of_its_own(ralph: Any, workspace: Path) -> None:
    (workspace / "ralph.toml").write_text("[plugins.claude]\nretires = 3\n")
    run = ralph("run", "Create hello.txt", "--executor", "claude", "--trust")
    _, errors = run.communicate(timeout=60)
    assert run.returncode == 2
    assert "plugins.claude.retires" in errors


@pytest.mark.long
def test_a_session_is_gone_on_with(ralph: Any, tmp_path: Path) -> None:
    with ModelServer([Say("Half of it."), WriteFile("hello.txt", "x"), Say(DONE)]) as server:
        told(ralph(*against(server, "--context", "continue", "--verify", "true", "--max-iterations", "2")))
        assert "Half of it." in json.dumps(server.requests[1].messages)


@pytest.fixture
def bwrap() -> None:
    """Bubblewrap works here. In CI it must be installed; whether the kernel allows it is not ours to say."""
    if os.environ.get("CI"):
        assert shutil.which("bwrap"), "install bubblewrap"
    tried = subprocess.run(("bwrap", "--unshare-user", "--ro-bind", "/", "/", "true"), check=False, capture_output=True)
    if tried.returncode:
        pytest.skip(tried.stderr.decode())


@pytest.mark.usefixtures("bwrap")
@pytest.mark.long
def test_it_works_in_a_sandbox(ralph: Any, workspace: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    with ModelServer([Shell(f"echo x > {outside}; echo y > inside"), Say(DONE)]) as server:
        words = ("--sandbox", "bwrap", "--permission", "approve-all", "--verify", "true")
        run = ralph(*against(server, *words))
        told(run)
    assert run.returncode == 0
    assert (workspace / "inside").exists()
    assert not outside.exists()
