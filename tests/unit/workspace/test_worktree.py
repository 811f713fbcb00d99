"""A worktree for a run: where it is, and that no end of it loses work."""

import shutil
import subprocess
from pathlib import Path

import pytest

from ralph.errors import WorkspaceError
from ralph.testing import Repository
from ralph.workspace import open_workspace
from ralph.workspace.base import keep_response
from ralph.workspace.worktree import Worktree, find_worktree, make_worktree


async def made(repo: Repository, tmp_path: Path, run_id: str = "run-1", *, hooks: bool = False) -> Worktree:
    return await make_worktree(repo.path, run_id, state_dir=tmp_path / "state", hooks=hooks)


def work(repo: Repository, worktree: Worktree, name: str, text: str) -> None:
    (worktree.top / name).write_text(text)
    repo.git("-C", str(worktree.top), "add", "-A")
    repo.git("-C", str(worktree.top), "commit", "-q", "-m", "work")


async def test_it_is_a_branch_of_its_own_beside_what_is_checked_out(repo: Repository, tmp_path: Path) -> None:
    repo.write("a.txt", "edited\n")
    repo.write("notes.txt", "not committed\n")
    repo.write(".git/info/exclude", "*.env\nbuilt/\n")
    repo.write("secret.env", "ignored\n")
    repo.write("built/out.js", "ignored\n")
    other = Repository.begin(tmp_path / "other")
    other.commit()
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other.path), "vendor/lib")
    worktree = await made(repo, tmp_path)
    assert repo.git("-C", str(worktree.path), "branch", "--show-current") == "ralph/run-1"
    assert repo.git("branch", "--show-current") == "main"
    assert (worktree.path / "a.txt").read_text() == "a\n"
    assert worktree.missing == {
        "not committed": (".gitmodules", "a.txt", "vendor/lib", "notes.txt"),
        "ignored by git": ("built/", "secret.env"),
        "submodules": ("vendor/lib",),
    }
    assert not worktree.path.is_relative_to(repo.path)


async def test_a_folder_below_the_top_is_one_in_the_worktree(repo: Repository, tmp_path: Path) -> None:
    worktree = await make_worktree(repo.path / "src", "run-1", state_dir=tmp_path / "state")
    assert worktree.path == worktree.top / "src"
    assert (worktree.path / "b.txt").exists()


async def test_there_is_none_without_git_or_before_the_first_commit(empty: Repository, tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="no commit yet"):
        await made(empty, tmp_path)
    (tmp_path / "plain").mkdir()
    with pytest.raises(WorkspaceError, match="not under git"):
        await make_worktree(tmp_path / "plain", "run-1", state_dir=tmp_path / "state")


async def test_the_work_of_a_completed_run_is_merged_and_the_worktree_goes(repo: Repository, tmp_path: Path) -> None:
    worktree = await made(repo, tmp_path)
    work(repo, worktree, "new.txt", "new\n")
    repo.write("a.txt", "dirty, and nothing to do with it\n")
    was = repo.git("rev-parse", "--short", "ralph/run-1")
    said = await worktree.merge(completed=True)
    assert said == f"The work is merged into main. The worktree and ralph/run-1 (was {was}) are removed."
    assert (repo.path / "new.txt").read_text() == "new\n"
    assert (repo.path / "a.txt").read_text() == "dirty, and nothing to do with it\n"
    assert not worktree.top.exists()
    assert repo.git("branch", "--format=%(refname:short)") == "main"


@pytest.mark.parametrize("within", ["", "src"])
async def test_a_kept_answer_in_a_committed_folder_does_not_stop_the_merge(
    repo: Repository, tmp_path: Path, within: str
) -> None:
    repo.write(f"{within}/.ralph/notes.md".lstrip("/"), "the project's\n")
    repo.commit()
    worktree = await make_worktree(repo.path / within, "run-1", state_dir=tmp_path / "state")
    work(repo, worktree, "new.txt", "new\n")
    assert not keep_response(worktree.path, "All is done.")
    (worktree.path / ".ralph/left.md").write_text("the agent's\n")
    assert "Not everything in it is committed" in await worktree.merge(completed=True)
    (worktree.path / ".ralph/left.md").unlink()
    assert "The work is merged into main. The worktree" in await worktree.merge(completed=True)
    assert not worktree.top.exists()


