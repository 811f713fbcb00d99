"""What going back to a checkpoint gives back, and what it refuses to drop."""

import os
import random
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

import anyio
import pytest

from ralph.errors import WorkspaceError
from ralph.testing import Repository
from ralph.workspace import Workspace, file_index, open_workspace, scan
from ralph.workspace.checkpoints import Restoration


def files(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every file and link below a folder, with its mode and content; git's own left out."""
    found: dict[str, tuple[int, bytes]] = {}
    for where, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != ".git"]
        for name in (*names, *(name for name in folders if (Path(where) / name).is_symlink())):
            path = Path(where) / name
            content = os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()
            found[str(path.relative_to(folder))] = (path.lstat().st_mode, content)
    return found


async def held(workspace: Workspace, iteration: int = 1) -> str:
    made = await workspace.checkpoint("run-1", iteration, "after", seen=await workspace.snapshot())
    assert made.commit is not None, made.problem
    return made.commit


async def test_a_wrecked_tree_is_given_back_byte_for_byte(repo: Repository, workspace: Workspace) -> None:
    repo.write(".gitattributes", "* text=auto eol=crlf\n*.key filter=secret\n")
    repo.git("config", "core.autocrlf", "true")
    repo.git("config", "filter.secret.clean", "touch filtered; tr a-z A-Z")
    (repo.path / "mixed.txt").write_bytes(b"one\r\ntwo\nthree\r")
    repo.write("a.key", "secret\n")
    repo.write("run.sh", "#!/bin/sh\n").chmod(0o755)
    (repo.path / "link").symlink_to("a.txt")
    (repo.path / os.fsdecode(b'caf\xe9 \n".txt')).write_bytes(b"\0\xff")
    before = files(repo.path)
    commit = await held(workspace)

    (repo.path / "mixed.txt").write_bytes(b"one\ntwo\nthree\n")
    (repo.path / "run.sh").chmod(0o644)
    (repo.path / "link").unlink()
    (repo.path / "link").mkdir()
    repo.write("link/inside.txt", "x\n")
    (repo.path / "a.txt").unlink()
    (repo.path / "src/b.txt").unlink()
    (repo.path / "src").rmdir()
    repo.write("src", "no folder any more\n")
    repo.write("deep/er/stray.txt", "stray\n")
    await held(workspace, 2)

    restored = await workspace.restore(commit)
    assert files(repo.path) == before
    assert restored.problem == ""
    assert not (repo.path / "deep").exists()
    assert not (repo.path / "filtered").exists()


