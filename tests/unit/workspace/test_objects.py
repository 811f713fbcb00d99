"""Trees that are written without git: the same as git's own, whatever an agent does to the files."""

import os
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from ralph.testing import Repository
from ralph.workspace import Workspace, file_index, open_workspace, scan
from ralph.workspace.file_index import FileIndex

NAMES = ("a.txt", "b", "b.c", "b0", "d/a", "d/b/c", "d/b.c", "d/é.txt", "e/f/g/h", "-x", "wi th", "q\ttab", "sub/x")


def states(folder: Path) -> dict[str, tuple[bool, bytes]]:
    """What counts of each file: its kind with its mode, and its content."""
    found: dict[str, tuple[bool, bytes]] = {}
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if name.startswith(".git/") or (path.is_dir() and not path.is_symlink()):
            continue
        if path.is_symlink():
            found[name] = (False, b"-> " + os.fsencode(path.readlink()))
        else:
            found[name] = (os.access(path, os.X_OK) and bool(path.stat().st_mode & 0o100), path.read_bytes())
    return found


def put(path: Path, choose: random.Random) -> None:
    """Write a file, a link or an executable, in the place of whatever is there."""
    for parent in reversed([*path.parents]):
        if parent.is_symlink() or parent.is_file():
            parent.unlink()
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    if choose.random() < 0.15:
        path.symlink_to(choose.choice(("a.txt", "nowhere", "d")))
        return
    path.write_text(choose.choice(("one\n", "two\n", "three\r\n", "", f"{choose.random()}\n")))
    path.chmod(choose.choice((0o644, 0o644, 0o755)))


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def by_git(own: Repository, folder: Path, tmp_path: Path) -> str:
    """The tree that git makes of the files, with an index of its own."""
    index = tmp_path / "other.index"
    index.unlink(missing_ok=True)
    env = {"GIT_INDEX_FILE": str(index), "GIT_DIR": str(own.path), "GIT_WORK_TREE": str(folder)}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in env.items():
            patch.setenv(name, value)
        own.git("-c", "core.bare=false", "add", "--all", "--force", ".")
        return own.git("write-tree")


