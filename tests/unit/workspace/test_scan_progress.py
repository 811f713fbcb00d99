"""A look at a workspace of many files: it can be ended at any time, and somebody hears of it while it lasts."""

import shutil
import threading
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from ralph.system.process import Finished
from ralph.workspace import Workspace, base, file_index, gate, open_workspace, scan
from ralph.workspace.scan import check_cancelled, reporting_progress

FILES = 300


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files ten folders deep."""
    for number in range(FILES):
        place = tmp_path.joinpath("w", *f"{number % 30:010}")
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{number}.txt").write_text(f"{number}\n" * (1 + number % 3))
    return tmp_path / "w"


@pytest.fixture
def workspace(folder: Path, tmp_path: Path) -> Workspace:
    return open_workspace(folder, state_dir=tmp_path / "state")


class Held:
    """A stand-in for `check_cancelled`: the worker thread that calls it at last waits there until it is cancelled."""

    def __init__(self, after: int) -> None:
        self.entered = threading.Event()
        self.ended = threading.Event()
        self._left = after

    def __call__(self, number: int = 0) -> None:
        self._left -= 1
        if self._left > 0:
            return
        self.entered.set()
        try:
            for _ in range(1000):
                check_cancelled()
                self.ended.wait(0.005)
        except BaseException:
            self.ended.set()
            raise


async def snapshot(workspace: Workspace) -> None:
    await workspace.snapshot()


async def checkpoint(workspace: Workspace) -> None:
    await workspace.checkpoint("run", 0, "after")


@pytest.mark.parametrize(
    ("module", "look", "after"),
    [(base, snapshot, 20), (scan, snapshot, 20), (scan, checkpoint, 20), (scan, checkpoint, FILES + 20)],
)
async def test_a_look_is_ended_within_a_moment_wherever_it_is(
    module: object,
    look: Callable[[Workspace], Coroutine[None, None, None]],
    after: int,
    workspace: Workspace,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held = Held(after=after)
    monkeypatch.setattr(module, "check_cancelled", held)
    monkeypatch.setattr(file_index, "_MANY", 1)
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(look, workspace)
            assert await anyio.to_thread.run_sync(held.entered.wait, 5)
            tasks.cancel_scope.cancel()
        assert await anyio.to_thread.run_sync(held.ended.wait, 5)
    monkeypatch.setattr(module, "check_cancelled", check_cancelled)
    assert [path.name for path in below(tmp_path / "state") if path.suffix == ".lock" or path.match("tmp_*")] == []
    found = await workspace.checkpoint("run", 0, "after")
    assert await held_files(workspace, str(found.commit)) == FILES


def empty_out(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.mkdir()


def below(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


async def held_files(workspace: Workspace, commit: str) -> int:
    assert workspace.checkpoints is not None
    empty = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
    return len(await workspace.checkpoints.files(empty, commit))


async def test_many_small_files_are_packed_and_held_as_they_are(
    folder: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_index, "_MANY", 1)
    monkeypatch.setattr(scan, "SMALL", 1000)
    monkeypatch.setattr(scan, "_PACKED_AT_ONCE", 500)
    (folder / "large.bin").write_bytes(b"\r\n\0" * 1000)
    (folder / "crlf.txt").write_bytes(b"one\r\ntwo\r\n")
    (folder / "empty").touch()
    (folder / "link").symlink_to("crlf.txt")
    found = await workspace.checkpoint("run", 0, "after")
    assert found.problem == ""
    assert await held_files(workspace, str(found.commit)) == FILES + 4
    empty_out(folder)
    await workspace.checkpoint("run", 1, "after")
    await workspace.restore(str(found.commit))
    assert (folder / "large.bin").read_bytes() == b"\r\n\0" * 1000
    assert (folder / "crlf.txt").read_bytes() == b"one\r\ntwo\r\n"
    assert (folder / "empty").read_bytes() == b""
    assert (folder / "link").readlink() == Path("crlf.txt")
    again = await workspace.checkpoint("run", 2, "after")
    assert await workspace.difference(str(found.commit), str(again.commit)) == ""


async def test_many_files_take_less_room_than_one_object_each(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_index, "_MANY", 100)
    await workspace.checkpoint("run", 0, "after")
    objects = [path for path in below(tmp_path / "state") if path.parent.parent.name == "objects"]
    assert [path.suffix for path in objects if path.parent.name == "pack"].count(".pack") == 1
    assert len(objects) < FILES


async def test_what_gitignore_names_is_left_out_without_git_too(folder: Path, workspace: Workspace) -> None:
    (folder / "data").mkdir()
    (folder / "data" / "many.bin").write_text("x\n")
    (folder / ".gitignore").write_text("data/\n")
    found = await workspace.checkpoint("run", 0, "after")
    assert await held_files(workspace, str(found.commit)) == FILES + 1


async def test_somebody_is_told_while_it_lasts_and_not_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "_MOMENT", 0.01)
    told: list[tuple[int, int]] = []
    twice = anyio.Event()
    read: Iterator[tuple[int, int]] = iter([(0, 0), (20, 300)])

    def tell(done: int, of: int) -> None:
        told.append((done, of))
        if len(told) == 2:
            twice.set()

    with anyio.fail_after(5), reporting_progress(tell, lambda: next(read, (300, 300))):
        await twice.wait()
    assert told == [(0, 0), (20, 300)]
    await anyio.sleep(0.05)
    assert told == [(0, 0), (20, 300)]


async def test_nobody_is_told_of_a_look_that_is_quick(workspace: Workspace) -> None:
    told: list[tuple[int, int]] = []
    workspace.on_progress = lambda done, of: told.append((done, of))
    with workspace.reporting_progress():
        pass
    assert told == []
    assert workspace.checkpoints is not None
    assert workspace.checkpoints.read == (0, 0)


async def test_how_many_files_were_read_is_known_while_they_are(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_index, "_AT_ONCE", 100)
    assert workspace.checkpoints is not None
    seen: set[tuple[int, int]] = set()
    run = gate.run

    async def asked(argv: list[str], **how: object) -> Finished:
        seen.add(workspace.checkpoints.read)  # pyright: ignore[reportOptionalMemberAccess]
        return await run(argv, **how)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(gate, "run", asked)
    await workspace.checkpoint("run", 0, "after")
    assert {(0, 300), (100, 300), (200, 300)} <= seen
