"""What a checkpoint holds, and what making it leaves alone."""

import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from ralph.testing import Repository
from ralph.types.output import Checkpoint
from ralph.workspace import Workspace, checkpoints, file_index, open_workspace
from ralph.workspace.scan import Classified, classify


async def checkpoint(workspace: Workspace, iteration: int = 1) -> Checkpoint:
    return await workspace.checkpoint("run-1", iteration, "after", seen=await workspace.snapshot())


async def test_a_checkpoint_is_a_commit_on_a_private_ref(
    repo: Repository, own: Repository, workspace: Workspace
) -> None:
    head = repo.git("rev-parse", "HEAD")
    repo.write("a.txt", "edited\n")
    repo.write("new.txt", "new\n")
    found = await checkpoint(workspace, 3)
    assert found.commit is not None
    assert found.problem == ""
    assert own.git("rev-parse", "refs/ralph/run-1/3/after") == found.commit
    assert own.git("show", f"{found.commit}:a.txt") == "edited"
    assert own.git("show", f"{found.commit}:new.txt") == "new"
    assert f'Head: "{head}"' in own.git("cat-file", "commit", str(found.commit))
    assert repo.git("for-each-ref", "refs/ralph") == ""


async def test_what_is_ignored_is_not_held(repo: Repository, own: Repository, workspace: Workspace) -> None:
    repo.write(".gitignore", "*.log\n")
    repo.write(".git/info/exclude", "secret.env\n")
    for name in ("build.log", "secret.env", "kept.txt"):
        repo.write(name, "x\n")
    found = await checkpoint(workspace)
    held = own.git("ls-tree", "-r", "--name-only", str(found.commit)).split()
    assert held == [".gitignore", "a.txt", "kept.txt", "src/b.txt"]


async def test_the_users_branch_index_and_stash_stay_as_they_are(repo: Repository, workspace: Workspace) -> None:
    repo.write("a.txt", "staged\n")
    repo.git("add", "a.txt")
    repo.write("a.txt", "and then edited\n")
    repo.write("new.txt", "new\n")
    before = (repo.git("status", "--porcelain"), repo.git("for-each-ref", "refs/heads", "refs/stash"))
    index = (repo.path / ".git/index").read_bytes()
    assert (await checkpoint(workspace)).commit
    assert (repo.path / ".git/index").read_bytes() == index
    assert (repo.git("status", "--porcelain"), repo.git("for-each-ref", "refs/heads", "refs/stash")) == before


async def test_nothing_changed_is_the_same_checkpoint(repo: Repository, workspace: Workspace) -> None:
    first = await checkpoint(workspace, 1)
    assert await checkpoint(workspace, 2) == first
    repo.write("a.txt", "edited\n")
    assert await checkpoint(workspace, 3) != first


async def test_after_a_commit_of_the_same_files_the_checkpoint_knows_the_new_commit(
    repo: Repository, workspace: Workspace
) -> None:
    repo.write("a.txt", "edited\n")
    before = await checkpoint(workspace, 1)
    repo.commit("the user's own")
    after = await checkpoint(workspace, 2)
    assert await workspace.commits_since(str(before.commit)) == 1
    assert await workspace.commits_since(str(after.commit)) == 0


async def test_the_difference_of_two_checkpoints(repo: Repository, workspace: Workspace) -> None:
    first = await checkpoint(workspace, 1)
    repo.write("a.txt", "edited\n")
    second = await checkpoint(workspace, 2)
    repo.write("new.txt", "new\n")
    between = await workspace.difference(str(first.commit), second.commit)
    assert "-a\n+edited\n" in between
    assert "new.txt" not in between
    assert "new.txt" in await workspace.difference(str(first.commit))


async def test_a_long_difference_is_cut(repo: Repository, workspace: Workspace) -> None:
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


async def test_no_hook_and_no_program_of_the_repository_is_run(repo: Repository, workspace: Workspace) -> None:
    for name in ("reference-transaction", "post-index-change", "pre-commit", "post-checkout", "pre-auto-gc"):
        repo.write(f".git/hooks/{name}", "#!/bin/sh\ntouch ran-hook\n").chmod(0o755)
    repo.write(".gitattributes", "* filter=f diff=d\n")
    for key in ("core.fsmonitor", "filter.f.clean", "filter.f.smudge", "diff.d.textconv", "diff.external"):
        repo.git("config", key, "touch ran-program")
    first = await checkpoint(workspace, 1)
    repo.write("a.txt", "edited\n")
    second = await checkpoint(workspace, 2)
    assert "edited" in await workspace.difference(str(first.commit), second.commit)
    await workspace.restore(str(first.commit))
    await workspace.forget("run-1")
    assert (repo.path / "a.txt").read_text() == "a\n"
    assert not list(repo.path.glob("ran-*"))


