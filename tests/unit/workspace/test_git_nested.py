"""What is reported of nested repositories that an agent leaves behind."""

from pathlib import Path

import pytest

from ralph.testing import Repository
from ralph.workspace import Workspace


@pytest.mark.parametrize("staged", [True, False])
async def test_new_settings_and_hooks_of_nested_repositories_are_named(
    repo: Repository, submodule: Path, workspace: Workspace, staged: bool
) -> None:
    theirs = Repository.begin(repo.path / "theirs")
    theirs.write("x", "x\n")
    theirs.commit("x")
    theirs.git("config", "core.pager", "less")
    seen = await workspace.snapshot()
    assert await workspace.guard("run-1") == ""
    await workspace.checkpoint("run-1", 1, "before", seen=seen)
    assert await workspace.left_behind() == ""

    inner = Repository.begin(repo.path / "own")
    inner.write("inner.txt", "x\n")
    inner.commit("inner")
    inner.git("config", "branch.main.remote", "origin")
    if staged:
        repo.git("add", "own")
    await workspace.checkpoint("run-1", 1, "after", seen=await workspace.snapshot())
    assert await workspace.left_behind() == ""

    inner.git("config", "core.fsmonitor", "./evil")
    Repository(submodule).git("config", "include.path", "evil")
    hook = inner.path / ".git" / "hooks" / "post-index-change"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\n")
    hook.chmod(0o755)
    left = await workspace.left_behind()
    assert "own (core.fsmonitor, hooks/post-index-change), sub (include.path)" in left
    assert "theirs" not in left