@pytest.fixture(autouse=True)
def users_objects(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let git find the commit that is checked out, which Ralph's repository only names."""
    monkeypatch.setenv("GIT_ALTERNATE_OBJECT_DIRECTORIES", str(repo.path / ".git/objects"))


@pytest.mark.parametrize(("seed", "most"), [(1, 32), (2, 3), (3, 1), (4, 32)])
async def test_each_tree_is_gits_and_each_change_is_seen(
    repo: Repository, own: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, most: int
) -> None:
    monkeypatch.setattr(file_index, "_AHEAD", most)
    choose, folder = random.Random(seed), repo.path
    workspace = open_workspace(folder, state_dir=tmp_path / "state")
    seen, was = await workspace.snapshot(), states(folder)
    await workspace.checkpoint("run", 0, "after", seen=seen)
    for number in range(1, 40):
        for _ in range(choose.choice((0, 1, 1, 2, 4))):
            path = folder / choose.choice(NAMES)
            remove(path) if choose.random() < 0.35 else put(path, choose)
        if choose.random() < 0.2:
            repo.git("add", "--all")
            repo.git("commit", "--quiet", "--allow-empty", "--message", f"{number}")
        now, are = await workspace.snapshot(), states(folder)
        changes = await workspace.changes(seen, now)
        assert set(changes.files) == {name for name in was.keys() | are.keys() if was.get(name) != are.get(name)}
        made = await workspace.checkpoint("run", number, "after", seen=now)
        assert made.problem == ""
        assert own.git("rev-parse", f"{made.commit}^{{tree}}") == by_git(own, folder, tmp_path), number
        seen, was = now, are
        if choose.random() < 0.1:  # as after a crash
            workspace = open_workspace(folder, state_dir=tmp_path / "state")
            seen = await workspace.snapshot()
            await workspace.checkpoint("run", number + 100, "after", seen=seen)
    assert "missing" not in own.git("fsck", "--strict", "--full")


@pytest.mark.parametrize("name", ["git~1", "d/.GIT ", "g\u200cit~2", "GIT~1/x"])
async def test_a_name_that_may_be_gits_own_is_left_to_git(
    repo: Repository, own: Repository, workspace: Workspace, name: str
) -> None:
    first = await workspace.checkpoint("run", 0, "after")
    repo.write(name, "x\n")
    repo.write("b.txt", "x\n")
    made = await workspace.checkpoint("run", 1, "after")
    assert own.git("fsck", "--strict", "--no-dangling") == ""
    (repo.path / "b.txt").unlink()
    assert workspace.checkpoints
    await workspace.restore(str(made.commit), force=True)
    assert (repo.path / "b.txt").exists()
    await workspace.restore(str(first.commit), force=True)
    assert not (repo.path / "b.txt").exists()


async def test_what_only_the_last_tree_holds_survives_a_crash(
    repo: Repository, own: Repository, tmp_path: Path
) -> None:
    workspace = open_workspace(repo.path, state_dir=tmp_path / "state")
    await workspace.checkpoint("run", 0, "after")
    repo.write("report.log", "x\n")
    made = await workspace.checkpoint("run", 1, "after")
    repo.write(".gitignore", "*.log\n")
    held = "ls-tree", "-r", "--name-only"
    assert "report.log" in own.git(*held, str(made.commit))
    workspace = open_workspace(repo.path, state_dir=tmp_path / "state")
    made = await workspace.checkpoint("run", 2, "after")
    assert "report.log" in own.git(*held, str(made.commit))
    repo.write("a.txt", "x\n")
    made = await workspace.checkpoint("run", 3, "after")
    assert "report.log" in own.git(*held, str(made.commit))


async def test_a_tree_in_a_pack_or_damaged_is_made_anew_through_the_index(
    repo: Repository, own: Repository, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    through: list[int] = []
    real = FileIndex._through_index

    async def noted(*args: object) -> object:
        through.append(1)
        return await real(*args)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(FileIndex, "_through_index", noted)
    made = await workspace.checkpoint("run", 0, "after")
    for number in range(1, 7):
        repo.write("src/b.txt", f"{number}\n")
        tree = own.git("rev-parse", f"{made.commit}:src")
        if number == 3:
            own.git("repack", "-a", "-d", "-q")
        elif number == 5:
            damaged = own.path / "objects" / tree[:2] / tree[2:]
            damaged.chmod(0o600)
            damaged.write_bytes(b"x")
        through.clear()
        made = await workspace.checkpoint("run", number, "after")
        assert own.git("show", f"{made.commit}:src/b.txt") == f"{number}"
        assert len(through) == (number in {3, 5}), number


async def test_objects_that_a_power_cut_has_emptied_are_written_anew(
    repo: Repository, own: Repository, workspace: Workspace, tmp_path: Path
) -> None:
    await workspace.checkpoint("run", 0, "after")
    before = {*(own.path / "objects").glob("??/*")}
    repo.write("src/b.txt", "1\n")
    await workspace.checkpoint("run", 1, "after")
    for emptied in {*(own.path / "objects").glob("??/*")} - before:
        emptied.chmod(0o600)
        emptied.write_bytes(b"")
    (own.path / "boot").write_text("before the power cut")
    workspace = open_workspace(repo.path, state_dir=tmp_path / "state")
    for number, (name, text) in enumerate([("a.txt", "2\n"), ("src/b.txt", "3\n")], 2):
        repo.write(name, text)
        made = await workspace.checkpoint("run", number, "after", seen=await workspace.snapshot())
        own.git("archive", "--output", os.devnull, str(made.commit))
        assert own.git("show", f"{made.commit}:src/b.txt") == ("1" if number == 2 else "3"), made


async def test_a_tree_outlives_the_run_that_it_was_made_in(
    repo: Repository, own: Repository, workspace: Workspace
) -> None:
    await workspace.checkpoint("another", 0, "after")
    repo.write("src/new/b.txt", "x\n")
    await workspace.checkpoint("run", 1, "after", seen=await workspace.snapshot())
    await workspace.forget("run")
    made = await workspace.checkpoint("next", 1, "after", seen=await workspace.snapshot())
    assert own.git("show", f"{made.commit}:src/new/b.txt") == "x"


async def test_a_folder_that_becomes_a_link_while_it_is_read_leads_nowhere(
    repo: Repository, own: Repository, workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/b.txt").write_text("a secret\n")
    await workspace.checkpoint("run", 0, "after")
    repo.write("src/b.txt", "edited\n")
    seen = await workspace.snapshot()
    real = scan.read_regular

    def swapped(*args: Any, **more: Any) -> bytes:
        folder = repo.path / "src"
        if b"b.txt" in os.fsencode(args[0]) and not folder.is_symlink():
            folder.rename(tmp_path / "src")
            folder.symlink_to(tmp_path / "outside")
        return real(*args, **more)

    monkeypatch.setattr(scan, "read_regular", swapped)
    made = await workspace.checkpoint("run", 1, "after", seen=seen)
    assert (repo.path / "src").is_symlink()
    assert own.git("show", f"{made.commit}:src/b.txt") == "edited"