async def test_what_is_tracked_is_held_even_where_it_is_ignored(
    repo: Repository, own: Repository, workspace: Workspace
) -> None:
    repo.write(".gitignore", "*.log\n")
    repo.write("kept.log", "tracked all the same\n")
    repo.git("add", "--force", "kept.log")
    found = await checkpoint(workspace)
    assert own.git("show", f"{found.commit}:kept.log") == "tracked all the same"


async def test_a_change_that_the_users_index_hides_is_held(
    repo: Repository, own: Repository, workspace: Workspace
) -> None:
    await checkpoint(workspace, 1)
    repo.git("update-index", "--assume-unchanged", "a.txt")
    repo.write("a.txt", "hidden\n")
    found = await checkpoint(workspace, 2)
    assert own.git("show", f"{found.commit}:a.txt") == "hidden"


async def test_what_is_broken_of_ralphs_own_folder_is_made_anew(
    repo: Repository, own: Repository, workspace: Workspace, tmp_path: Path
) -> None:
    await checkpoint(workspace, 1)
    for spoil in ("index", "HEAD", "config"):
        (own.path / spoil).write_text("garbage")
        (own.path / "index.lock").touch()
        repo.write("a.txt", f"{spoil}\n")
        later = open_workspace(repo.path, state_dir=tmp_path / "state")
        found = await checkpoint(later, 2)
        assert own.git("show", f"{found.commit}:a.txt") == spoil


async def test_a_lock_on_a_ref_that_a_killed_git_left_is_in_nobodys_way(
    repo: Repository, own: Repository, workspace: Workspace
) -> None:
    (own.path / "refs/ralph/run-1/1").mkdir(parents=True)
    (own.path / "refs/ralph/run-1/1/after.lock").touch()
    found = await checkpoint(workspace, 1)
    assert found.commit is not None
    assert own.git("for-each-ref", "--format=%(objectname)", "refs/ralph") == found.commit


async def test_a_submodule_is_noted_by_its_commit(repo: Repository, workspace: Workspace, tmp_path: Path) -> None:
    repo.git("init", "-q", str(tmp_path / "library"))
    repo.git("-C", str(tmp_path / "library"), "commit", "-q", "--allow-empty", "-m", "one")
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(tmp_path / "library"), "library")
    repo.commit()
    first = await checkpoint(workspace, 1)
    assert first.problem == "The checkpoint does not contain library (it is a repository of its own)."
    repo.git("-C", "library", "commit", "-q", "--allow-empty", "-m", "two")
    second = await checkpoint(workspace, 2)
    difference = await workspace.difference(str(first.commit), second.commit)
    assert "+Subproject commit " in difference


async def test_a_state_folder_in_the_workspace_is_not_held(repo: Repository) -> None:
    workspace = open_workspace(repo.path, state_dir=repo.path / "own")
    first = await checkpoint(workspace, 1)
    assert (await checkpoint(workspace, 2)) == first
    assert workspace.checkpoints
    own = Repository(workspace.checkpoints.folder)
    assert own.git("ls-tree", "--name-only", str(first.commit)).split() == ["a.txt", "src"]


