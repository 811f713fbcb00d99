"""What of the user's uncommitted work an agent may edit, move and commit, but not remove unsaid."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ralph.testing import Repository
from ralph.types.output import Changes
from ralph.workspace import Workspace, open_workspace

Act = Callable[[Repository], object]


async def turn(workspace: Workspace, repo: Repository, act: Act) -> Changes:
    """The changes of an iteration, as the loop sees them."""
    before = await workspace.snapshot()
    assert await workspace.guard("run-1") == ""
    assert (await workspace.checkpoint("run-1", 1, "before", seen=before)).commit
    act(repo)
    after = await workspace.snapshot()
    changes = await workspace.changes(before, after)
    assert (await workspace.checkpoint("run-1", 1, "after", seen=after)).commit
    return changes


def remove_git(repo: Repository) -> None:
    shutil.rmtree(repo.path / ".git")


def begin_anew(repo: Repository) -> None:
    remove_git(repo)
    repo.git("init", "--quiet")
    repo.commit("all")


def link_git(repo: Repository) -> None:
    (repo.path / ".git").rename(repo.path.parent / "moved")
    (repo.path / ".git").symlink_to(repo.path.parent / "moved")


LOST: dict[str, tuple[Act, tuple[str, ...]]] = {
    "git's folder": (remove_git, (".git",)),
    "git's folder, made anew": (begin_anew, (".git",)),
    "git's folder, now a link": (link_git, (".git",)),
    "a new file": (lambda repo: (repo.path / "notes.txt").unlink(), ("notes.txt",)),
    "git clean": (lambda repo: repo.git("clean", "-fdxq"), ("notes.txt",)),
    "an edit": (lambda repo: repo.git("checkout", "--quiet", "a.txt"), ("a.txt",)),
    "git stash": (lambda repo: repo.git("stash", "--quiet", "-u"), ("a.txt", "notes.txt")),
    "git reset": (lambda repo: repo.git("reset", "--quiet", "--hard"), ("a.txt",)),
    "everything": (lambda repo: [remove_git(repo), (repo.path / "notes.txt").unlink()], (".git", "notes.txt")),
}
KEPT: dict[str, Act] = {
    "edited": lambda repo: repo.write("a.txt", "the agent's\n"),
    "committed": lambda repo: repo.commit(),
    "edited and committed": lambda repo: [repo.write("a.txt", "the agent's\n"), repo.commit()],
    "moved": lambda repo: (repo.path / "notes.txt").rename(repo.path / "src/notes.txt"),
    "moved and committed": lambda repo: [(repo.path / "notes.txt").rename(repo.path / "n.txt"), repo.commit()],
    "another file removed": lambda repo: (repo.path / "src/b.txt").unlink(),
    "cleaned up by git": lambda repo: repo.git("gc", "--quiet", "--prune=now"),
}


@pytest.fixture
def dirty(repo: Repository) -> Repository:
    repo.write("a.txt", "the user's edit\n")
    repo.write("notes.txt", "the user's notes\n")
    return repo


@pytest.mark.parametrize("what", LOST)
async def test_what_is_removed_is_named(dirty: Repository, workspace: Workspace, what: str) -> None:
    act, lost = LOST[what]
    changes = await turn(workspace, dirty, act)
    assert changes.lost == lost
    assert changes.known
    after = await turn(workspace, dirty, lambda repo: repo.write("later.txt", "x\n"))
    assert (after.lost, after.files) == ((), ("later.txt",))


@pytest.mark.parametrize("what", KEPT)
async def test_what_is_kept_is_no_loss(dirty: Repository, workspace: Workspace, what: str) -> None:
    assert (await turn(workspace, dirty, KEPT[what])).lost == ()


async def test_a_resumed_run_knows_what_was_there_before_it(
    dirty: Repository, workspace: Workspace, tmp_path: Path
) -> None:
    await turn(workspace, dirty, lambda repo: repo.write("agents.txt", "the agent's own\n"))
    later = open_workspace(dirty.path, state_dir=tmp_path / "state")
    assert (await turn(later, dirty, lambda repo: (repo.path / "agents.txt").unlink())).lost == ()
    assert (await turn(later, dirty, lambda repo: (repo.path / "notes.txt").unlink())).lost == ("notes.txt",)


RULES = ".env*\nlocal/\nnode_modules/\ndist/\n*.log\n__pycache__/\n*.key\n"
REMOVED: dict[str, tuple[Act, tuple[str, ...]]] = {
    "a file": (lambda repo: (repo.path / ".env").unlink(), (".env",)),
    "a file below": (lambda repo: (repo.path / "services/a/.env").unlink(), ("services/a/.env",)),
    "a folder": (lambda repo: shutil.rmtree(repo.path / "local"), ("local",)),
    "git clean": (lambda repo: repo.git("clean", "-fdxq"), (".env", "local", "sign.key", "services/a/.env")),
    "moved away": (lambda repo: (repo.path / ".env").rename(repo.path.parent / "env"), (".env",)),
    "no longer ignored": (lambda repo: [(repo.path / ".env").unlink(), repo.write(".gitignore", "")], (".env",)),
    "a file in whose place on the disk others are": (
        lambda repo: [(repo.path / ".env").unlink(), *(repo.write(f"new{number}", "x") for number in range(5))],
        (".env",),
    ),
    "renamed": (lambda repo: (repo.path / ".env").rename(repo.path / ".env.old"), ()),
    "edited": (lambda repo: repo.write(".env", "b\n"), ()),
    "replaced": (lambda repo: [(repo.path / ".env").unlink(), repo.write(".env", "b\n")], ()),
    "a file in a folder": (lambda repo: (repo.path / "local/data.db").unlink(), ()),
    "what tools make": (
        lambda repo: [shutil.rmtree(repo.path / name) for name in ("node_modules", "dist", "src/__pycache__")],
        (),
    ),
    "a log": (lambda repo: (repo.path / "a.log").unlink(), ()),
}


@pytest.mark.parametrize("what", REMOVED)
async def test_removed_ignored_files_are_named(repo: Repository, workspace: Workspace, what: str) -> None:
    act, lost = REMOVED[what]
    repo.write(".gitignore", RULES)
    repo.write("services/a/main.py", "a\n")
    repo.commit("rules")
    for name in (".env", "services/a/.env", "local/data.db", "node_modules/x/y.js", "dist/a.js", "a.log", "sign.key"):
        repo.write(name, "a\n")
    repo.write("src/__pycache__/a.pyc", "a\n")
    changes = await turn(workspace, repo, act)
    assert set(changes.lost) == {f"{name} (ignored by git)" for name in lost}
    assert (await turn(workspace, repo, lambda repo: repo.write("later.txt", "x\n"))).lost == ()


async def test_an_ignored_file_that_was_renamed_is_still_watched(repo: Repository, workspace: Workspace) -> None:
    repo.write(".gitignore", RULES)
    repo.write(".env", "a\n")
    assert (await turn(workspace, repo, lambda repo: (repo.path / ".env").rename(repo.path / "env.txt"))).lost == ()
    lost = (await turn(workspace, repo, lambda repo: (repo.path / "env.txt").unlink())).lost
    assert "env.txt (ignored by git)" in lost


async def test_a_resumed_run_knows_which_ignored_files_were_there(
    repo: Repository, workspace: Workspace, tmp_path: Path
) -> None:
    repo.write(".gitignore", RULES)
    for name in (".env", "sign.key"):
        repo.write(name, "a\n")
    await turn(workspace, repo, lambda repo: (repo.path / ".env").unlink())
    later = open_workspace(repo.path, state_dir=tmp_path / "state")
    lost = (await turn(later, repo, lambda repo: (repo.path / "sign.key").unlink())).lost
    assert lost == ("sign.key (ignored by git)",)


async def test_folders_of_many_ignored_files_are_not_walked(repo: Repository, tmp_path: Path) -> None:
    repo.write(".gitignore", "data/\n")
    for number in range(300):
        repo.write(f"data/{number // 10}/{number}", "a\n")
        repo.write(f"more/{number}/.gitignore", "x\n")
        repo.write(f"more/{number}/x", "x\n")
    workspace = open_workspace(repo.path, state_dir=tmp_path / "state")
    await workspace.snapshot()
    await workspace.guard("run-1")
    (noted,) = (tmp_path / "state").rglob("users-work.json")
    ignored = json.loads(noted.read_text())["ignored"]
    assert len(ignored) == 200
    assert [path for path in ignored if "/data" in path] == [str(repo.path / "data")]
