"""The plug-in as a person meets it: on the command line, with settings."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from ralph.errors import ExecutorUnavailableError, UsageError
from ralph.plugins import BuildContext
from ralph.settings import ExecutorSettings
from ralph.testing import own_environment, run_ralph
from ralph_acp import AcpExecutor, AcpSettings
from ralph_acp.agents import Copilot, OpenCode
from ralph_acp.plugin import build


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return own_environment(tmp_path)


def test_it_is_listed(workspace: Path, environment: dict[str, str]):
    listed = json.loads(run_ralph(["plugins", "--json"], environment, workspace).stdout)["plugins"]
    [own] = [plugin for plugin in listed if plugin["name"] == "acp"]
    assert own["adds"] == {"executors": ["acp"]}
    assert own["problems"] == []
    assert own["distribution"] == "ralph-acp"


def test_a_run_with_an_agent_of_ones_own(workspace: Path, environment: dict[str, str], tmp_path: Path):
    program, script = Path(__file__).with_name("scripted_agent.py"), tmp_path / "script.json"
    steps = [["write", "made.txt", "x"], ["tool", "edit", {"path": "made.txt"}, "completed"], ["say", "I go on."]]
    script.write_text(json.dumps(steps))
    command = json.dumps([sys.executable, str(program), "{model}"])
    (workspace / "ralph.toml").write_text(f"[executor]\nname = 'acp'\n[plugins.acp]\ncommand = {command}\n")
    words = ("run", "--trust", "--model", str(script), "--max-iterations", "2", "--verify", "none", "--display", "json")
    done = run_ralph([*words, "work"], environment, workspace)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 5, done.stderr
    assert (workspace / "made.txt").read_text() == "x"
    assert sum(event["type"] == "iteration_finished" for event in events) == 2
    assert any(event.get("text") == "I go on." for event in events)
    assert "Traceback" not in done.stderr


def test_an_agent_that_nobody_knows(workspace: Path, environment: dict[str, str]):
    (workspace / "ralph.toml").write_text("[plugins.acp]\nagent = 'opencod'\n")
    done = run_ralph(["run", "--trust", "--executor", "acp", "work"], environment, workspace)
    assert done.returncode == 2
    assert "opencod" in done.stderr
    assert "'copilot', 'opencode' or 'gemini'" in done.stderr


def test_the_settings_reach_the_executor():
    settings = ExecutorSettings.model_validate({
        "name": "acp",
        "model": "m",
        "base_url": "http://127.0.0.1:1/v1",
        "api_key": "k" * 20,
        "permission": "read-only",
        "deny": ["shell(make)"],
    })
    own = AcpSettings(agent="opencode", command=("/opt/opencode", "acp"), env={"A": "{base_url}"}, files=False)
    executor = build(BuildContext(settings, own))
    assert executor.agent.name == "OpenCode"
    assert (executor.permissions.mode, executor.permissions.deny) == ("read-only", ("shell(make)",))
    assert executor.account == "http://127.0.0.1:1/v1"


def test_no_agent_is_named():
    with pytest.raises(UsageError, match="which agent"):
        build(BuildContext(ExecutorSettings(name="acp")))


async def test_the_doctor_is_told_of_the_program_or_that_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    assert await AcpExecutor(command=["sh", "-c", "true"]).check() == shutil.which("sh")
    with pytest.raises(ExecutorUnavailableError, match="'no-such-agent'"):
        await AcpExecutor(command=["no-such-agent"]).check()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ExecutorUnavailableError, match="no 'opencode' on PATH"):
        await AcpExecutor(OpenCode()).check()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("COPILOT_CLI_PATH", raising=False)
    assert await AcpExecutor(Copilot()).check() == "Copilot, not here yet; the first run fetches it"
    assert not (tmp_path / "cache").exists()