async def test_the_checkpoint_before_an_iteration_is_the_last_one_only_for_a_moment(
    repo: Repository, own: Repository, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = await checkpoint(workspace, 1)
    repo.write("a.txt", "a person's, while the run was paused\n")
    monkeypatch.setattr(checkpoints, "_MOMENT", 0.0)
    found = await workspace.checkpoint("run-1", 2, "before")
    assert found.commit != last.commit
    assert own.git("rev-parse", "refs/ralph/run-1/2/before") == found.commit


async def test_a_name_that_is_none_for_a_ref_is_one_of_its_own(repo: Repository, workspace: Workspace) -> None:
    found = await workspace.checkpoint("../heads/main", 1, "after")
    assert found.commit is not None
    assert repo.git("for-each-ref", "--format=%(refname)", "refs/heads") == "refs/heads/main"
    await workspace.forget("../heads/main")
    assert repo.git("for-each-ref", "--format=%(refname)") == "refs/heads/main"


async def test_who_only_reads_leaves_the_lock_of_one_who_writes_alone(
    repo: Repository, workspace: Workspace, tmp_path: Path
) -> None:
    first = await checkpoint(workspace, 1)
    repo.write("a.txt", "edited\n")
    second = await checkpoint(workspace, 2)
    (own,) = (tmp_path / "state/checkpoints").iterdir()
    (own / "index.lock").touch()
    reader = open_workspace(repo.path, state_dir=tmp_path / "state")
    assert "+edited" in await reader.difference(str(first.commit), second.commit)
    assert (own / "index.lock").exists()
    assert (await checkpoint(reader, 3)).commit


async def test_a_file_that_cannot_be_read_after_all_keeps_no_other_one_out(
    repo: Repository, own: Repository, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repo.path / "link").symlink_to("src")

    def too_hopeful(top: Path, paths: Iterable[bytes]) -> Classified:
        return classify(top, paths)._replace(held=[*classify(top, paths).held, b"link/b.txt"])

    monkeypatch.setattr(file_index, "classify", too_hopeful)
    found = await checkpoint(workspace)
    assert own.git("ls-tree", "-r", "--name-only", str(found.commit)).split() == ["a.txt", "link", "src/b.txt"]


@pytest.mark.parametrize("within", ["", "src", "src/[page]"])
async def test_what_ralph_writes_itself_is_neither_work_nor_held(repo: Repository, tmp_path: Path, within: str) -> None:
    folder = repo.path / within
    folder.mkdir(exist_ok=True)
    (folder / "tracked.txt").touch()
    repo.commit()
    log, store, lines = folder / "night [1]*.log", folder / "runs.db", folder / "two\n*"
    log.write_text("begins\n")
    lines.touch()
    own = [log, store, lines, tmp_path / "elsewhere.db", repo.path / ".git" / "ralph.db"]
    workspace = open_workspace(folder, own_files=own, state_dir=tmp_path / "state")
    before = await workspace.snapshot()
    first = await checkpoint(workspace)
    store.write_text("a run\n")
    log.write_text("begins, goes on\n")
    assert (await workspace.changes(before, await workspace.snapshot())).files == ()
    assert await checkpoint(workspace, 2) == first
    (folder / "b.txt").write_text("edited\n")
    await checkpoint(workspace, 3)
    await open_workspace(folder, state_dir=tmp_path / "state").restore(str(first.commit))  # which is told of neither
    assert store.read_text() == "a run\n"
    assert log.read_text() == "begins, goes on\n"


@pytest.mark.parametrize("git", [True, False])
async def test_what_ralph_wrote_in_one_run_may_be_work_in_another(repo: Repository, tmp_path: Path, git: bool) -> None:
    folder, state = repo.path if git else tmp_path / "plain", tmp_path / "state"
    folder.mkdir(exist_ok=True)
    log = folder / "night.log"

    async def run(name: str, *own_files: Path) -> tuple[bool, str, str]:
        """Whether the log counts as work, and the checkpoints before and after it grows."""
        workspace = open_workspace(folder, own_files=own_files, state_dir=state)
        before = await workspace.snapshot()
        held = await workspace.checkpoint(name, 1, "before", seen=before)
        log.write_text(f"{log.read_text()}{name}\n")
        after = await workspace.snapshot()
        holds = await workspace.checkpoint(name, 1, "after", seen=after)
        return bool((await workspace.changes(before, after)).files), str(held.commit), str(holds.commit)

    log.write_text("begins\n")
    counts, before, after = await run("first", log)
    assert (counts, before) == (False, after)
    counts, before, after = await run("second")
    assert (counts, before == after) == (True, False)
    assert "+second" in await open_workspace(folder, state_dir=state).difference(before, after)
    counts, held, after = await run("third", log)
    assert (counts, held) == (False, after), "although the second one's checkpoints hold it"
    assert "third" not in await open_workspace(folder, state_dir=state).difference(after)
    (folder / "new.txt").write_text("new\n")
    await open_workspace(folder, state_dir=state).restore(after, force=True)
    assert ("third" in log.read_text(), (folder / "new.txt").exists()) == (True, False)
    await open_workspace(folder, state_dir=state).restore(before, force=True)
    assert log.read_text() == "begins\nfirst\n"


@pytest.mark.parametrize(
    "said", ["[1]", "5", "no JSON", '{"a": [', "[" * 5000, r'"\ud800"', r'"a\u0000b"', '""', '"../x"']
)
@pytest.mark.parametrize("note", ["Apart", "Left-Out"])
async def test_a_commit_with_notes_that_are_none_can_be_gone_back_to(
    repo: Repository, workspace: Workspace, note: str, said: str
) -> None:
    made = repo.git("commit-tree", "HEAD^{tree}", "-m", f"x\n\n{note}: {said}\n")
    repo.git("update-ref", "refs/ralph/run-1/9/after", made)
    repo.write("a.txt", "edited\n")
    await workspace.restore(made, force=True)
    assert (repo.path / "a.txt").read_text() == "a\n"


async def test_a_link_in_the_place_of_such_a_file_leaves_no_work_out(repo: Repository, tmp_path: Path) -> None:
    journal, log = repo.path / "runs.db-journal", repo.path / "runs.db-wal"
    journal.symlink_to("new.txt")
    log.symlink_to(log.name)
    workspace = open_workspace(repo.path, own_files=[journal, log], state_dir=tmp_path / "state")
    before = await workspace.snapshot()
    repo.write("new.txt", "new\n")
    assert (await workspace.changes(before, await workspace.snapshot())).files == ("new.txt",)
    found = await checkpoint(workspace)
    assert workspace.checkpoints
    own = Repository(workspace.checkpoints.folder)
    assert "new.txt" in own.git("ls-tree", "-r", "--name-only", str(found.commit)).split()


async def test_neither_is_it_in_a_folder_without_git(tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    log = folder / "night.log"
    log.write_text("begins\n")
    workspace = open_workspace(folder, own_files=[log], state_dir=tmp_path / "state")
    before = await workspace.snapshot()
    first = await checkpoint(workspace)
    log.write_text("begins, goes on\n")
    assert not (await workspace.changes(before, await workspace.snapshot())).files
    assert await checkpoint(workspace, 2) == first


async def test_an_abbreviated_id_that_two_checkpoints_share_finds_neither(
    repo: Repository, workspace: Workspace
) -> None:
    assert workspace.checkpoints is not None
    commits: list[str] = []
    while len({commit[0] for commit in commits}) == len(commits):  # at most 17 turns: an id begins with a hex digit
        repo.write("a.txt", f"{len(commits)}\n")
        commits.append(str((await checkpoint(workspace, len(commits))).commit))
    assert await workspace.checkpoints.find("run-1", commits[-1][0]) is None
    assert await workspace.checkpoints.find("run-1", commits[-1][:12]) == commits[-1]


async def test_the_checkpoint_right_after_a_restore_has_the_restored_files(
    repo: Repository, own: Repository, workspace: Workspace
) -> None:
    first = await checkpoint(workspace, 1)
    repo.write("a.txt", "edited\n")
    await checkpoint(workspace, 2)
    await workspace.restore(str(first.commit))
    found = await workspace.checkpoint("run-1", 3, "before")
    assert own.git("show", f"{found.commit}:a.txt") == "a"


async def test_forgetting_a_run_without_git_frees_the_space_of_its_checkpoints(tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    workspace = open_workspace(folder, state_dir=tmp_path / "state")
    (folder / "large.bin").write_bytes(os.urandom(1_000_000))
    assert (await checkpoint(workspace, 1)).commit
    (folder / "large.bin").unlink()
    assert (await checkpoint(workspace, 2)).commit
    assert _size(tmp_path / "state") > 1_000_000
    await workspace.forget("run-1")
    assert _size(tmp_path / "state") < 500_000


async def test_forgetting_a_run_leaves_the_checkpoints_of_the_others(repo: Repository, workspace: Workspace) -> None:
    found: list[str] = []
    for run_id in ("run-1", "run-2"):
        repo.write("a.txt", f"{run_id}\n")
        made = await workspace.checkpoint(run_id, 1, "after", seen=await workspace.snapshot())
        found.append(str(made.commit))
    await workspace.forget("run-1")
    kept = workspace.checkpoints
    assert kept is not None
    names = [await kept.find(run_id, commit[:8]) for run_id, commit in zip(("run-1", "run-2"), found, strict=True)]
    assert names == [None, found[1]]


async def test_the_lines_of_a_change_are_counted_as_added_and_removed(repo: Repository, workspace: Workspace) -> None:
    before = await checkpoint(workspace, 1)
    repo.write("a.txt", "one\ntwo\nthree\n")
    (repo.path / "image.png").write_bytes(bytes(range(256)))
    after = await checkpoint(workspace, 2)
    assert workspace.checkpoints is not None
    changed = await workspace.checkpoints.files(str(before.commit), str(after.commit))
    assert changed == [("a.txt", 3, 1), ("image.png", None, None)]


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
