"""A repository brings programs of its own, and the user's PATH has relative entries: none of them is started."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

pytestmark = [pytest.mark.attack, pytest.mark.timeout(240)]

NAMES = (
    *("git", "copilot", "npm", "node", "bwrap", "sh", "bash", "python3", "gh", "claude", "codex", "opencode", "check"),
    *("rg", "ps", "uname", "xdg-open", "locale", "ldd", "getconf", "gcc", "ssh"),
)
RUN = ("run", "Work.", "--display", "json", "--max-iterations", "1")
CALLS: tuple[tuple[tuple[str, ...], set[int], set[str]], ...] = (
    (("doctor",), {0, 6}, {"git", "node", "npm"}),
    (("init",), {0}, set()),
    ((*RUN, "--verify", "check --all", "--executor", "copilot-cli"), {2}, {"check"}),
    ((*RUN, "--verify-shell", "check", "--executor", "claude"), {2}, {"check"}),
    ((*RUN, "--verify", "none", "--executor", "acp"), {6}, {"opencode"}),
    ((*RUN, "--verify", "none", "--executor", "copilot-cli", "--sandbox", "bwrap"), {2, 6}, {"bwrap"}),
    ((*RUN, "--verify", "none", "--executor", "copilot-cli"), {6}, set()),
    ((*RUN, "--verify", "none", "--executor", "claude", "--worktree"), {6}, set()),
    (("runs",), {0}, set()),
    (("plugins",), {0}, set()),
)
"""Each command, its exit codes, and the planted programs that it starts if Ralph takes PATH as it is."""

UNPROTECTED = """
import sys
from contextlib import nullcontext
from ralph.cli import doctor
from ralph.system import files
doctor._without_programs_of = nullcontext
files._absolute = lambda path: path or ""
from ralph.cli import main
sys.argv[0] = "ralph"
main()
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A repository with programs in its top and in `bin`, each of which leaves its name in `sign`."""
    folder, sign = tmp_path / "workspace", tmp_path / "sign"
    (folder / "bin").mkdir(parents=True)
    (tmp_path / "home").mkdir()
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    identity = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    subprocess.run(["git", "-C", str(folder), *identity, "commit", "-q", "--allow-empty", "-m", "a"], check=True)
    for name in NAMES:
        for place in (folder, folder / "bin"):
            (place / name).write_text(f'#!/bin/sh\necho "$0" >> {sign}\n')
            (place / name).chmod(0o755)
    return folder


def environment(folder: Path, entries: tuple[str, ...]) -> dict[str, str]:
    system = os.path.dirname(shutil.which("git") or "")  # noqa: PTH120
    return {
        "HOME": str(folder / "home"),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "RALPH_PLUGINS__ACP__AGENT": "opencode",
        "npm_config_registry": "http://127.0.0.1:9",
        "npm_config_fetch_retries": "0",
        "PATH": os.pathsep.join(entries).format(system=f"{system}:/bin"),
    }


@pytest.mark.parametrize("entries", [("", "{system}"), (".", "bin", "{system}"), ("./bin", "{system}", "")])
def test_no_program_of_the_workspace_is_started(workspace: Path, tmp_path: Path, entries: tuple[str, ...]) -> None:
    for words, codes, _ in CALLS:
        ran = subprocess.run(
            [sys.executable, "-m", "ralph", *words],
            cwd=workspace,
            env=environment(tmp_path, entries),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert not (tmp_path / "sign").exists(), (words, (tmp_path / "sign").read_text())
        assert ran.returncode in codes, (words, ran.stdout[-2000:], ran.stderr)


def started(words: tuple[str, ...], workspace: Path, env: Mapping[str, str], expected: set[str]) -> set[str]:
    """Return the planted programs that a command starts without the protection, once the expected ones are there."""
    sign = workspace.parent / "sign"
    sign.write_text("")
    argv, nowhere = [sys.executable, "-c", UNPROTECTED, *words], subprocess.DEVNULL
    unprotected = subprocess.Popen(argv, cwd=workspace, env=env, stdin=nowhere, stdout=nowhere, stderr=nowhere)
    found: set[str] = set()
    for _ in range(400):
        found = {Path(line).name for line in sign.read_text().splitlines()}
        if found >= expected:
            break
        time.sleep(0.1)
    unprotected.kill()
    unprotected.wait()
    return found


def test_without_the_protection_they_are_started(workspace: Path, tmp_path: Path) -> None:
    """The attempts above would succeed: the programs are found, executable, and named by these commands."""
    env = environment(tmp_path, ("", "{system}"))
    expecting = [(words, expected) for words, _, expected in CALLS if expected]
    missed = {words: missing for words, some in expecting if (missing := some - started(words, workspace, env, some))}
    assert missed == {}


@pytest.mark.parametrize("boxed", [False, True], ids=["without a sandbox", "in the sandbox"])
def test_doctor_starts_nothing_of_the_workspace_even_if_path_leads_there(
    workspace: Path, tmp_path: Path, boxed: bool
) -> None:
    """An activated environment of the workspace is in PATH with its absolute place."""
    (workspace / "conftest.py").write_text(f"open({str(tmp_path / 'sign')!r}, 'a').write('conftest')\n")
    env = environment(tmp_path, (str(workspace / "bin"), "{system}"))
    env |= {"RALPH_VERIFY": '["check --all", "./check", "git status"]', "RALPH_EXECUTOR__NAME": "claude"}
    env |= {"RALPH_SANDBOX__KIND": "bwrap"} if boxed and shutil.which("bwrap") else {}
    ran = subprocess.run(
        [sys.executable, "-m", "ralph", "doctor"],
        cwd=workspace,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert not (tmp_path / "sign").exists(), (tmp_path / "sign").read_text()
    assert "verify program" not in ran.stdout, ran.stdout + ran.stderr
    assert "cannot start in it" not in ran.stdout, ran.stdout


@pytest.mark.parametrize("name", ["json", "logging", "asyncio", "pydantic", "sqlite3", "subprocess"])
def test_no_module_of_the_workspace_is_taken_for_one_of_pythons(workspace: Path, tmp_path: Path, name: str) -> None:
    (workspace / f"{name}.py").write_text(f"open({str(tmp_path / 'sign')!r}, 'a').write('module')\n")
    for words in (("-m", "ralph", "runs"), ("-m", "ralph", "doctor")):
        subprocess.run(
            [sys.executable, *words],
            cwd=workspace,
            env=environment(tmp_path, ("{system}",)),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=100,
            check=False,
        )
    assert not (tmp_path / "sign").exists()