async def test_nothing_is_removed_through_a_link_that_takes_a_folders_place_meanwhile(
    repo: Repository, workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit, outside, remove = await held(workspace), tmp_path / "outside", Restoration._remove
    outside.mkdir()
    (outside / "new.txt").write_text("the user's\n")
    repo.write("deep/new.txt", "the agent's\n")
    await held(workspace, 2)

    def swapped(restoration: Restoration) -> Path | None:
        shutil.rmtree(repo.path / "deep")
        (repo.path / "deep").symlink_to(outside)
        return remove(restoration)

    monkeypatch.setattr(Restoration, "_remove", swapped)
    await workspace.restore(commit)
    assert (outside / "new.txt").read_text() == "the user's\n"


async def test_work_that_no_checkpoint_holds_is_not_dropped(repo: Repository, workspace: Workspace) -> None:
    commit = await held(workspace)
    repo.write("a.txt", "mine\n")
    repo.write("new.txt", "mine, too\n")
    with pytest.raises(WorkspaceError, match=r"no checkpoint contains: a\.txt, new\.txt") as refused:
        await workspace.restore(commit)
    assert "--force" in refused.value.remedy
    assert (repo.path / "a.txt").read_text() == "mine\n"

    restored = await workspace.restore(commit, force=True)
    assert (repo.path / "a.txt").read_text() == "a\n"
    assert not (repo.path / "new.txt").exists()
    assert restored.saved is not None
    await workspace.restore(restored.saved)
    assert (repo.path / "a.txt").read_text() == "mine\n"
    assert (repo.path / "new.txt").read_text() == "mine, too\n"


async def test_branch_commits_and_index_stay(repo: Repository, workspace: Workspace) -> None:
    commit = await held(workspace)
    repo.write("a.txt", "the agent's\n")
    head = repo.commit("the agent's")
    repo.write("src/b.txt", "staged\n")
    repo.git("add", "src/b.txt")
    index = repo.git("ls-files", "--stage")
    await held(workspace, 2)
    await workspace.restore(commit)
    assert (repo.path / "a.txt").read_text() == "a\n"
    assert (repo.git("rev-parse", "HEAD"), repo.git("ls-files", "--stage")) == (head, index)


async def test_what_is_ignored_now_and_was_held_then_is_not_overwritten(repo: Repository, workspace: Workspace) -> None:
    repo.write("notes.txt", "then\n")
    commit = await held(workspace)
    (repo.path / "notes.txt").unlink()
    repo.write(".gitignore", "notes.txt\n")
    await held(workspace, 2)
    repo.write("notes.txt", "now, and ignored\n")
    with pytest.raises(WorkspaceError, match=r"in the way that no checkpoint contains: notes\.txt"):
        await workspace.restore(commit)
    assert (repo.path / "notes.txt").read_text() == "now, and ignored\n"
    restored = await workspace.restore(commit, force=True)
    assert (repo.path / "notes.txt").read_text() == "then\n"
    assert restored.aside is not None
    assert (restored.aside / "notes.txt").read_text() == "now, and ignored\n"


async def test_nothing_is_written_through_a_link(repo: Repository, workspace: Workspace, tmp_path: Path) -> None:
    commit = await held(workspace)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "b.txt").write_text("not the agent's\n")
    (repo.path / "src/b.txt").unlink()
    (repo.path / "src").rmdir()
    (repo.path / "src").symlink_to(outside)
    await held(workspace, 2)
    await workspace.restore(commit)
    assert (outside / "b.txt").read_text() == "not the agent's\n"
    assert not (repo.path / "src").is_symlink()
    assert (repo.path / "src/b.txt").read_text() == "b\n"


async def test_what_a_checkpoint_left_out_is_left_alone(
    repo: Repository, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan, "LARGEST", 100)
    repo.write("model.bin", "x" * 101)
    os.mkfifo(repo.path / "pipe")
    made = await workspace.checkpoint("run-1", 1, "after")
    assert "model.bin (it has" in made.problem
    repo.write("model.bin", "small\n")
    repo.write("a.txt", "edited\n")
    await held(workspace, 2)
    await workspace.restore(str(made.commit))
    assert (repo.path / "a.txt").read_text() == "a\n"
    assert (repo.path / "model.bin").read_text() == "small\n"


async def test_a_repository_inside_is_noted_and_left_alone(repo: Repository, workspace: Workspace) -> None:
    inner = repo.path / "vendor"
    for name in ("vendor", "unborn"):
        repo.git("init", "-q", name)
    repo.git("-C", "vendor", "commit", "-q", "--allow-empty", "-m", "one")
    repo.write("vendor/c.txt", "c\n")
    made = await workspace.checkpoint("run-1", 1, "after")
    assert made.problem.startswith("The checkpoint does not contain unborn (it is a repository of its own), vendor (")
    repo.git("-C", "vendor", "commit", "-q", "--allow-empty", "-m", "two")
    repo.write("a.txt", "edited\n")
    await held(workspace, 2)
    restored = await workspace.restore(str(made.commit))
    assert restored.inner == ("vendor",)
    assert (inner / "c.txt").read_text() == "c\n"
    assert (repo.path / "a.txt").read_text() == "a\n"


async def test_a_workspace_below_the_top_is_all_that_is_touched(repo: Repository, tmp_path: Path) -> None:
    repo.write("src/.gitignore", "")
    repo.write(".gitignore", "*.log\n")
    workspace = open_workspace(repo.path / "src", state_dir=tmp_path / "state")
    commit = await held(workspace)
    repo.write("a.txt", "outside of it\n")
    repo.write("src/b.txt", "inside\n")
    repo.write("src/build.log", "ignored by the top's rule\n")
    (repo.path / "src/.gitignore").unlink()
    assert (await workspace.difference(commit)).count("diff --git") == 2
    await held(workspace, 2)
    await workspace.restore(commit)
    assert (repo.path / "a.txt").read_text() == "outside of it\n"
    assert (repo.path / "src/b.txt").read_text() == "b\n"
    assert (repo.path / "src/build.log").exists()


