"""What Ralph is told of Claude Code, and how an executor is made of a run's settings."""

import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from ralph.errors import ExecutorUnavailableError, UnknownNameError
from ralph.executors import Confinement
from ralph.plugins import BuildContext
from ralph.settings import ExecutorSettings
from ralph_claude import ClaudeExecutor, ClaudeSettings
from ralph_claude.plugin import ralph_executors, ralph_settings


def build(context: BuildContext) -> ClaudeExecutor:
    """The executor that the plug-in makes of a run's settings."""
    (provider,) = ralph_executors()
    return provider.build(context)


def test_the_executor_goes_by_its_name() -> None:
    (kind,) = ralph_executors()
    assert kind.name == "claude"
    assert kind.build(BuildContext(ExecutorSettings())).name == "claude"
    assert ralph_settings() is ClaudeSettings


def test_the_settings_reach_it(tmp_path: Path) -> None:
    common = ExecutorSettings.model_validate({
        "model": "claude-opus-5",
        "base_url": "http://127.0.0.1:1/v1/",
        "api_key": "secret",
        "headers": {"X-Team": "shop"},
        "permission": "read-only",
        "deny": ["url"],
    })
    own = ClaudeSettings(home=tmp_path, retries=5, sources=("project",))
    confinement = Confinement(workspace=tmp_path)
    executor = build(BuildContext(common, own, confinement))
    env = executor.environment()
    assert env["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:1"
    assert env["ANTHROPIC_API_KEY"] == "secret"
    assert env["ANTHROPIC_CUSTOM_HEADERS"] == "X-Team: shop"
    assert env["ANTHROPIC_DEFAULT_HAIKU_MODEL"] == "claude-opus-5"
    assert env["CLAUDE_CODE_MAX_RETRIES"] == "5"
    assert env["CLAUDE_CONFIG_DIR"] == str(tmp_path)
    assert (executor.permissions.mode, executor.permissions.deny) == ("read-only", ("url",))
    assert executor.confinement is confinement


@pytest.mark.parametrize("wrong", [{"retries": 11}, {"retries": -1}, {"sources": ["theirs"]}, {"retires": 1}])
def test_settings_that_cannot_be(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        ClaudeSettings.model_validate(wrong)


def test_a_pattern_of_no_kind_is_refused() -> None:
    common = ExecutorSettings(deny=("shel(git push)",))
    with pytest.raises(UnknownNameError, match="shel"):
        build(BuildContext(common))


def test_to_be_looked_at_costs_next_to_nothing() -> None:
    """The SDK takes most of a second to load."""
    code = "import ralph_claude.plugin, sys; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"claude_agent_sdk", "mcp", "anyio"} & set(loaded)


async def test_the_doctor_is_told_of_the_program_and_of_a_login_that_cannot_be_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Ralph cannot see a login that it keeps itself" in await ClaudeExecutor().check()
    assert "login" not in await ClaudeExecutor(base_url="http://127.0.0.1:1").check()
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k" * 20)
    assert "login" not in await ClaudeExecutor().check()
    with pytest.raises(ExecutorUnavailableError, match="nowhere"):
        await ClaudeExecutor(tmp_path / "nowhere").check()
