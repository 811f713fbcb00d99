"""`HOME` names another folder: the real one's credentials stay out of bounds, for the policy and in the sandbox."""

import os
import pwd
from pathlib import Path

import pytest

from ralph.errors import UsageError
from ralph.executors import Allowed, Denied, PermissionPolicy, PermissionRequest
from ralph.system.process import run
from ralph.system.sandbox import Confinement, Sandbox

pytestmark = pytest.mark.attack

REAL = Path(pwd.getpwuid(os.getuid()).pw_dir)


@pytest.fixture(autouse=True)
def redirected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "elsewhere"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    return home


@pytest.mark.parametrize("store", [".kube/config", ".docker/config.json", ".config/gh/hosts.yml", ".npmrc", ".ssh/id"])
def test_the_policy_denies_the_real_ones_credentials(tmp_path: Path, redirected: Path, store: str) -> None:
    for home in (REAL, redirected):
        for request in (
            PermissionRequest(kind="read", paths=(str(home / store),)),
            PermissionRequest(kind="shell", command=f"cat {home / store}"),
        ):
            for policy in (PermissionPolicy(), PermissionPolicy(mode="read-only")):
                assert isinstance(policy.decide(request, tmp_path), Denied), request
    free = PermissionRequest(kind="read", paths=(str(REAL / "project/README.md"),))
    assert isinstance(PermissionPolicy().decide(free, tmp_path), Allowed)


async def test_the_sandbox_hides_the_real_one(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    confinement = Confinement(sandbox=Sandbox(kind="bwrap", network="all"), workspace=workspace)
    try:
        await confinement.require(workspace)
    except UsageError as error:
        pytest.skip(str(error))
    secret = REAL / f".ralph-test-{os.getpid()}"
    secret.write_text("a secret of the user")
    try:
        argv = confinement.command(["/bin/cat", str(secret)], cwd=workspace)
        ended = await run(argv, cwd=workspace, timeout=20)
    finally:
        secret.unlink()
    assert ended.code == 1
    assert "No such file" in ended.stderr
