"""Folders that are too wide to work in unless the user insists."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep

import anyio
import pytest

from ralph.errors import WorkspaceError
from ralph.testing import Repository
from ralph.workspace import extent, open_workspace
from ralph.workspace.extent import require_narrow


def refusal(folder: Path, *, checkpoints: bool = True) -> str:
    workspace = open_workspace(folder, checkpoints=checkpoints, state_dir=folder.parent / "state")
    try:
        anyio.run(require_narrow, workspace)
    except WorkspaceError as error:
        return error.problem if "--force" in str(error) else f"without a remedy: {error}"
    return ""


def fill(folder: Path, number: int = 60) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in range(number):
        (folder / f"{name}.txt").touch()


def test_the_disk_and_every_home_folder_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repository: Repository
) -> None:
    home = tmp_path / "home"
    (home / "project").mkdir(parents=True)
    (tmp_path / "link").symlink_to(home)
    real = Path("~root" if os.getuid() == 0 else "~").expanduser().resolve()
    monkeypatch.setenv("HOME", str(home))
    assert "the whole disk" in refusal(Path("/"))
    for folder in (home, tmp_path / "link", tmp_path, real):
        assert "your home folder" in refusal(folder), folder
    for folder in (home / "project", repository.path):
        assert refusal(folder) == "", folder


def test_a_home_folder_that_is_just_a_project_is_none(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """In a container the home folder may be the project; keys in it, or no commit, show that it is more than that."""
    monkeypatch.setattr("ralph.workspace.extent.home_folders", lambda: (repository.path,))
    repository.write("a.txt", "a\n")
    repository.commit("first")
    assert refusal(repository.path) == ""
    assert "your home folder" in refusal(repository.path.parent)
    (repository.path / ".ssh").mkdir()
    assert "your home folder" in refusal(repository.path)
    begun = Repository.begin(tmp_path / "begun")
    monkeypatch.setattr("ralph.workspace.extent.home_folders", lambda: (begun.path,))
    assert "your home folder" in refusal(begun.path)


def plain(folder: Path) -> None:
    fill(folder)


def ignored(folder: Path) -> None:
    fill(folder / "data")
    (folder / ".gitignore").write_text("data/\n")


def noise(folder: Path) -> None:
    fill(folder / "deep" / "node_modules")


def committed(folder: Path) -> None:
    fill(folder)
    repository = Repository.begin(folder)
    repository.git("add", "-A")
    repository.git("commit", "-q", "-m", "all")


def untracked(folder: Path) -> None:
    Repository.begin(folder)
    fill(folder)


def ignored_by_git(folder: Path) -> None:
    Repository.begin(folder)
    ignored(folder)


@pytest.mark.parametrize(
    ("make", "refused"),
    [(plain, True), (ignored, False), (noise, False), (committed, False), (untracked, True), (ignored_by_git, False)],
)
def test_files_count_that_a_checkpoint_would_have_to_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], None], *, refused: bool
) -> None:
    monkeypatch.setattr(extent, "MOST_FILES", 50)
    folder = tmp_path / "folder"
    folder.mkdir()
    make(folder)
    assert ("60 files that are neither in git nor ignored" in refusal(folder)) == refused
    assert refusal(folder, checkpoints=False) == ""


def test_listing_is_bounded_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extent, "_PATIENCE", 0.0)
    assert "to list" in refusal(tmp_path / "empty" if (tmp_path / "empty").mkdir() is None else tmp_path)


def test_ctrl_c_works_while_the_files_are_listed(tmp_path: Path) -> None:
    folder, programs, sign = tmp_path / "folder", tmp_path / "bin", tmp_path / "sign"
    folder.mkdir()
    programs.mkdir()
    slow = programs / "git"
    slow.write_text(
        f'#!/bin/sh\ncase "$*" in *ls-files*) touch {sign}; sleep 30;; esac\nPATH={os.environ["PATH"]}\nexec git "$@"\n'
    )
    slow.chmod(0o755)
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "XDG_STATE_HOME": str(tmp_path / "state")}
    command = (sys.executable, "-m", "ralph", "run", "Work.", "--verify", "none", "--display", "plain")
    with subprocess.Popen(
        command, cwd=folder, env=environment, stderr=subprocess.PIPE, start_new_session=True
    ) as ralph:
        while not sign.exists():
            assert ralph.poll() is None, ralph.stderr.read() if ralph.stderr else b""
            sleep(0.05)
        began = monotonic()
        ralph.send_signal(signal.SIGINT)
        assert ralph.wait(20) == 130
        assert monotonic() - began < 5
