"""What an agent does to a repository, and what Ralph sees of it."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ralph.errors import WorkspaceError
from ralph.testing import Repository
from ralph.types.output import Changes
from ralph.workspace import GitWorkspace, PlainWorkspace, Workspace, checkpoints, open_workspace


async def after(workspace: Workspace, act: Callable[[], object]) -> Changes:
    """The changes that an act makes."""
    before = await workspace.snapshot()
    act()
    return await workspace.changes(before, await workspace.snapshot())


async def fingerprint(workspace: Workspace) -> str:
    found = (await workspace.snapshot()).fingerprint
    assert found is not None
    return found


def test_a_repository_is_read_with_git_and_a_folder_without(repo: Repository, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    assert isinstance(open_workspace(repo.path), GitWorkspace)
    assert isinstance(open_workspace(plain), PlainWorkspace)


async def test_nothing_done_is_nothing_changed(repo: Repository, workspace: Workspace) -> None:
    changes = await after(workspace, lambda: None)
    assert changes == Changes(fingerprint=changes.fingerprint)
    assert changes.known


async def test_edits_new_files_and_deletions_are_named(repo: Repository, workspace: Workspace) -> None:
    def act() -> None:
        repo.write("a.txt", "other\n")
        repo.write("new/c.txt", "c\n")
        (repo.path / "src/b.txt").unlink()

    changes = await after(workspace, act)
    assert changes.files == ("a.txt", "new/c.txt", "src/b.txt")
    assert (changes.files_changed, changes.commits) == (3, 0)


async def test_a_tree_that_was_dirty_before_is_no_change(repo: Repository, workspace: Workspace) -> None:
    repo.write("a.txt", "dirty\n")
    repo.write("stray.txt", "stray\n")
    changes = await after(workspace, lambda: repo.write("src/b.txt", "mine\n"))
    assert changes.files == ("src/b.txt",)


async def test_editing_a_dirty_file_again_is_a_change(repo: Repository, workspace: Workspace) -> None:
    repo.write("a.txt", "dirty\n")
    assert (await after(workspace, lambda: repo.write("a.txt", "dirtY\n"))).files == ("a.txt",)


async def test_editing_and_reverting_gives_the_same_fingerprint(repo: Repository, workspace: Workspace) -> None:
    start = await fingerprint(workspace)
    repo.write("a.txt", "other\n")
    edited = await fingerprint(workspace)
    repo.write("a.txt", "a\n")
    assert edited != start
    assert await fingerprint(workspace) == start


async def test_touching_is_no_change(repo: Repository, workspace: Workspace) -> None:
    repo.write("stray.txt", "stray\n")
    before = await workspace.snapshot()
    os.utime(repo.path / "a.txt", (1, 1))
    os.utime(repo.path / "stray.txt", (1, 1))
    assert await workspace.snapshot() == before


async def test_an_edit_within_the_same_instant_and_of_the_same_size_is_seen(
    repo: Repository, workspace: Workspace
) -> None:
    path = repo.write("stray.txt", "one\n")
    os.utime(path, (1, 1))
    before = await fingerprint(workspace)
    path.write_text("two\n")
    os.utime(path, (1, 1))
    assert await fingerprint(workspace) != before


async def test_staging_alone_is_no_change(repo: Repository, workspace: Workspace) -> None:
    repo.write("a.txt", "other\n")
    repo.write("c.txt", "c\n")
    changes = await after(workspace, lambda: repo.git("add", "--all"))
    assert changes.files == ()


async def test_making_a_file_executable_is_a_change(repo: Repository, workspace: Workspace) -> None:
    assert (await after(workspace, lambda: (repo.path / "a.txt").chmod(0o755))).files == ("a.txt",)


async def test_committed_files_are_named_and_commits_counted(repo: Repository, workspace: Workspace) -> None:
    def act() -> None:
        repo.write("a.txt", "1\n")
        repo.commit()
        repo.write("c.txt", "2\n")
        repo.commit()

    changes = await after(workspace, act)
    assert (changes.files, changes.commits) == (("a.txt", "c.txt"), 2)


async def test_work_that_is_committed_at_once_leaves_another_state_until_it_is_undone(
    repo: Repository, workspace: Workspace
) -> None:
    before = await fingerprint(workspace)
    repo.write("new.txt", "new\n")
    repo.commit("work")
    assert await fingerprint(workspace) != before
    repo.git("reset", "--hard", "--quiet", "HEAD^")
    assert await fingerprint(workspace) == before


async def test_committing_what_was_dirty_changes_no_file(repo: Repository, workspace: Workspace) -> None:
    repo.write("a.txt", "dirty\n")
    repo.write("stray.txt", "stray\n")
    start = await fingerprint(workspace)
    changes = await after(workspace, repo.commit)
    assert (changes.files, changes.commits) == ((), 1)
    assert changes.fingerprint != start


async def test_undoing_a_commit_but_not_its_files_changes_no_file(repo: Repository, workspace: Workspace) -> None:
    repo.write("a.txt", "1\n")
    repo.commit()
    changes = await after(workspace, lambda: repo.git("reset", "--soft", "HEAD~1"))
    assert (changes.files, changes.commits) == ((), 0)


async def test_a_rewritten_history_is_counted_from_what_is_new(repo: Repository, workspace: Workspace) -> None:
    repo.write("a.txt", "1\n")
    repo.commit()

    def act() -> None:
        repo.write("a.txt", "2\n")
        repo.git("commit", "--quiet", "--all", "--amend", "--message", "again")

    changes = await after(workspace, act)
    assert (changes.files, changes.commits) == (("a.txt",), 1)


async def test_without_checkpoints_it_compares_the_same(repo: Repository, tmp_path: Path) -> None:
    workspace = open_workspace(repo.path, state_dir=tmp_path / "state", checkpoints=False)
    assert (await workspace.snapshot()).files == {}
    edited = await after(workspace, lambda: [repo.write("a.txt", "b\n"), repo.write("new.txt", "new\n")])
    assert edited.files == ("a.txt", "new.txt")
    committed = await after(workspace, repo.commit)
    assert (committed.files, committed.commits, committed.problem) == ((), 1, "")
    assert (await workspace.snapshot()).files == {}
    both = await after(workspace, lambda: [(repo.path / "a.txt").unlink(), repo.commit()])
    assert (both.files, both.commits) == (("a.txt",), 1)


async def test_the_first_commit_of_all(empty: Repository) -> None:
    workspace = open_workspace(empty.path)
    assert (await workspace.snapshot()).head is None
    empty.write("a.txt", "a\n")

    def act() -> None:
        empty.write("b.txt", "b\n")
        empty.commit()

    changes = await after(workspace, act)
    assert (changes.files, changes.commits) == (("b.txt",), 1)


async def test_a_repository_with_longer_ids(empty: Repository) -> None:
    shutil.rmtree(empty.path / ".git")
    empty.git("init", "--quiet", "--object-format", "sha256")
    workspace = open_workspace(empty.path)
    empty.write("a.txt", "a\n")
    changes = await after(workspace, empty.commit)
    assert (changes.files, changes.commits, changes.problem) == ((), 1, "")
    assert (await after(workspace, lambda: empty.write("a.txt", "1\n"))).files == ("a.txt",)


async def test_a_detached_head(repo: Repository, workspace: Workspace) -> None:
    repo.git("checkout", "--quiet", "--detach")
    changes = await after(workspace, lambda: (repo.write("a.txt", "1\n"), repo.commit()))
    assert (changes.files, changes.commits) == (("a.txt",), 1)


async def test_a_conflict_is_read(repo: Repository, workspace: Workspace) -> None:
    repo.git("checkout", "--quiet", "-b", "other")
    repo.write("a.txt", "theirs\n")
    repo.commit()
    repo.git("checkout", "--quiet", "main")
    repo.write("a.txt", "ours\n")
    repo.commit()

    def act() -> None:
        subprocess.run(["git", "merge", "other"], cwd=repo.path, capture_output=True, check=False)

    assert (await after(workspace, act)).files == ("a.txt",)


async def test_only_the_folder_below_counts(repo: Repository) -> None:
    workspace = open_workspace(repo.path / "src")

    def act() -> None:
        repo.write("a.txt", "1\n")
        repo.write("src/b.txt", "1\n")
        repo.write("src/c.txt", "1\n")
        repo.commit()

    changes = await after(workspace, act)
    assert (changes.files, changes.commits) == (("b.txt", "c.txt"), 1)
    assert (await after(workspace, lambda: repo.write("a.txt", "2\n"))).files == ()
    assert (await after(workspace, lambda: repo.write("src/b.txt", "2\n"))).files == ("b.txt",)


async def test_a_folder_that_its_repository_ignores_is_read_without_git(repo: Repository) -> None:
    repo.write(".gitignore", "build/\n")
    (repo.path / "build/work").mkdir(parents=True)
    workspace = open_workspace(repo.path / "build/work")
    assert isinstance(workspace, PlainWorkspace)
    assert (await after(workspace, lambda: repo.write("build/work/x", "x"))).files == ("x",)


async def test_a_linked_worktree(repo: Repository, tmp_path: Path) -> None:
    repo.git("worktree", "add", "--quiet", str(tmp_path / "tree"))
    workspace = open_workspace(tmp_path / "tree")
    changes = await after(workspace, lambda: (tmp_path / "tree/a.txt").write_text("x"))
    assert (changes.files, changes.problem) == (("a.txt",), "")


async def test_noise_and_ralphs_own_folder_do_not_count(repo: Repository) -> None:
    workspace = open_workspace(repo.path, noise=["*.log", "out/"])
    start = await fingerprint(workspace)
    for name in (
        ".ralph/last-response.md",
        "src/__pycache__/b.pyc",
        ".pytest_cache/x",
        "x.log",
        "src/out/y",
        ".DS_Store",
    ):
        repo.write(name, "noise")
    assert await fingerprint(workspace) == start
    repo.write("outer/x.logs", "no noise")
    assert await fingerprint(workspace) != start


async def test_what_git_ignores_does_not_count(repo: Repository, workspace: Workspace) -> None:
    repo.write(".gitignore", "*.tmp\n")
    assert (await after(workspace, lambda: repo.write("x.tmp", "x"))).files == ()


@pytest.mark.parametrize("name", [b"new\nline", b"tab\there", b'quo"te', b"back\\slash", b" blanks ", "é→".encode()])
async def test_strange_names(repo: Repository, workspace: Workspace, name: bytes) -> None:
    assert (await after(workspace, lambda: repo.write(name, "1"))).files == (name.decode(),)
    assert (await after(workspace, lambda: repo.write(name, "2"))).files == (name.decode(),)
    repo.commit()
    assert (await after(workspace, lambda: (repo.write(name, "3"), repo.commit()))).files == (name.decode(),)


async def test_names_that_are_not_utf_8_are_storable(repo: Repository, workspace: Workspace) -> None:
    repo.write(b"\xff\xfe.txt", "1")
    changes = await after(workspace, lambda: repo.write(b"\xff\xfe.txt", "2"))
    assert changes.files == ("\\xff\\xfe.txt",)
    assert Changes.model_validate_json(changes.model_dump_json()) == changes


async def test_links_are_marked_and_not_followed(repo: Repository, workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("1")
    link = repo.path / "link"
    link.symlink_to(tmp_path / "outside")
    assert (await after(workspace, lambda: (tmp_path / "outside").write_text("2"))).files == ()
    assert (await after(workspace, lambda: (link.unlink(), link.symlink_to("nowhere")))).files == ("link",)
    assert (await after(workspace, repo.commit)).files == ()


async def test_a_fifo_and_an_unreadable_file_do_not_stop_it(repo: Repository, workspace: Workspace) -> None:
    (repo.path / "src/b.txt").unlink()
    os.mkfifo(repo.path / "src/b.txt")
    repo.write("secret", "x").chmod(0)
    snapshot = await workspace.snapshot()
    assert snapshot.fingerprint
    assert not snapshot.problem
    assert "src/b.txt" in snapshot.files


@pytest.mark.usefixtures("submodule")
async def test_a_clean_submodule_is_no_difference(workspace: Workspace) -> None:
    assert (await workspace.snapshot()).files == {}


async def test_work_in_a_submodule_counts(workspace: Workspace, submodule: Path) -> None:
    assert (await after(workspace, lambda: (submodule / "a.txt").write_text("1"))).files == ("sub/a.txt",)
    assert (await after(workspace, lambda: (submodule / "a.txt").write_text("2"))).files == ("sub/a.txt",)
    assert (await after(workspace, lambda: (submodule / "new").write_text("2"))).files == ("sub/new",)

    def commit() -> None:
        subprocess.run("git add --all && git commit -qm x", shell=True, cwd=submodule, check=True)

    assert "sub" in (await after(workspace, commit)).files


async def test_work_in_a_repository_inside_that_is_not_tracked_counts(repo: Repository, workspace: Workspace) -> None:
    repo.git("clone", "--quiet", ".", "inner")
    assert (await after(workspace, lambda: repo.write("inner/a.txt", "1"))).files == ("inner/a.txt",)


async def test_a_held_index_does_not_disturb(repo: Repository, workspace: Workspace) -> None:
    (repo.path / ".git/index.lock").touch()
    assert (await after(workspace, lambda: repo.write("a.txt", "1"))).files == ("a.txt",)


async def test_thousands_of_new_files_are_counted_and_some_named(repo: Repository, workspace: Workspace) -> None:
    def act() -> None:
        for number in range(3000):
            (repo.path / f"new{number:04}").write_text("x")

    changes = await after(workspace, act)
    assert changes.files_changed == 3000
    assert len(changes.files) == 200


async def test_an_iteration_runs_git_once_and_again_to_count_commits(
    repo: Repository, workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = shutil.which("git")
    spy = tmp_path / "bin/git"
    spy.parent.mkdir()
    spy.write_text(f'#!/bin/sh\necho run >> "{tmp_path}/calls"\nexec {real} "$@"\n')
    spy.chmod(0o755)
    monkeypatch.setenv("PATH", f"{spy.parent}:{os.environ['PATH']}")
    calls = tmp_path / "calls"
    workspace = open_workspace(repo.path)
    seen = await workspace.snapshot()
    await workspace.checkpoint("run-1", 1, "before", seen=seen)
    for number in range(3):
        if number:
            repo.write("a.txt", f"{number}\n")
        if number == 2:
            repo.commit()
        calls.write_text("")
        monkeypatch.setattr(checkpoints, "_MOMENT", 0.0)
        now = await workspace.snapshot()
        assert (await workspace.changes(seen, now)).files == (("a.txt",) if number else ())
        await workspace.checkpoint("run-1", number, "after", seen=now)
        seen = now
        assert calls.read_text().count("run") == (1, 1, 2)[number]


@pytest.mark.parametrize("name", ["missing", "file", "bare", "inside", "loop"])
def test_what_is_no_workspace_is_said(repo: Repository, tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    subprocess.run(["git", "init", "--quiet", "--bare", "bare"], cwd=tmp_path, check=True)
    path = repo.path / ".git/objects" if name == "inside" else tmp_path / name
    with pytest.raises(WorkspaceError) as caught:
        open_workspace(path)
    assert str(path) in str(caught.value)
    assert caught.value.remedy
    assert caught.value.exit_code == 2


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read everything")
def test_an_unreadable_workspace_is_said(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0)
    with pytest.raises(WorkspaceError, match="cannot be read"):
        open_workspace(tmp_path / "closed")


async def test_without_git_on_the_machine_it_is_a_plain_folder(
    repo: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert isinstance(open_workspace(repo.path), PlainWorkspace)