async def test_a_conflict_leaves_all_as_it_is(repo: Repository, tmp_path: Path) -> None:
    worktree = await made(repo, tmp_path)
    work(repo, worktree, "a.txt", "theirs\n")
    repo.write("a.txt", "ours\n")
    head = repo.commit()
    said = await worktree.merge(completed=True)
    assert "without conflicts" in said
    assert "git merge ralph/run-1" in said
    assert (repo.git("rev-parse", "HEAD"), repo.git("status", "--porcelain")) == (head, "")
    assert (worktree.top / "a.txt").read_text() == "theirs\n"


async def test_a_merge_that_a_hook_refuses_leaves_all_as_it_is(repo: Repository, tmp_path: Path) -> None:
    worktree = await made(repo, tmp_path, hooks=True)
    work(repo, worktree, "new.txt", "theirs\n")
    repo.write("b.txt", "ours\n")
    head = repo.commit()
    repo.write("a.txt", "dirty, and nothing to do with it\n")
    repo.write(".git/hooks/commit-msg", "#!/bin/sh\necho no ticket >&2\nexit 1\n").chmod(0o755)
    said = await worktree.merge(completed=True)
    assert "`git merge`, which runs the repository's hook commit-msg, refused: no ticket" in said
    assert "git merge ralph/run-1" in said
    assert (repo.git("rev-parse", "HEAD"), repo.git("status", "--porcelain")) == (head, "M a.txt")
    assert (repo.path / "a.txt").read_text() == "dirty, and nothing to do with it\n"
    assert not (repo.path / ".git/MERGE_HEAD").exists()
    assert worktree.top.exists()


@pytest.mark.parametrize("why", ["not completed", "not committed", "another branch", "dirty in the same place"])
async def test_what_cannot_be_merged_is_kept(repo: Repository, tmp_path: Path, why: str) -> None:
    worktree = await made(repo, tmp_path)
    work(repo, worktree, "a.txt", "theirs\n")
    match why:
        case "not committed":
            (worktree.top / "left.txt").write_text("left\n")
        case "another branch":
            repo.git("checkout", "-q", "-b", "another")
        case "dirty in the same place":
            repo.write("a.txt", "mine\n")
        case _:
            pass
    before = (repo.git("rev-parse", "HEAD"), (repo.path / "a.txt").read_text())
    said = await worktree.merge(completed=why != "not completed")
    assert "git merge ralph/run-1" in said
    assert (repo.git("rev-parse", "HEAD"), (repo.path / "a.txt").read_text()) == before
    assert (worktree.top / "a.txt").read_text() == "theirs\n"


async def test_the_commands_to_merge_what_is_kept_work_as_they_are_told(repo: Repository, tmp_path: Path) -> None:
    worktree = await made(repo, tmp_path / "a folder")
    work(repo, worktree, "new.txt", "new\n")
    assert "commit it" not in await worktree.kept()
    (worktree.top / "left.txt").write_text("left\n")
    again = find_worktree(repo.path, worktree.path, "run-1")
    assert again is not None
    said = await again.kept("It was resumed.")
    assert said == await worktree.kept("It was resumed.")
    commands = [line.split(":", 1)[1].strip() for line in said.splitlines()[1:]]
    commands[0] += " -q -m work"
    for command in commands:
        subprocess.run(command, shell=True, cwd=repo.path, check=True, capture_output=True)  # noqa: ASYNC221
    assert (repo.path / "left.txt").read_text() == "left\n"
    assert not worktree.top.exists()
    assert repo.git("branch", "--format=%(refname:short)") == "main"
    assert find_worktree(repo.path, worktree.path, "run-1") is None


async def test_what_is_discarded_stays_in_the_checkpoints(repo: Repository, tmp_path: Path) -> None:
    worktree = await made(repo, tmp_path)
    work(repo, worktree, "new.txt", "committed\n")
    (worktree.top / "left.txt").write_text("not committed\n")
    assert "not discarded" in await worktree.discard(None)
    assert worktree.top.exists()
    workspace = open_workspace(worktree.path, state_dir=tmp_path / "state")
    commit = (await workspace.checkpoint("run-1", 1, "after", seen=await workspace.snapshot())).commit
    said = await worktree.discard(commit)
    commit = said.partition("git branch NAME ")[2].partition("`")[0]
    assert not worktree.top.exists()
    assert repo.git("branch", "--format=%(refname:short)") == "main"
    assert repo.git("show", f"{commit}:left.txt") == "not committed"
    assert repo.git("log", "--format=%s", f"{commit}^", "-1") == "work"
    repo.git("gc", "--quiet", "--prune=now")
    repo.git("fsck", "--strict")
    assert repo.git("show", f"{commit}:left.txt") == "not committed"