async def test_a_workspace_stays_where_all_its_files_go(repo: Repository, tmp_path: Path) -> None:
    folder = repo.path / "new" / "work"
    folder.mkdir(parents=True)
    workspace = open_workspace(folder, state_dir=tmp_path / "state")
    commit = await held(workspace)
    repo.write("new/work/src/a.txt", "a\n")
    await held(workspace, 2)
    await workspace.restore(commit)
    assert [*folder.iterdir()] == []


async def test_before_the_first_commit(empty: Repository, tmp_path: Path) -> None:
    workspace = open_workspace(empty.path, state_dir=tmp_path / "state")
    empty.write("a.txt", "a\n")
    commit = await held(workspace)
    (empty.path / "a.txt").unlink()
    await held(workspace, 2)
    await workspace.restore(commit)
    assert (empty.path / "a.txt").read_text() == "a\n"


async def test_a_detached_head_a_merge_in_progress_and_a_lock_left_behind(
    repo: Repository, workspace: Workspace
) -> None:
    repo.git("checkout", "-q", "-b", "other")
    repo.write("a.txt", "theirs\n")
    repo.commit()
    repo.git("checkout", "-q", "--detach", "main")
    repo.write("a.txt", "ours\n")
    repo.commit()
    with pytest.raises(subprocess.CalledProcessError):
        repo.git("merge", "-q", "other")
    (repo.path / ".git/index.lock").touch()
    conflict = (repo.path / "a.txt").read_text()
    commit = await held(workspace)
    repo.write("a.txt", "resolved wrongly\n")
    await held(workspace, 2)
    await workspace.restore(commit)
    assert (repo.path / "a.txt").read_text() == conflict
    assert (repo.path / ".git/MERGE_HEAD").exists()


async def test_the_clean_up_of_git_takes_nothing_away(repo: Repository, workspace: Workspace) -> None:
    repo.write("new.txt", "new\n")
    commit = await held(workspace)
    (repo.path / "new.txt").unlink()
    await held(workspace, 2)
    repo.git("reflog", "expire", "--expire=now", "--all")
    repo.git("gc", "--quiet", "--prune=now")
    await workspace.restore(commit)
    assert (repo.path / "new.txt").read_text() == "new\n"


async def test_what_was_forgotten_can_be_cleaned_up_and_new_checkpoints_are_whole(
    repo: Repository, own: Repository, workspace: Workspace, tmp_path: Path
) -> None:
    repo.write("new.txt", "new\n")
    first = await held(workspace)
    await workspace.forget("run-1")
    assert own.git("for-each-ref", "refs/ralph") == ""
    with pytest.raises(WorkspaceError, match="no longer exists"):
        await workspace.restore(first)
    later = open_workspace(repo.path, state_dir=tmp_path / "state")
    commit = await held(later)
    assert own.git("show", f"{commit}:new.txt") == "new"


async def test_a_repository_that_is_gone_takes_no_checkpoint_with_it(
    repo: Repository, workspace: Workspace, tmp_path: Path
) -> None:
    repo.write("new.txt", "new\n")
    first = await held(workspace)
    shutil.rmtree(repo.path / ".git")
    repo.write("a.txt", "the agent's\n")
    second = await held(workspace, 2)
    for seen in (workspace, open_workspace(repo.path, state_dir=tmp_path / "state")):
        assert "+the agent's" in await seen.difference(first, second)
    await open_workspace(repo.path, state_dir=tmp_path / "state").restore(first)
    assert (repo.path / "a.txt").read_text() == "a\n"


