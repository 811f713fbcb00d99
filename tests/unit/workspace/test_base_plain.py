"""What an agent does to a folder without git, and what Ralph sees of it."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from ralph.types.output import Changes
from ralph.workspace import PlainWorkspace, base, scan


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "folder"
    (path / "src").mkdir(parents=True)
    (path / "a.txt").write_text("a\n")
    (path / "src/b.txt").write_text("b\n")
    return path


@pytest.fixture
def workspace(folder: Path, tmp_path: Path) -> PlainWorkspace:
    return PlainWorkspace(folder, noise=["*.log"], state_dir=tmp_path / "state")


async def after(workspace: PlainWorkspace, act: Callable[[], object]) -> Changes:
    before = await workspace.snapshot()
    act()
    return await workspace.changes(before, await workspace.snapshot())


async def test_edits_new_files_and_deletions_are_named(folder: Path, workspace: PlainWorkspace) -> None:
    def act() -> None:
        (folder / "a.txt").write_text("A\n")
        (folder / "src/b.txt").unlink()
        (folder / "src/c.txt").touch()

    changes = await after(workspace, act)
    assert changes.files == ("a.txt", "src/b.txt", "src/c.txt")
    assert (changes.files_changed, changes.commits) == (3, 0)


async def test_editing_and_reverting_gives_the_same_fingerprint(folder: Path, workspace: PlainWorkspace) -> None:
    before = await workspace.snapshot()
    (folder / "a.txt").write_text("other")
    assert (await workspace.snapshot()).fingerprint != before.fingerprint
    (folder / "a.txt").write_text("a\n")
    assert await workspace.snapshot() == before
    assert await PlainWorkspace(folder).snapshot() == before


async def test_an_edit_of_the_same_size_is_seen_where_the_clock_of_the_files_is_coarse(
    folder: Path, workspace: PlainWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    fine = os.lstat

    def coarse(path: bytes) -> SimpleNamespace:
        found = fine(path)
        second = found.st_mtime_ns // 10**9 * 10**9
        times = {"st_mtime_ns": second, "st_ctime_ns": second}
        return SimpleNamespace(st_mode=found.st_mode, st_size=found.st_size, st_ino=found.st_ino, **times)

    monkeypatch.setattr(os, "lstat", coarse)
    file = folder / "quick.txt"
    file.write_text("one")
    before = await workspace.snapshot()
    file.write_text("two")
    assert (await workspace.changes(before, await workspace.snapshot())).files == ("quick.txt",)


async def test_noise_is_passed_over(folder: Path, workspace: PlainWorkspace) -> None:
    def act() -> None:
        for name in (".ralph/x", ".git/HEAD", "node_modules/x/y", ".venv/z", "src/__pycache__/b.pyc", "x.log"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).touch()

    assert (await after(workspace, act)).files == ()


async def test_links_out_of_the_folder_are_not_followed(folder: Path, workspace: PlainWorkspace) -> None:
    changes = await after(workspace, lambda: (folder / "up").symlink_to(folder.parent))
    assert changes.files == ("up",)


async def test_strange_things_do_not_stop_it(folder: Path, workspace: PlainWorkspace) -> None:
    os.mkfifo(folder / "fifo")
    (folder / "loop").symlink_to("loop")
    os.mkfifo(os.fsencode(folder) + b"/\xff\n")
    os.truncate((folder / "a.txt"), 1 << 40)
    snapshot = await workspace.snapshot()
    assert not snapshot.problem
    assert {"fifo", "loop", "\\xff\n", "a.txt"} <= snapshot.files.keys()
    assert (await after(workspace, lambda: os.truncate(folder / "a.txt", 1 << 41))).files == ("a.txt",)


async def test_a_very_deep_tree_does_not_stop_it(folder: Path, workspace: PlainWorkspace) -> None:
    here = os.open(folder, os.O_RDONLY)
    for _ in range(300):
        os.mkdir("a" * 50, dir_fd=here)
        below = os.open("a" * 50, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    assert (await workspace.snapshot()).fingerprint


async def test_it_is_bounded_and_says_so(
    folder: Path, workspace: PlainWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base, "FILES", 100)
    for number in range(300):
        (folder / "src" / str(number)).touch()
    snapshot = await workspace.snapshot()
    assert len(snapshot.files) == 100
    assert "a.txt" in snapshot.files
    assert "first 100 files" in snapshot.problem
    assert snapshot.fingerprint == (await workspace.snapshot()).fingerprint


async def test_a_file_that_another_one_moves_out_of_the_look_or_into_it_has_not_changed(
    folder: Path, workspace: PlainWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base, "FILES", 100)
    for number in range(300):
        (folder / "src" / str(number)).touch()
    assert (await after(workspace, (folder / "new.txt").touch)).files == ("new.txt",)
    assert (await after(workspace, (folder / "a.txt").unlink)).files == ("a.txt",)
    assert (await after(workspace, (folder / "src/0").unlink)).files == ("src/0",)


async def test_a_folder_that_is_gone_is_a_problem_and_not_an_error(folder: Path, workspace: PlainWorkspace) -> None:
    before = await workspace.snapshot()
    shutil.rmtree(folder)
    later = await workspace.snapshot()
    assert later.fingerprint is None
    assert str(folder) in later.problem
    changes = await workspace.changes(before, later)
    assert not changes.known
    assert changes.problem


async def test_a_file_that_settled_is_not_read_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "SETTLED", -1 << 62)
    workspace = PlainWorkspace(folder)
    before = await workspace.snapshot()

    def refuse(*_: object, **__: object) -> bytes:
        raise AssertionError("read again")

    monkeypatch.setattr(scan, "read_regular", refuse)
    assert await workspace.snapshot() == before


async def test_reading_is_bounded_and_what_was_not_read_is_known_by_its_size(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan, "READ_AT_ONCE", 1)
    workspace = PlainWorkspace(folder)
    assert (await after(workspace, lambda: (folder / "src/b.txt").write_text("longer\n"))).files == ("src/b.txt",)
