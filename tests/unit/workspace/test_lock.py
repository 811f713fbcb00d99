"""One run a workspace."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ralph.errors import WorkspaceBusyError, WorkspaceError
from ralph.workspace import open_workspace
from ralph.workspace.lock import Hold

HOLDER = """
import sys
from pathlib import Path
from ralph.workspace.lock import Hold
Hold(Path(sys.argv[1]), Path(sys.argv[2])).take("theirs")
print("held", flush=True)
sys.stdin.read()
"""


def test_a_second_run_is_refused_and_the_first_one_named(tmp_path: Path) -> None:
    first, second = Hold(tmp_path, tmp_path / "state"), Hold(tmp_path, tmp_path / "state")
    first.take("one")
    with pytest.raises(WorkspaceBusyError) as caught:
        second.take("two")
    assert (caught.value.run_id, caught.value.pid) == ("one", os.getpid())
    assert str(tmp_path) in str(caught.value)
    assert caught.value.exit_code == 2
    first.give_back()
    first.give_back()
    second.take("two")
    second.give_back()


def test_the_same_folder_under_another_name_is_the_same(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    hold = Hold(tmp_path / "folder", tmp_path / "state")
    hold.take("one")
    with pytest.raises(WorkspaceBusyError):
        Hold(tmp_path / "link", tmp_path / "state").take("two")
    Hold(tmp_path, tmp_path / "state").take("three")
    hold.give_back()


def test_the_lock_of_a_dead_process_is_free(tmp_path: Path) -> None:
    arguments = [sys.executable, "-c", HOLDER, str(tmp_path), str(tmp_path / "state")]
    hold = Hold(tmp_path, tmp_path / "state")
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "held\n"
        with pytest.raises(WorkspaceBusyError) as caught:
            hold.take("ours")
        assert (caught.value.run_id, caught.value.pid) == ("theirs", process.pid)
        process.kill()
    hold.take("ours")
    assert json.loads(hold.path.read_text())["run_id"] == "ours"
    hold.give_back()


def test_it_lies_outside_the_workspace_in_the_users_state_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "folder").mkdir()
    path = Hold(tmp_path / "folder").path
    assert path.is_relative_to(tmp_path / "state" / "ralph")


def test_a_state_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("in the way")
    with pytest.raises(WorkspaceError, match="cannot be taken") as caught:
        Hold(tmp_path, tmp_path / "state").take("one")
    assert not isinstance(caught.value, WorkspaceBusyError)


async def test_leaving_the_workspace_gives_it_back(tmp_path: Path) -> None:
    async with open_workspace(tmp_path, state_dir=tmp_path / "state") as workspace:
        workspace.hold("one")
        with pytest.raises(WorkspaceBusyError):
            workspace.hold("two")
    async with open_workspace(tmp_path, state_dir=tmp_path / "state") as workspace:
        workspace.hold("two")
