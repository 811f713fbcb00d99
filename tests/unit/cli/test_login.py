"""`ralph login`: the login of the agent's own program."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

_PROGRAM = """\
#!{python}
import pathlib, sys
pathlib.Path({file!r}).write_text(" ".join(sys.argv[1:]))
print("Open the page.")
sys.exit({code})
"""


def _program(folder: Path, name: str, code: int = 0) -> Path:
    path = folder / name
    path.write_text(_PROGRAM.format(python=sys.executable, file=str(folder / "called"), code=code))
    path.chmod(0o755)
    return path


def test_the_login_of_the_copilot_cli_is_run(
    ralph: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _program(tmp_path, "copilot")
    monkeypatch.setenv("RALPH_EXECUTOR__CLI_PATH", str(path))
    ended = ralph("login", "--executor", "copilot-cli")
    assert (ended.code, (tmp_path / "called").read_text()) == (0, "login")
    assert ended.out == "Open the page.\n"
    assert f"Running `{path} login`" in ended.err


@pytest.mark.parametrize(("name", "called"), [("claude", "auth login"), ("codex", "login")])
def test_each_agent_has_its_own_login(
    ralph: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, called: str
) -> None:
    monkeypatch.setenv(f"RALPH_PLUGINS__{name.upper()}__PROGRAM", str(_program(tmp_path, name)))
    assert ralph("login", "--executor", name).code == 0
    assert (tmp_path / "called").read_text() == called


def test_a_login_that_fails_says_so(ralph: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RALPH_PLUGINS__CLAUDE__PROGRAM", str(_program(tmp_path, "claude", 3)))
    ended = ralph("login", "--executor", "claude")
    assert ended.code == 6
    assert "ended with exit code 3, so the login may have failed." in ended.err


def test_an_executor_without_a_login_says_what_to_do(
    ralph: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RALPH_PLUGINS__ACP__COMMAND", '["my-agent"]')
    ended = ralph("login", "--executor", "acp")
    assert ended.code == 2
    assert "The executor 'acp' has no login that Ralph can start. Start the agent's own program" in ended.err
