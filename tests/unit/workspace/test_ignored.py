"""The user's rules for what git ignores hold for commits and checkpoints, wherever git has them from."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ralph.errors import WorkspaceError
from ralph.testing import Repository
from ralph.workspace import Workspace, open_workspace
from ralph.workspace.worktree import make_worktree

RULES: dict[str, Callable[[Repository, Path], object]] = {
    "nested .gitignore": lambda repo, home: [repo.write("src/.gitignore", "secret.env\n"), repo.commit("rules")],
    "info/exclude": lambda repo, home: repo.write(".git/info/exclude", "secret.env\n"),
    "the user's list": lambda repo, home: [
        (home / ".gitconfig").write_text("[core]\n\texcludesFile = ~/rules\n"),
        (home / "rules").write_text("secret.env\n"),
    ],
    "a list of the repository": lambda repo, home: [
        repo.git("config", "core.excludesFile", str(home / "rules")),
        (home / "rules").write_text("secret.env\n"),
    ],
    "a list in the repository": lambda repo, home: [
        repo.git("config", "core.excludesFile", "rules.txt"),
        repo.write("rules.txt", "secret.env\n"),
        repo.commit("rules"),
    ],
    "a list from home": lambda repo, home: [
        repo.git("config", "core.excludesFile", "~/rules"),
        (home / "rules").write_text("secret.env\n"),
    ],
    "the repository's instead of the user's": lambda repo, home: [
        (home / ".gitconfig").write_text("[core]\n\texcludesFile = ~/others\n"),
        (home / "others").write_text("b.txt\n"),
        repo.git("config", "core.excludesFile", "~/rules"),
        (home / "rules").write_text("secret.env\n"),
    ],
}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("place", ["the folder", "a worktree"])
async def test_ignored_files_are_neither_committed_nor_in_a_checkpoint(
    rule: str, place: str, repo: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(home / ".gitconfig"))
    RULES[rule](repo, home)
    top, state = repo.path, tmp_path / "state"
    if place == "a worktree":
        top = (await make_worktree(repo.path, "run-1", state_dir=state)).top
    workspace: Workspace = open_workspace(top, state_dir=state)
    assert workspace.checkpoints
    first = await workspace.checkpoint("run-1", 1, "before", seen=await workspace.snapshot())
    (top / "src" / "secret.env").write_text("a secret\n")
    (top / "src" / "b.txt").write_text("work\n")
    seen = await workspace.snapshot()
    assert list(seen.files) == ["src/b.txt"]
    made = await workspace.checkpoint("run-1", 1, "after", seen=seen)
    assert "a secret" not in await workspace.difference(str(first.commit), made.commit)
    assert (await workspace.commit(str(first.commit), "work")).commit
    assert "secret" not in Repository(top).git("show", "--stat", "HEAD")
    assert "b.txt" in Repository(top).git("show", "--stat", "HEAD")


async def test_a_repository_with_its_files_elsewhere_is_refused(repo: Repository, tmp_path: Path) -> None:
    """Git would take every file here for removed there, and a commit would remove it."""
    (tmp_path / "elsewhere").mkdir()
    repo.git("config", "core.worktree", "../../elsewhere")
    with pytest.raises(WorkspaceError, match=r"core\.worktree"):
        open_workspace(repo.path, state_dir=tmp_path / "state")
    repo.git("--work-tree", ".", "config", "core.worktree", "..")
    assert (await open_workspace(repo.path, state_dir=tmp_path / "state").snapshot()).seen_by == "git"


@pytest.mark.parametrize("name", ["src/.gitattributes", ".gitattributes", ".git/info/attributes"])
async def test_no_worktree_is_made_of_files_that_need_a_filter(name: str, repo: Repository, tmp_path: Path) -> None:
    repo.write(name, "*.txt filter=lfs\n")
    repo.commit("attributes") if not name.startswith(".git/") else None
    with pytest.raises(WorkspaceError, match=r"the filter that git has for .*b\.txt"):
        await make_worktree(repo.path, "run-1", state_dir=tmp_path / "state")
    repo.write(name, "*.txt text\n")
    repo.commit("none") if not name.startswith(".git/") else None
    assert os.listdir((await make_worktree(repo.path, "run-1", state_dir=tmp_path / "state")).top)  # noqa: PTH208
