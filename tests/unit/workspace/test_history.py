"""Branches, tags, stashes and their commits: removing them is a loss, and ordinary work with git is none."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ralph.testing import Repository
from ralph.types.output import Changes
from ralph.workspace import Workspace, open_workspace

Act = Callable[[Repository], object]


@pytest.fixture
def repo(repo: Repository) -> Repository:
    """The repository with two branches, a tag, a stash and a branch of another run; some packed, some not."""
    repo.git("tag", "v1")
    repo.git("checkout", "--quiet", "-b", "side")
    repo.commit("on the side")
    repo.git("gc", "--quiet")
    repo.git("checkout", "--quiet", "main")
    repo.commit("second")
    repo.write("a.txt", "stashed\n")
    repo.git("stash", "--quiet")
    for ref in ("refs/remotes/origin/gone", "refs/heads/ralph/another"):
        repo.git("update-ref", ref, "v1")
    return repo


def empty(repo: Repository, *names: str) -> None:
    for folder in (repo.path / ".git" / name for name in names):
        shutil.rmtree(folder)
        folder.mkdir()


def empty_git(repo: Repository) -> None:
    empty(repo, "refs", "logs", "objects")
    (repo.path / ".git/packed-refs").unlink()


def drop_commits(repo: Repository) -> None:
    """Lead the branch to another commit, and remove what it led to."""
    repo.git("checkout", "--quiet", "--orphan", "other")
    repo.commit("other")
    repo.git("branch", "--force", "main", "other")
    repo.git("checkout", "--quiet", "main")
    repo.git("stash", "drop", "--quiet")
    repo.git("reflog", "expire", "--expire=now", "--all")
    repo.git("gc", "--quiet", "--prune=now")


HEADS = ("refs/heads/main", "refs/heads/side")
ALL = ("HEAD", *HEADS, "refs/stash", "refs/tags/v1")
LOST: dict[str, tuple[Act, tuple[str, ...]]] = {
    "refs and objects": (empty_git, ALL),
    "objects": (lambda repo: empty(repo, "objects"), ALL),
    "packs": (lambda repo: empty(repo, "objects/pack"), ("refs/heads/side", "refs/tags/v1")),
    "a branch": (lambda repo: repo.git("branch", "-D", "side"), ("refs/heads/side",)),
    "a branch's file": (lambda repo: repo.write(".git/refs/heads/main", "rubbish\n"), ("refs/heads/main",)),
    "a tag": (lambda repo: repo.git("tag", "-d", "v1"), ("refs/tags/v1",)),
    "a stash": (lambda repo: repo.git("stash", "drop", "--quiet"), ("refs/stash",)),
    "HEAD": (lambda repo: repo.git("checkout", "--quiet", "--orphan", "none"), ("HEAD",)),
    "old commits": (drop_commits, ("HEAD", "refs/heads/main", "refs/stash")),
}
KEPT: dict[str, Act] = {
    "commit": lambda repo: repo.commit(),
    "amend": lambda repo: repo.git("commit", "--quiet", "--amend", "--allow-empty", "-m", "amended"),
    "reset": lambda repo: repo.git("reset", "--quiet", "HEAD~1"),
    "rebase": lambda repo: repo.git("rebase", "--quiet", "side"),
    "another branch": lambda repo: [repo.git("checkout", "--quiet", "-b", "mine"), repo.commit()],
    "rename": lambda repo: repo.git("branch", "-m", "side", "aside"),
    "clean up": lambda repo: repo.git("gc", "--quiet", "--prune=now"),
    "pack": lambda repo: repo.git("pack-refs", "--all"),
    "stash more": lambda repo: [repo.write("src/b.txt", "x"), repo.git("stash", "--quiet")],
    "what a fetch prunes": lambda repo: repo.git("update-ref", "-d", "refs/remotes/origin/gone"),
    "Ralph's own branch": lambda repo: repo.git("branch", "-D", "ralph/another"),
}


async def turn(workspace: Workspace, repo: Repository, act: Act) -> Changes:
    before = await workspace.snapshot()
    await workspace.guard("run-1")
    act(repo)
    await workspace.restore_protected("run-1")
    return await workspace.changes(before, await workspace.snapshot())


@pytest.mark.parametrize("what", LOST)
async def test_history_that_is_removed_is_named(repo: Repository, workspace: Workspace, what: str) -> None:
    act, lost = LOST[what]
    found = (await turn(workspace, repo, act)).lost
    assert sorted(name.partition(" ")[0] for name in found) == sorted(lost)
    assert (await turn(workspace, repo, lambda repo: repo.write("later.txt", "x\n"))).lost == ()


@pytest.mark.parametrize("what", KEPT)
async def test_ordinary_work_with_git_is_no_loss(repo: Repository, workspace: Workspace, what: str) -> None:
    assert (await turn(workspace, repo, KEPT[what])).lost == ()


async def test_a_resumed_run_knows_the_history_from_before_it(
    repo: Repository, workspace: Workspace, tmp_path: Path
) -> None:
    assert (await turn(workspace, repo, lambda repo: repo.git("branch", "agents"))).lost == ()
    repo.git("tag", "-d", "v1")  # the user's doing, meanwhile
    later = open_workspace(repo.path, state_dir=tmp_path / "state")
    assert (await turn(later, repo, lambda repo: repo.git("branch", "-D", "agents"))).lost == ()
    assert (await turn(later, repo, lambda repo: repo.git("branch", "-D", "side"))).lost == ("refs/heads/side",)
