"""What a checkpoint holds, and what making it leaves alone."""

from pathlib import Path
from typing import Protocol

import pytest

from ralph.changes import Checkpoint
from ralph.workspace import Workspace, open_workspace


class Repo(Protocol):
    path: Path

    def git(self, *arguments: str) -> str: ...
    def write(self, name: str | bytes, text: str) -> Path: ...
    def commit(self, message: str = "work") -> str: ...


@pytest.fixture
def workspace(repo: Repo, tmp_path: Path) -> Workspace:
    return open_workspace(repo.path, state_dir=tmp_path / "state")


async def checkpoint(workspace: Workspace, iteration: int = 1) -> Checkpoint:
    return await workspace.checkpoint("run-1", iteration, "after", seen=await workspace.snapshot())


async def test_a_checkpoint_is_a_commit_on_a_private_ref(repo: Repo, workspace: Workspace) -> None:
    head = repo.git("rev-parse", "HEAD")
    repo.write("a.txt", "edited\n")
    repo.write("new.txt", "new\n")
    found = await checkpoint(workspace, 3)
    assert found.commit is not None
    assert found.problem == ""
    assert repo.git("rev-parse", "refs/ralph/run-1/3/after") == found.commit
    assert repo.git("show", f"{found.commit}:a.txt") == "edited"
    assert repo.git("show", f"{found.commit}:new.txt") == "new"
    assert repo.git("rev-parse", f"{found.commit}^") == head


async def test_what_is_ignored_is_not_held(repo: Repo, workspace: Workspace) -> None:
    repo.write(".gitignore", "*.log\n")
    repo.write(".git/info/exclude", "secret.env\n")
    for name in ("build.log", "secret.env", "kept.txt"):
        repo.write(name, "x\n")
    found = await checkpoint(workspace)
    held = repo.git("ls-tree", "-r", "--name-only", str(found.commit)).split()
    assert held == [".gitignore", "a.txt", "kept.txt", "src/b.txt"]


async def test_the_users_branch_index_and_stash_stay_as_they_are(repo: Repo, workspace: Workspace) -> None:
    repo.write("a.txt", "staged\n")
    repo.git("add", "a.txt")
    repo.write("a.txt", "and then edited\n")
    repo.write("new.txt", "new\n")
    before = (repo.git("status", "--porcelain"), repo.git("for-each-ref", "refs/heads", "refs/stash"))
    index = (repo.path / ".git/index").read_bytes()
    assert (await checkpoint(workspace)).commit
    assert (repo.path / ".git/index").read_bytes() == index
    assert (repo.git("status", "--porcelain"), repo.git("for-each-ref", "refs/heads", "refs/stash")) == before


async def test_nothing_changed_is_the_same_checkpoint(repo: Repo, workspace: Workspace) -> None:
    first = await checkpoint(workspace, 1)
    assert await checkpoint(workspace, 2) == first
    repo.write("a.txt", "edited\n")
    assert await checkpoint(workspace, 3) != first


async def test_the_difference_of_two_checkpoints(repo: Repo, workspace: Workspace) -> None:
    first = await checkpoint(workspace, 1)
    repo.write("a.txt", "edited\n")
    second = await checkpoint(workspace, 2)
    repo.write("new.txt", "new\n")
    between = await workspace.difference(str(first.commit), second.commit)
    assert "-a\n+edited\n" in between
    assert "new.txt" not in between
    assert "new.txt" in await workspace.difference(str(first.commit))


async def test_a_long_difference_is_cut(repo: Repo, workspace: Workspace) -> None:
    first = await checkpoint(workspace, 1)
    repo.write("new.txt", "line\n" * 1000)
    difference = await workspace.difference(str(first.commit), limit=200)
    assert 200 < len(difference) < 300
    assert difference.endswith("[the rest of the difference is left out]\n")


async def test_a_folder_without_git_has_checkpoints_of_its_own(tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    (folder / "node_modules").mkdir(parents=True)
    (folder / "a.txt").write_text("a\n")
    (folder / "node_modules/noise.js").write_text("x\n")
    workspace = open_workspace(folder, state_dir=tmp_path / "state")
    first = await checkpoint(workspace)
    (folder / "a.txt").write_text("b\n")
    difference = await workspace.difference(str(first.commit))
    assert "-a\n+b\n" in difference
    assert "noise" not in difference
    assert sorted(path.name for path in folder.iterdir()) == ["a.txt", "node_modules"]
