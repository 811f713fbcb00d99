"""A repository that is damaged, gone or full of traps: what is said of it; nothing of it is believed or run."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ralph.testing import Repository
from ralph.types.output import Changes
from ralph.workspace import GitWorkspace, Workspace, open_workspace


async def after(workspace: Workspace, act: Callable[[], object]) -> Changes:
    """The changes that an act makes."""
    before = await workspace.snapshot()
    act()
    return await workspace.changes(before, await workspace.snapshot())


async def test_deleting_git_leaves_a_comparison_without_it(repo: Repository, workspace: Workspace) -> None:
    before = await workspace.snapshot()
    shutil.rmtree(repo.path / ".git")
    first = await workspace.snapshot()
    assert "not a git repository" in first.problem
    assert first.fingerprint
    changes = await workspace.changes(before, first)
    assert (changes.files, changes.known) == ((), True)
    assert changes.problem
    changes = await after(workspace, lambda: repo.write("a.txt", "later"))
    assert changes.files == ("a.txt",)


async def test_a_repository_around_does_not_take_its_place(repo: Repository) -> None:
    inner = repo.path / "inner"
    repo.git("init", "--quiet", str(inner))
    workspace = open_workspace(inner)
    shutil.rmtree(inner / ".git")
    snapshot = await workspace.snapshot()
    assert (snapshot.seen_by, snapshot.head) == ("folder", None)


async def test_a_repository_made_anew_is_read(repo: Repository, workspace: Workspace) -> None:
    before = await workspace.snapshot()
    shutil.rmtree(repo.path / ".git")
    repo.git("init", "--quiet")
    repo.write("a.txt", "again\n")
    repo.commit()
    later = await workspace.snapshot()
    changes = await workspace.changes(before, later)
    assert later.seen_by == "git"
    assert changes.fingerprint != before.fingerprint
    assert "cannot tell what was committed" in changes.problem


@pytest.mark.parametrize("damage", ["HEAD", "config", "index"])
async def test_a_damaged_repository_is_a_problem_and_not_an_error(
    repo: Repository, workspace: Workspace, damage: str
) -> None:
    (repo.path / ".git" / damage).write_bytes(b"\0garbage[")
    snapshot = await workspace.snapshot()
    assert bool(snapshot.problem) == (damage == "HEAD")
    assert snapshot.fingerprint
    (repo.path / ".git" / damage).unlink()
    os.mkfifo(repo.path / ".git" / damage)
    (repo.path / ".git" / damage).unlink()
    (repo.path / ".git" / damage).mkdir()
    assert (await workspace.snapshot()).fingerprint


async def test_deleting_the_workspace_is_a_problem_and_not_an_error(repo: Repository, workspace: Workspace) -> None:
    before = await workspace.snapshot()
    shutil.rmtree(repo.path)
    later = await workspace.snapshot()
    assert later.fingerprint is None
    assert later.problem
    assert not (await workspace.changes(before, later)).known
    assert workspace.keep_response("text")


async def test_git_clean_is_survived(repo: Repository, workspace: Workspace) -> None:
    workspace.keep_response("one")
    changes = await after(workspace, lambda: repo.git("clean", "--force", "--force", "-d", "-x", "--quiet"))
    assert changes.files == ()
    assert not (repo.path / ".ralph").exists()
    assert workspace.keep_response("two") == ""
    assert (repo.path / ".ralph/last-response.md").read_text() == "two"
    assert repo.git("status", "--porcelain") == ""


@pytest.fixture
def trap(tmp_path: Path) -> Callable[[], bool]:
    """A program that leaves a trace; whether it was run."""
    script, trace = tmp_path / "trap.sh", tmp_path / "trace"
    script.write_text(f"#!/bin/sh\ntouch '{trace}'\ncat\n")
    script.chmod(0o755)
    return trace.exists


@pytest.mark.usefixtures("submodule")
@pytest.mark.parametrize("hidden", [False, True], ids=["plain", "included"])
@pytest.mark.parametrize("place", ["", "sub"])
async def test_no_program_of_the_repositorys_settings_is_run(
    repo: Repository, workspace: Workspace, tmp_path: Path, trap: Callable[[], bool], place: str, hidden: bool
) -> None:
    program = tmp_path / "trap.sh"
    where = repo.path / place
    before = await workspace.snapshot()
    shutil.copy(program, repo.path / ".git/hooks/post-index-change")
    settings = (
        f'[filter "e=v.il"]\nclean = {program}\nprocess = {program}\nrequired = true\n'
        f"[core]\nfsmonitor = {program}\npager = {program}\n[diff]\nexternal = {program}\n"
        f'[diff "x"]\ntextconv = {program}\ncommand = {program}\n'
    )
    git_dir = Path(repo.git("-C", str(where), "rev-parse", "--absolute-git-dir"))
    if hidden:
        (git_dir / "more").write_text(settings)
        settings = "[include]\npath = more\n"
    with (git_dir / "config").open("a") as config:
        config.write(settings)
    (where / ".gitattributes").write_text("* filter=e=v.il diff=x\n")
    (git_dir / "info").mkdir(exist_ok=True)
    (git_dir / "info/attributes").write_text("* filter=e=v.il diff=x\n")
    (where / "a.txt").write_text("b\n")
    later = await workspace.snapshot()
    changes = await workspace.changes(before, later)
    assert changes.problem == ""
    assert f"{place}/a.txt".lstrip("/") in changes.files
    assert not trap()


async def test_the_trap_works(repo: Repository, tmp_path: Path, trap: Callable[[], bool]) -> None:
    repo.git("config", "filter.evil.clean", str(tmp_path / "trap.sh"))
    (repo.path / ".git/info/attributes").write_text("* filter=evil\n")
    (repo.path / "a.txt").write_text("b\n")
    repo.git("status")
    assert trap()


async def test_a_work_tree_elsewhere_is_not_believed(repo: Repository, workspace: Workspace, tmp_path: Path) -> None:
    repo.git("config", "core.worktree", str(tmp_path))
    assert (await workspace.snapshot()).files == {}


async def test_variables_of_git_around_do_not_lead_away(
    repo: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    workspace = open_workspace(repo.path)
    assert isinstance(workspace, GitWorkspace)
    snapshot = await workspace.snapshot()
    assert (snapshot.files, snapshot.problem) == ({}, "")
