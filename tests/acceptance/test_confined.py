"""What the agent of a real run can see and write: variables, a sandbox, a policy."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from ralph.errors import UsageError
from ralph.system.sandbox import Confinement, Sandbox
from ralph.testing import ModelRequest, ModelServer, Say, Shell, Step, WriteFile

DONE = "All done.\n---RALPH_STATUS---\nEXIT_SIGNAL: true\nREASON: written\n---END_RALPH_STATUS---"

EXECUTORS = pytest.mark.parametrize("executor", ["copilot-sdk", pytest.param("copilot-cli", marks=pytest.mark.long)])

pytestmark = pytest.mark.timeout(90)


def against(server: ModelServer, workspace: Path) -> tuple[str, ...]:
    return ("-C", str(workspace), "--base-url", server.base_url, "--model", "m", "--display", "json")


@pytest.fixture
def bwrap() -> None:
    """Bubblewrap works here. In CI it must be installed; whether the kernel allows it is not ours to say."""
    if os.environ.get("CI"):
        assert shutil.which("bwrap"), "install bubblewrap"
    try:
        anyio.run(Confinement(sandbox=Sandbox(kind="bwrap")).require)
    except UsageError as error:
        pytest.skip(str(error))


@EXECUTORS
def test_agent_and_verifier_see_no_secrets(ralph: Callable[..., Any], workspace: Path, executor: str) -> None:
    steps = [Shell('echo "[$NPM_TOKEN$RALPH_EXECUTOR__API_KEY][$EDITOR]" > seen'), Say(DONE)]
    check = 'test "[$NPM_TOKEN][$EDITOR]" = "[][vi]"'
    with ModelServer(steps) as server:
        ran = ralph(
            *("run", "Look", "--executor", executor, "--verify-shell", check, *against(server, workspace)),
            NPM_TOKEN="t0k3n-t0k3n",
            RALPH_EXECUTOR__API_KEY="k3y-k3y-k3y",
            EDITOR="vi",
        )
    assert ran.code == 0, ran.stdout
    assert (workspace / "seen").read_text() == "[][vi]\n"


@pytest.mark.long
def test_a_strict_list_leaves_out_the_rest(ralph: Callable[..., Any], workspace: Path) -> None:
    with ModelServer([Shell('echo "[$EDITOR][$CARGO_HOME]" > seen'), Say(DONE)]) as server:
        ran = ralph(
            *("run", "Look", "--env-only", "CARGO_*,RUSTUP_HOME", "--verify", "true", *against(server, workspace)),
            EDITOR="vi",
            CARGO_HOME="/c",
        )
    assert ran.code == 0, ran.stdout
    assert (workspace / "seen").read_text() == "[][/c]\n"


@pytest.mark.long
def test_the_value_of_a_named_variable_is_masked_everywhere(ralph: Callable[..., Any], workspace: Path) -> None:
    with ModelServer([Shell("echo plain-old-value > seen"), Say(f"It is plain-old-value. {DONE}")]) as server:
        ran = ralph(
            *("run", "Print plain-old-value", "--verify", "cat seen", *against(server, workspace)),
            CUSTOMER="plain-old-value",
            RALPH_ENVIRONMENT__MASK='["CUSTOMER"]',
        )
        shown = ralph("show", "last", "--json")
    assert ran.code == 0, ran.stdout
    assert "plain-old-value" not in ran.stdout + ran.stderr + shown.stdout
    assert "***" in ran.stdout


@pytest.mark.usefixtures("bwrap")
@EXECUTORS
def test_a_run_in_the_sandbox_changes_the_workspace_alone(
    ralph: Callable[..., Any], workspace: Path, tmp_path: Path, executor: str
) -> None:
    outside = tmp_path / "outside"
    steps = [Shell(f"echo 1 > inside; echo 2 > {outside}; git add -A; git commit -qm agent; true"), Say(DONE)]
    with ModelServer(steps) as server:
        ran = ralph(
            *("run", "Write", "--executor", executor, "--permission", "approve-all", "--sandbox", "bwrap"),
            *("--verify-shell", f"test -f inside && echo 3 > {outside}", *against(server, workspace)),
            GIT_AUTHOR_NAME="a",
            GIT_AUTHOR_EMAIL="a@localhost",
            GIT_COMMITTER_NAME="a",
            GIT_COMMITTER_EMAIL="a@localhost",
        )
    assert ran.code == 0, ran.stdout
    assert ran.end["verified"] is True
    assert not outside.exists()
    assert ran.of("iteration_finished")[0]["changes"]["commits"] == 1


def test_a_sandbox_that_is_not_there_is_refused_before_anything_is_spent(
    ralph: Callable[..., Any], workspace: Path, tmp_path: Path
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").symlink_to(shutil.which("git") or "git")
    with ModelServer([WriteFile("x", "x")]) as server:
        ran = ralph("run", "Write", "--sandbox", "bwrap", *against(server, workspace), PATH=str(tmp_path / "bin"))
        asked = len(server.requests)
    assert ran.code == 2, ran.stdout
    assert "bwrap cannot be used: there is no such program" in ran.stderr
    assert asked == 0
    assert json.loads(ralph("runs", "--json").stdout) == []


@EXECUTORS
@pytest.mark.long
def test_a_denied_command_does_not_run_by_either_way(ralph: Callable[..., Any], workspace: Path, executor: str) -> None:
    with ModelServer([Shell("touch made"), Say(DONE)]) as server:
        ran = ralph(
            *("run", "Touch", "--executor", executor, "--deny", "shell(touch)", "--max-iterations", "1"),
            *("--verify", "true", *against(server, workspace)),
        )
    assert not (workspace / "made").exists()
    assert any(event["tool"]["denied"] for event in ran.of("tool_finished")), ran.stdout


@EXECUTORS
@pytest.mark.long
def test_read_only_changes_nothing_by_either_way(ralph: Callable[..., Any], workspace: Path, executor: str) -> None:
    def script(request: ModelRequest) -> Step:
        can_write = {"create", "bash"} & set(request.tools)
        return WriteFile("made", "x") if can_write and not request.results else Say(DONE)

    with ModelServer(script) as server:
        ran = ralph(
            *("run", "Write", "--executor", executor, "--permission", "read-only", "--max-iterations", "1"),
            *("--verify", "true", *against(server, workspace)),
        )
    assert ran.of("iteration_finished"), ran.stderr
    assert not (workspace / "made").exists()


@pytest.mark.long
def test_a_run_whose_tools_are_denied_says_so_and_ends_early(ralph: Callable[..., Any], workspace: Path) -> None:
    working = "I am still trying.\n---RALPH_STATUS---\nEXIT_SIGNAL: false\nSTATUS: IN_PROGRESS\n---END_RALPH_STATUS---"
    with ModelServer([Shell("git push"), Say(working)] * 20) as server:
        ran = ralph("run", "Push", "--max-iterations", "15", "--verify", "true", *against(server, workspace))
    assert ran.code in {3, 4}, ran.stdout
    assert ran.end["iterations"] <= 3
    assert "denied" in ran.end["detail"]
