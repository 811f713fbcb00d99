"""Git's folders outside of a workspace, which a sandbox lets the agent write: only those that name it in turn."""

import shutil
import subprocess
from pathlib import Path

import pytest

from ralph.errors import WorkspaceError
from ralph.system.bubblewrap import repository_around
from ralph.testing import Repository
from ralph.workspace import git_folders


def test_worktrees_submodules_and_subfolders_have_theirs(repo: Repository, submodule: Path, tmp_path: Path) -> None:
    git, tree = repo.path / ".git", tmp_path / "tree"
    repo.git("worktree", "add", "--quiet", str(tree))
    assert git_folders(repo.path) == ()
    assert git_folders(repo.path / "src") == (git,)
    assert git_folders(submodule) == (git / "modules" / "sub",)
    assert git_folders(tree) == git_folders(tree / "src") == (git, git / "worktrees" / "tree")
    (git / "worktrees" / "tree" / "gitdir").write_text("../../../../tree/.git\n")
    assert len(git_folders(tree)) == 2


def test_a_folder_elsewhere_must_be_said_to_belong_to_the_workspace(tmp_path: Path) -> None:
    top, elsewhere = tmp_path / "top", tmp_path / "elsewhere"
    subprocess.run(["git", "init", "--quiet", f"--separate-git-dir={elsewhere}", str(top)], check=True)
    with pytest.raises(WorkspaceError, match=r"core\.worktree"):
        git_folders(top)
    subprocess.run(["git", "config", "--file", elsewhere / "config", "core.worktree", top], check=True)
    assert git_folders(top) == (elsewhere,)


@pytest.mark.parametrize("kind", ["file", "commondir", "worktree", "chain", "claimed"])
def test_a_folder_cannot_take_another_repository(repo: Repository, tmp_path: Path, kind: str) -> None:
    victim, top, between = repo.path / ".git", tmp_path / "archive" / "top", tmp_path / "archive" / "between"
    top.mkdir(parents=True)
    dot_git = top / ".git"
    repo.git("worktree", "add", "--quiet", str(tmp_path / "tree"))
    between.mkdir()
    (between / "HEAD").write_text("ref: refs/heads/main\n")
    (between / "gitdir").write_text(f"{dot_git}\n")
    (between / "commondir").write_text(f"{victim}\n")
    if kind == "commondir":
        shutil.copytree(between, dot_git)
    elif kind == "claimed":  # its settings are the workspace's own, but the objects are the victim's
        shutil.copytree(between, dot_git)
        (dot_git / "config").write_text(f"[core]\n\tworktree = {top}\n")
    else:
        leads = {"file": victim, "worktree": victim / "worktrees" / "tree", "chain": between}[kind]
        dot_git.write_text(f"gitdir: {leads}\n")
    with pytest.raises(WorkspaceError) as caught:
        git_folders(top)
    assert str(victim) in str(caught.value)
    assert caught.value.exit_code == 2


def test_a_repository_around_the_home_folder_is_not_shown(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(repo.path))
    assert git_folders(repo.path / "src") == ()
    assert repository_around(repo.path / "src") is None
