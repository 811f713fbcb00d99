"""The plug-in's hooks, and GitHub issues from the command line."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ralph.testing import own_environment, run_ralph
from ralph_github import GitHubSettings, Reporter
from ralph_github.plugin import ralph_observers, ralph_settings

EXECUTOR = """
import os
from ralph.plugins import Provider, hookimpl
from ralph.testing import ScriptedExecutor

@hookimpl
def ralph_executors():
    yield Provider("quick", "says that it is done", lambda context: ScriptedExecutor([
        "All done.\\n---RALPH_STATUS---\\nEXIT_SIGNAL: true\\nREASON: written\\n---END_RALPH_STATUS---"]))
"""


@pytest.fixture
def environment(tmp_path: Path, github: Any) -> dict[str, str]:
    """Return an environment without the user's own files."""
    own = {"RALPH_PLUGINS__GITHUB__API": github.url, "RALPH_PLUGINS__GITHUB__TOKEN": "hunter2-of-the-settings"}
    return own_environment(tmp_path) | own


def test_nothing_is_reported_by_default():
    assert list(ralph_observers(GitHubSettings())) == []
    assert list(ralph_observers(None)) == []
    (observer,) = ralph_observers(GitHubSettings(report="comment"))
    assert isinstance(observer, Reporter)
    assert ralph_settings() is GitHubSettings


def test_importing_the_plugin_is_cheap():
    code = "import ralph_github.plugin, ralph_github.settings, ralph_github.observer, sys; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"githubkit", "httpx"} & set(loaded)


def test_a_task_from_an_issue_is_run_and_reported(github: Any, environment: dict[str, str], tmp_path: Path):
    folder = tmp_path / "work"
    (folder / ".ralph").mkdir(parents=True)
    (folder / ".ralph" / "plugin.py").write_text(EXECUTOR)
    (folder / "ralph.toml").write_text('[plugins.github]\nreport = "comment"\n')
    words = ["--executor", "quick", "--trust", "--verify", "true", "--display", "json"]
    ended = run_ralph(["run", "--task", "github:octo/shop#12", *words], environment, folder)
    assert ended.returncode == 0, ended.stderr
    assert "> On empty input." in json.loads(ended.stdout.splitlines()[0])["task"]
    assert github.asked[0].token == "hunter2-of-the-settings"
    (comment,) = github.comments.values()
    assert "Ralph has completed this" in comment
    assert "- Verified: no: `'true' passes, but it passed before the first iteration" in comment
    assert "hunter2" not in ended.stdout + ended.stderr + comment
    kept = [each.read_bytes() for each in (tmp_path / "state").rglob("*") if each.is_file()]
    assert kept
    assert not any(b"hunter2" in each for each in kept)


def test_a_missing_issue_is_reported(environment: dict[str, str], tmp_path: Path):
    asked = run_ralph(["run", "--task", "github:octo/shop#404"], environment, tmp_path)
    assert asked.returncode == 2
    assert "GitHub answers 404 (octo/shop#404)" in asked.stderr
    assert "hunter2" not in asked.stderr
    assert "Traceback" not in asked.stderr


def test_the_agent_is_not_given_the_token():
    from ralph.executors import Confinement

    environ = {
        "PATH": "/bin",
        "GITHUB_TOKEN": "hunter2",
        "GH_TOKEN": "hunter2",
        "RALPH_PLUGINS__GITHUB__TOKEN": "hunter2",
    }
    assert Confinement(workspace=Path("/")).variables.of(environ) == {"PATH": "/bin"}
