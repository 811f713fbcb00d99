"""One run a workspace."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ralph.errors import WorkspaceBusyError, WorkspaceError
from ralph.workspace import open_workspace
from ralph.workspace.lock import WorkspaceLock

HOLDER = """
import sys
from pathlib import Path
from ralph.workspace.lock import WorkspaceLock
WorkspaceLock(Path(sys.argv[1]), Path(sys.argv[2])).acquire("theirs")
print("held", flush=True)
sys.stdin.read()
"""


def test_a_second_run_is_refused_and_the_first_one_named(tmp_path: Path) -> None:
    first, second = WorkspaceLock(tmp_path, tmp_path / "state"), WorkspaceLock(tmp_path, tmp_path / "state")
    first.acquire("one")
    with pytest.raises(WorkspaceBusyError) as caught:
        second.acquire("two")
    assert (caught.value.run_id, caught.value.pid) == ("one", os.getpid())
    assert str(tmp_path) in str(caught.value)
    assert caught.value.exit_code == 2
    first.release()
    first.release()
    second.acquire("two")
    second.release()


def test_who_is_refused_again_and_again_keeps_no_file_open(tmp_path: Path) -> None:
    first = WorkspaceLock(tmp_path, tmp_path / "state")
    first.acquire("one")
    free = next_number()
    for _ in range(3):
        with pytest.raises(WorkspaceBusyError):
            WorkspaceLock(tmp_path, tmp_path / "state").acquire("two")
    assert next_number() <= free
    first.release()


def next_number() -> int:
    """Return the number that the next file gets that is opened."""
    number = os.dup(0)
    os.close(number)
    return number


def test_the_same_folder_under_another_name_is_the_same(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    lock = WorkspaceLock(tmp_path / "folder", tmp_path / "state")
    lock.acquire("one")
    with pytest.raises(WorkspaceBusyError):
        WorkspaceLock(tmp_path / "link", tmp_path / "state").acquire("two")
    WorkspaceLock(tmp_path, tmp_path / "state").acquire("three")
    lock.release()


def test_the_lock_of_a_dead_process_is_free(tmp_path: Path) -> None:
    arguments = [sys.executable, "-c", HOLDER, str(tmp_path), str(tmp_path / "state")]
    lock = WorkspaceLock(tmp_path, tmp_path / "state")
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "held\n"
        with pytest.raises(WorkspaceBusyError) as caught:
            lock.acquire("ours")
        assert (caught.value.run_id, caught.value.pid) == ("theirs", process.pid)
        process.kill()
    lock.acquire("ours")
    assert json.loads(lock.path.read_text())["run_id"] == "ours"
    lock.release()


def test_it_lies_outside_the_workspace_in_the_users_state_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "folder").mkdir()
    path = WorkspaceLock(tmp_path / "folder").path
    assert path.is_relative_to(tmp_path / "state" / "ralph")


def test_a_state_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("in the way")
    with pytest.raises(WorkspaceError, match="cannot be taken") as caught:
        WorkspaceLock(tmp_path, tmp_path / "state").acquire("one")
    assert not isinstance(caught.value, WorkspaceBusyError)


async def test_leaving_the_workspace_gives_it_back(tmp_path: Path) -> None:
    async with open_workspace(tmp_path, state_dir=tmp_path / "state") as workspace:
        workspace.acquire("one")
        with pytest.raises(WorkspaceBusyError):
            workspace.acquire("two")
    async with open_workspace(tmp_path, state_dir=tmp_path / "state") as workspace:
        workspace.acquire("two")


def test_the_state_folder_is_for_its_owner_alone_also_where_an_older_version_made_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "workspace").mkdir()
    before, folder = os.umask(0o022), tmp_path / "state" / "ralph"
    try:
        for made in (False, True):
            if made:
                folder.chmod(0o755)
            lock = WorkspaceLock(tmp_path / "workspace")
            lock.acquire("one")
            lock.release()
            assert folder.stat().st_mode & 0o777 == 0o700
    finally:
        os.umask(before)