async def test_what_was_never_committed_is_not_discarded_without_a_checkpoint(repo: Repository, tmp_path: Path) -> None:
    worktree = await made(repo, tmp_path)
    (worktree.top / "left.txt").write_text("not committed\n")
    assert "not discarded" in await worktree.discard(None)
    assert (worktree.top / "left.txt").read_text() == "not committed\n"


async def test_one_in_which_nothing_was_done_is_simply_discarded(repo: Repository, tmp_path: Path) -> None:
    worktree = await made(repo, tmp_path)
    was = repo.git("rev-parse", "--short", "ralph/run-1")
    assert await worktree.discard(None) == f"The worktree and ralph/run-1 (was {was}) are discarded."
    assert not worktree.top.exists()


@pytest.mark.parametrize("branch", ["somebodys", ""])
async def test_one_that_is_on_another_branch_by_now_is_left_alone(
    repo: Repository, tmp_path: Path, branch: str
) -> None:
    begun = await made(repo, tmp_path)
    repo.git("worktree", "remove", str(begun.top))
    repo.git("worktree", "add", "-q", *(["-b", branch] if branch else ["--detach"]), str(begun.top))
    worktree = find_worktree(repo.path, begun.path, "run-1", "main")
    assert worktree is not None
    work(repo, worktree, "theirs.txt", "theirs\n")
    head = repo.git("-C", str(begun.top), "rev-parse", "HEAD")
    for said in (await worktree.discard(head), await worktree.merge(completed=True), await worktree.kept("It was.")):
        assert said.endswith(f"{begun.top} is on {branch or 'no branch'} and not on ralph/run-1: it stays.")
    assert (begun.top / "theirs.txt").read_text() == "theirs\n"
    assert repo.git("-C", str(begun.top), "rev-parse", "HEAD") == head
    assert not (repo.path / "theirs.txt").exists()


async def test_what_was_not_noted_as_the_branch_to_merge_into_is_not_guessed(repo: Repository, tmp_path: Path) -> None:
    begun = await made(repo, tmp_path)
    work(repo, begun, "new.txt", "new\n")
    worktree = find_worktree(repo.path, begun.path, "run-1")
    assert worktree is not None
    said = await worktree.merge(completed=True)
    assert said.startswith("The branch to merge it into is unknown, so it is not merged.")
    assert "git merge ralph/run-1" in said
    assert not (repo.path / "new.txt").exists()


@pytest.mark.parametrize("why", ["locked", "with submodules", "another folder"])
async def test_one_that_cannot_be_removed_stays_though_its_work_is_merged(
    repo: Repository, tmp_path: Path, why: str
) -> None:
    worktree = await made(repo, tmp_path)
    work(repo, worktree, "new.txt", "new\n")
    git_dir = repo.path / ".git/worktrees/run-1"
    match why:
        case "locked":
            (git_dir / "locked").touch()
        case "with submodules":
            (git_dir / "modules").mkdir()
        case "another folder":
            shutil.copytree(worktree.top, tmp_path / "copy")
            worktree.top.rename(tmp_path / "aside")
            (tmp_path / "copy").rename(worktree.top)
        case _:
            raise AssertionError(why)
    said = await worktree.merge(completed=True)
    assert "merged into main. The worktree stays: " in said
    assert worktree.top.exists()
    assert (repo.path / "new.txt").exists()
    assert "ralph/run-1" in repo.git("branch", "--format=%(refname:short)")


async def test_a_packed_branch_is_deleted_and_no_other(repo: Repository, tmp_path: Path) -> None:
    worktree = await made(repo, tmp_path)
    work(repo, worktree, "new.txt", "new\n")
    repo.git("tag", "-a", "-m", "x", "v1")
    repo.git("branch", "ralph/run-10")
    repo.git("pack-refs", "--all")
    assert "are removed." in await worktree.merge(completed=True)
    assert repo.git("for-each-ref", "--format=%(refname:short)").split() == ["main", "ralph/run-10", "v1"]
    repo.git("fsck", "--strict")
    assert repo.git("reflog", "-1", "--format=%gs") == "merge ralph/run-1: Fast-forward"


async def test_two_runs_hold_a_worktree_each(repo: Repository, tmp_path: Path) -> None:
    for run_id in ("run-1", "run-2"):
        worktree = await made(repo, tmp_path, run_id)
        open_workspace(worktree.path, state_dir=tmp_path / "state").acquire(run_id)
        opened = open_workspace(worktree.path, state_dir=tmp_path / "state")
        held = await opened.checkpoint(run_id, 1, "after")
        assert opened.checkpoints
        assert Repository(opened.checkpoints.folder).git("rev-parse", f"refs/ralph/{run_id}/1/after") == held.commit