@pytest.mark.parametrize("packs", ["copied", "linked", "neither"])
async def test_packs_are_taken_along_so_that_nothing_goes_with_the_repository(
    repo: Repository, own: Repository, workspace: Workspace, monkeypatch: pytest.MonkeyPatch, packs: str
) -> None:
    def refused(*args: object, **more: object) -> None:
        raise OSError("another file system")

    repo.git("gc", "--quiet")
    if packs != "copied":
        monkeypatch.setattr(file_index, "_COPIED_AT_MOST", 0)
    if packs == "neither":
        monkeypatch.setattr(os, "link", refused)
    repo.write("new.txt", "new\n")
    commit = await held(workspace)
    kept = list((own.path / "objects/pack").glob("*.pack"))
    assert [path.stat().st_nlink for path in kept] == {"copied": [1], "linked": [2], "neither": []}[packs]
    assert own.git("ls-files", "--stage", "a.txt").split()[1] == repo.git("rev-parse", "HEAD:a.txt")
    shutil.rmtree(repo.path / ".git")
    for name in ("a.txt", "src/b.txt", "new.txt"):
        (repo.path / name).unlink()
    await workspace.restore(commit, force=True)
    assert (repo.path / "a.txt").read_text() == "a\n"
    assert own.git("fsck", "--full") == ""


async def test_a_folder_that_has_come_under_git_meanwhile(tmp_path: Path) -> None:
    repo = tmp_path / "plain"
    repo.mkdir()
    (repo / "a.txt").write_text("a\n")
    before = open_workspace(repo, state_dir=tmp_path / "state")
    commit = await held(before)
    git = ["git", "-C", str(repo)]
    (repo / "a.txt").write_text("the agent's\n")
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "the agent's"]):
        await anyio.run_process([*git, *words])
    last = await held(before, 2)

    now = open_workspace(repo, state_dir=tmp_path / "state")
    assert "+the agent's" in await now.difference(commit, last)
    await now.restore(commit)
    assert (repo / "a.txt").read_text() == "a\n"
    assert await held(now, 3) not in {commit, last}
    await anyio.run_process([*git, "fsck", "--strict"])


def wreck(chance: random.Random, folder: Path) -> None:
    """A few random acts: writing, removing, linking, changing what is a file and what is a folder."""
    places = [*(f"{a}{b}" for a in ("", "d/", "d/e/") for b in ("f", "g", " sp\n", "\xe9")), "d", "d/e"]
    for act in chance.choices(("write", "remove", "link", "mode", "folder"), weights=(4, 2, 1, 1, 1), k=6):
        path = folder / chance.choice(places)
        with suppress(OSError):
            match act:
                case "write":
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(chance.choice([b"a\n", b"b\r\n", b"c\n\r\n", b"", b"\0"]))
                case "remove" if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                case "remove":
                    path.unlink()
                case "link":
                    path.symlink_to(chance.choice(["f", "../nowhere", "d"]))
                case "mode":
                    path.chmod(chance.choice([0o644, 0o755]))
                case _:
                    path.unlink()
                    path.mkdir()
                    (path / "inner").write_text("i\n")


@pytest.mark.parametrize("seed", range(6))
async def test_any_tree_is_given_back_from_any_other(repo: Repository, workspace: Workspace, seed: int) -> None:
    chance = random.Random(seed)
    repo.write(".gitattributes", "* text=auto eol=crlf\n")
    states: list[tuple[str, dict[str, tuple[int, bytes]]]] = []
    for number in range(5):
        wreck(chance, repo.path)
        if chance.random() < 0.3:
            repo.commit()
        states.append((await held(workspace, number), files(repo.path)))
    for _ in range(5):
        commit, then = chance.choice(states)
        assert (await workspace.restore(commit)).problem == ""
        assert files(repo.path) == then


async def test_what_has_become_a_file_of_ralphs_own_is_not_restored(repo: Repository, tmp_path: Path) -> None:
    repo.write("journal.db", "the user's\n")
    repo.write("notes.txt", "first\n")
    commit = await held(open_workspace(repo.path, state_dir=tmp_path / "state"))
    workspace = open_workspace(repo.path, own_files=[repo.path / "journal.db"], state_dir=tmp_path / "state")
    repo.write("journal.db", "what Ralph has stored since\n")
    repo.write("notes.txt", "second\n")
    await workspace.restore(commit, force=True)
    assert (repo.path / "notes.txt").read_text() == "first\n"
    assert (repo.path / "journal.db").read_text() == "what Ralph has stored since\n"
