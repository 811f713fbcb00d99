"""A repository brings programs of its own, and the user's PATH has relative entries: none of them is started."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.attack, pytest.mark.timeout(180)]

NAMES = (
    *("git", "copilot", "npm", "node", "bwrap", "sh", "bash", "python3", "gh", "claude", "codex", "opencode", "check"),
    *("rg", "ps", "uname", "xdg-open", "locale", "ldd", "getconf", "gcc", "ssh"),
)
CALLS = (
    ("doctor",),
    ("init",),
    ("run", "Work.", "--verify", "check --all", "--executor", "copilot-cli", "--display", "json"),
    ("run", "Work.", "--verify-shell", "check", "--executor", "claude", "--display", "json"),
    ("run", "Work.", "--verify", "none", "--executor", "acp", "--worktree", "--display", "json"),
    ("runs",),
    ("plugins",),
)


@pytest.mark.parametrize("entries", [("", "{system}"), (".", "bin", "{system}"), ("./bin", "{system}", "")])
def test_no_program_of_the_workspace_is_started(tmp_path: Path, entries: tuple[str, ...]) -> None:
    workspace, sign = tmp_path / "workspace", tmp_path / "sign"
    (workspace / "bin").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(workspace)], check=True)
    identity = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    subprocess.run(["git", "-C", str(workspace), *identity, "commit", "-q", "--allow-empty", "-m", "a"], check=True)
    for name in NAMES:
        for place in (workspace, workspace / "bin"):
            (place / name).write_text(f'#!/bin/sh\necho "$0" >> {sign}\n')
            (place / name).chmod(0o755)
    system = os.path.dirname(shutil.which("git") or "")  # noqa: PTH120
    environment = {
        "HOME": str(tmp_path / "home"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "npm_config_registry": "http://127.0.0.1:9",
        "PATH": os.pathsep.join(entries).format(system=f"{system}:/bin"),
    }
    (tmp_path / "home").mkdir()
    for words in CALLS:
        subprocess.run(
            [sys.executable, "-m", "ralph", *words],
            cwd=workspace,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=100,
            check=False,
        )
        assert not sign.exists(), (words, sign.read_text())
