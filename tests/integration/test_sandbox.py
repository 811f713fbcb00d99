"""The real Copilot CLI and runtime, and a verifier's shell, within a real sandbox."""

import os
import shutil
from pathlib import Path
from typing import Any

import anyio
import pytest

from ralph.errors import UsageError
from ralph.executors.base import Turn
from ralph.executors.copilot.base import CopilotExecutor
from ralph.executors.copilot.cli import CopilotCLIExecutor
from ralph.executors.copilot.sdk import CopilotSDKExecutor
from ralph.executors.permissions import PermissionPolicy
from ralph.loop.assembly import confinement_for
from ralph.prompt import Prompt
from ralph.settings import Settings
from ralph.system.process import run
from ralph.system.sandbox import Confinement, Sandbox, Variables
from ralph.testing import ModelServer, Say, Shell
from ralph.types.output import Answered

PROMPT = Prompt(text="Do the work.", task="work")
ANYTHING = PermissionPolicy(mode="approve-all")


@pytest.fixture(scope="module")
def bwrap() -> None:
    """Bubblewrap works here. In CI it must be installed; whether the kernel allows it is not ours to say."""
    if os.environ.get("CI"):
        assert shutil.which("bwrap"), "install bubblewrap"
    try:
        anyio.run(Confinement(sandbox=Sandbox(kind="bwrap")).require, Path.cwd())
    except UsageError as error:
        pytest.skip(str(error))


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def confined(workspace: Path, network: str = "all", **more: object) -> Confinement:
    sandbox = Sandbox.model_validate({"kind": "bwrap", "network": network, **more})
    return Confinement(sandbox=sandbox, workspace=workspace)


async def shell(workspace: Path, text: str, network: str = "all", **more: object) -> str:
    """What a shell in the sandbox prints, its complaints included."""
    argv = confined(workspace, network, **more).command(["/bin/sh", "-c", text], cwd=workspace)
    done = await run(argv, cwd=workspace, timeout=20)
    return f"{done.stdout}{done.stderr}".strip()


@pytest.mark.usefixtures("bwrap")
class TestWhatAProgramCan:
    @pytest.mark.parametrize("repository", [True, False])
    async def test_its_git_has_the_users_name_and_none_of_the_users_programs(
        self, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, repository: bool
    ):
        (tmp_path / ".gitconfig").write_text(
            "[user]\nname = Ann 'the' Other\nemail = ann@localhost\n[core]\nautocrlf = input\npager = touch pager\n"
            "hooksPath = /hooks\n[alias]\nst = !touch alias\n[credential]\nhelper = store\n"
        )
        monkeypatch.setenv("HOME", str(tmp_path))
        if repository:
            await run(["git", "init", "-q"], cwd=workspace, timeout=20)
        box = confinement_for(Settings(sandbox=Sandbox(kind="bwrap")), workspace)
        work = "test -d .git || git init -q; echo a > a; git add a; git commit -qm x; git log -1 --format=%an,%ae"
        work += "; git config --global -l"
        done = await run(box.command(["/bin/sh", "-c", work], cwd=workspace), cwd=workspace, timeout=20)
        assert done.stdout.splitlines() == [
            "Ann 'the' Other,ann@localhost",
            "user.name=Ann 'the' Other",
            "user.email=ann@localhost",
            "core.autocrlf=input",
        ], done.stderr

    async def test_it_writes_in_the_workspace_alone(self, workspace: Path, tmp_path: Path):
        outside = tmp_path / "outside"
        said = await shell(
            workspace, f"echo 1 > inside; echo 2 > {outside}; echo 3 > /etc/ralph-test; mount -o remount,rw /"
        )

        assert (workspace / "inside").read_text() == "1\n"
        assert not outside.exists()
        assert "/etc/ralph-test: Read-only" in said
        assert "mount: " in said

    async def test_the_home_folder_is_not_to_be_seen(self, workspace: Path):
        kept = Path.home() / f".ralph-test-{os.getpid()}"
        kept.write_text("secret")
        try:
            assert "secret" not in await shell(workspace, f"cat {kept}")
            assert await shell(workspace, f"cat {kept}", readable=[str(kept)]) == "secret"
        finally:
            kept.unlink()

    async def test_other_processes_are_not_to_be_seen(self, workspace: Path):
        assert len((await shell(workspace, "ls /proc | grep '^[0-9]'")).split()) < 6

    async def test_the_network_is_cut_off_where_that_is_asked_for(self, workspace: Path):
        listed = "tail -n +3 /proc/net/dev | cut -d: -f1"
        assert (await shell(workspace, listed, "agent")).split() == ["lo"]
        bounds = confined(workspace, "agent").command(["/bin/sh", "-c", listed], cwd=workspace, agent=True)
        assert (await run(bounds, cwd=workspace, timeout=20)).stdout == (
            await run(["/bin/sh", "-c", listed], cwd=workspace, timeout=20)
        ).stdout

    async def test_what_lies_elsewhere_and_belongs_to_the_workspace_can_be_written(
        self, workspace: Path, tmp_path: Path
    ):
        common = tmp_path / "common"
        common.mkdir()
        bounds = Confinement(sandbox=Sandbox(kind="bwrap"), workspace=workspace, folders=(common,))
        done = await run(bounds.command(["touch", str(common / "x")], cwd=workspace), cwd=workspace, timeout=20)
        assert done.code == 0, done.stderr
        assert (common / "x").exists()


@pytest.mark.usefixtures("bwrap")
@pytest.mark.parametrize("kind", ["cli", "sdk"])
async def test_the_agent_works_within_the_sandbox(
    kind: str,
    copilot_cli: Path,
    copilot_runtime: Path,
    workspace: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("NPM_TOKEN", "not-for-the-agent")
    outside = tmp_path / "outside"
    command = f'echo in > inside; echo out > {outside}; ls -A ~ > home; echo "[$NPM_TOKEN]" > token; true'
    async with ModelServer([Shell(command), Say("Tried.")]) as server:
        own: dict[str, Any] = {
            "model": "m",
            "base_url": server.base_url,
            "permissions": ANYTHING,
            "confinement": confined(workspace),
        }
        executor: CopilotExecutor = (
            CopilotCLIExecutor(copilot_cli, **own) if kind == "cli" else CopilotSDKExecutor(copilot_runtime, **own)
        )
        async with executor:
            output = await executor.execute(PROMPT, Turn(workspace=workspace))
    assert output.outcome == Answered(), output
    assert (workspace / "inside").read_text() == "in\n"
    assert not outside.exists()
    assert (workspace / "token").read_text() == "[]\n"
    assert ".bashrc" not in (workspace / "home").read_text().split()


async def test_a_sandbox_that_is_not_there_is_refused_with_the_reason(workspace: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(workspace))
    with pytest.raises(UsageError, match="bwrap cannot be used: there is no such program"):
        await confined(workspace).require(workspace)


async def test_a_kernel_that_does_not_allow_it_is_refused_with_the_reason(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
):
    fake = workspace / "bwrap"
    fake.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2; exit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{workspace}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(UsageError, match="cannot be used here: bwrap: No permissions"):
        await confined(workspace).require(workspace)
    assert shutil.which("bwrap") == str(fake)


def test_only_what_is_named_is_passed_on_by_a_strict_list(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CARGO_HOME", "/c")
    monkeypatch.setenv("EDITOR", "vi")
    passed = Confinement(variables=Variables(only=("CARGO_*",))).environment()
    assert passed["CARGO_HOME"] == "/c"
    assert "PATH" in passed
    assert "EDITOR" not in passed
