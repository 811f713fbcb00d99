"""Sparse checkouts and partial clones: what is not there is neither deleted nor needed."""

import subprocess
from pathlib import Path

import pytest

from ralph.testing import Repository
from ralph.workspace import Workspace, open_workspace
from ralph.workspace.protection import RestoredPaths
from ralph.workspace.worktree import make_worktree


def files(top: Path) -> list[str]:
    found = (path.relative_to(top) for path in top.rglob("*") if path.is_file())
    return sorted({path.parts[0] if path.parts[0] == ".git" else str(path) for path in found})


@pytest.fixture(params=["sparse", "sparse and partial", "a worktree"])
def sparse(repo: Repository, tmp_path: Path, request: pytest.FixtureRequest) -> Repository:
    """A checkout without some files; their contents are not even there in a partial clone."""
    repo.write("large/l.txt", "l\n")
    repo.write("src/l.txt", "l\n")
    repo.commit("large")
    repo.git("config", "uploadpack.allowFilter", "true")
    there = tmp_path / "there"
    if request.param == "a worktree":
        repo.git("worktree", "add", "--quiet", "-b", "other", str(there))
    else:
        how = ["--filter=blob:none"] if "partial" in request.param else []
        url = f"file://{repo.path}"
        subprocess.run(["git", "clone", "--quiet", "--no-checkout", *how, url, str(there)], check=True)
    made = Repository(there)
    made.git("sparse-checkout", "set", "--no-cone", "/*", "!l.txt")
    made.git("checkout", "--quiet")
    assert files(there) == [".git", "a.txt", "src/b.txt"]
    return made


async def held(workspace: Workspace) -> str:
    made = await workspace.checkpoint("run-1", 0, "after", seen=await workspace.snapshot())
    assert made.commit is not None, made.problem
    return made.commit


async def test_a_commit_keeps_what_is_not_there(sparse: Repository, tmp_path: Path) -> None:
    workspace = open_workspace(sparse.path, state_dir=tmp_path / "state")
    since = await held(workspace)
    then = sparse.git("rev-parse", "HEAD")
    sparse.write("src/b.txt", "edited\n")
    made = await workspace.commit(since, "x")
    assert made.commit, made.message
    assert sparse.git("diff-tree", "-r", "--name-only", then, "HEAD") == "src/b.txt"
    assert (sparse.git("status", "--porcelain"), files(sparse.path)) == ("", [".git", "a.txt", "src/b.txt"])
    assert await workspace.reset_branch("run-1", since) == made.commit
    assert (sparse.git("status", "--porcelain"), sparse.git("rev-parse", "HEAD")) == ("M src/b.txt", then)


async def test_a_worktree_of_ralphs_is_as_sparse(sparse: Repository, tmp_path: Path) -> None:
    made = await make_worktree(sparse.path, "run-1", state_dir=tmp_path / "state")
    assert made.missing == {}
    top = Repository(made.top)
    assert (top.git("status", "--porcelain"), files(made.top)) == ("", [".git", "a.txt", "src/b.txt"])
    assert top.git("sparse-checkout", "list") == sparse.git("sparse-checkout", "list")
    workspace = open_workspace(made.path, state_dir=tmp_path / "state")
    since = await held(workspace)
    top.write("new.txt", "new\n")
    committed = await workspace.commit(since, "x")
    assert committed.commit, committed.message
    assert "is merged into" in await made.merge(completed=True)
    assert (sparse.git("status", "--porcelain"), files(sparse.path)) == ("", [".git", "a.txt", "new.txt", "src/b.txt"])


async def test_discarded_work_deletes_nothing_that_was_not_there(sparse: Repository, tmp_path: Path) -> None:
    made = await make_worktree(sparse.path, "run-1", state_dir=tmp_path / "state")
    top = Repository(made.top)
    top.write("new.txt", "new\n")
    top.write("large/l.txt", "made in spite of that\n")
    kept = await held(open_workspace(made.path, state_dir=tmp_path / "state"))
    said = await made.discard(kept)
    assert "brings it back" in said, said
    commit = sparse.git("for-each-ref", "--format=%(objectname)", "refs/ralph")
    assert sparse.git("diff-tree", "-r", "--name-only", "HEAD", commit).split() == ["large/l.txt", "new.txt"]


async def test_a_sparse_checkout_made_meanwhile_stays_whole(repo: Repository, tmp_path: Path) -> None:
    repo.write("large/l.txt", "l\n")
    repo.commit("large")
    workspace = open_workspace(repo.path, state_dir=tmp_path / "state")
    for command, there in (
        ("set src", [".git", "a.txt", "src/b.txt"]),
        ("set large", [".git", "a.txt", "large/l.txt"]),
        ("disable", [".git", "a.txt", "large/l.txt", "src/b.txt"]),
    ):
        await workspace.guard("run-1")
        repo.git("sparse-checkout", *command.split())
        listed = command == "disable" or repo.git("sparse-checkout", "list")
        assert await workspace.restore_protected("run-1") == RestoredPaths(), command
        assert listed == (command == "disable" or repo.git("sparse-checkout", "list"))
        assert (repo.git("status", "--porcelain"), files(repo.path)) == ("", there)
