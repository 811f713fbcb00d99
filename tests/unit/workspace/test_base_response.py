"""The agent's last answer is kept, whatever was planted in its way, and nothing outside is ever touched."""

import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import pytest

from ralph.workspace.base import keep_response


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "folder").mkdir()
    return tmp_path / "folder"


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder with a file that must stay as it is."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/last-response.md").write_text("precious")
    return tmp_path / "outside"


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_it_is_written_hidden_from_git_and_replaced(folder: Path) -> None:
    assert keep_response(folder, "one") == ""
    assert keep_response(folder, "zwei ü \ud800") == ""
    assert contents(folder / ".ralph") == {".gitignore": "*\n", "last-response.md": "zwei ü ?"}


def test_a_folder_that_was_there_keeps_its_own_ignore_rules(folder: Path) -> None:
    (folder / ".ralph").mkdir()
    keep_response(folder, "one")
    assert contents(folder / ".ralph") == {"last-response.md": "one"}


def test_a_folder_that_was_deleted_is_made_again(folder: Path) -> None:
    keep_response(folder, "one")
    shutil.rmtree(folder / ".ralph")
    assert keep_response(folder, "two") == ""
    assert (folder / ".ralph/last-response.md").read_text() == "two"


PLANTED: dict[str, Callable[[Path, Path], object]] = {
    "a link to a folder": lambda ralph, outside: ralph.symlink_to(outside),
    "a link to nowhere": lambda ralph, outside: ralph.symlink_to(outside / "new"),
    "a file": lambda ralph, outside: ralph.write_text(""),
    "a fifo": lambda ralph, outside: os.mkfifo(ralph),
    "a folder in its place": lambda ralph, outside: (ralph / "last-response.md").mkdir(parents=True),
    "a folder in its way": lambda ralph, outside: (ralph / "last-response.md.new").mkdir(parents=True),
}


@pytest.mark.parametrize("planted", PLANTED)
def test_what_cannot_be_passed_is_told(folder: Path, outside: Path, planted: str) -> None:
    PLANTED[planted](folder / ".ralph", outside)
    assert ".ralph/last-response.md could not be written" in keep_response(folder, "text")
    assert contents(outside) == {"last-response.md": "precious"}


@pytest.mark.parametrize("name", ["last-response.md", "last-response.md.new"])
@pytest.mark.parametrize("kind", ["link", "hard link", "fifo", "dangling"])
def test_what_lies_in_its_place_is_replaced_and_never_written_through(
    folder: Path, outside: Path, name: str, kind: str
) -> None:
    place = folder / ".ralph" / name
    place.parent.mkdir()
    if kind == "link":
        place.symlink_to(outside / "last-response.md")
    elif kind == "dangling":
        place.symlink_to(outside / "new")
    elif kind == "hard link":
        place.hardlink_to(outside / "last-response.md")
    else:
        os.mkfifo(place)
    assert keep_response(folder, "text") == ""
    assert (folder / ".ralph/last-response.md").read_text() == "text"
    assert not (folder / ".ralph/last-response.md").is_symlink()
    assert contents(outside) == {"last-response.md": "precious"}


def test_a_workspace_that_became_a_link_or_is_gone_is_told(folder: Path, outside: Path) -> None:
    folder.rmdir()
    assert keep_response(folder, "text")
    folder.symlink_to(outside)
    assert keep_response(folder, "text")
    assert contents(outside) == {"last-response.md": "precious"}


def test_a_race_with_the_agent_never_leads_outside(folder: Path, outside: Path) -> None:
    over = threading.Event()

    def swap() -> None:
        ralph, aside = folder / ".ralph", folder / "aside"
        while not over.is_set():
            shutil.rmtree(aside, ignore_errors=True)
            try:
                ralph.rename(aside)
                ralph.symlink_to(outside)
                ralph.unlink()
            except OSError:
                continue

    agent = threading.Thread(target=swap)
    agent.start()
    try:
        for _ in range(500):
            keep_response(folder, "text")
    finally:
        over.set()
        agent.join()
    assert contents(outside) == {"last-response.md": "precious"}


@pytest.mark.alone
def test_it_is_cheap(folder: Path) -> None:
    keep_response(folder, "x")

    def once() -> float:
        began = perf_counter()
        keep_response(folder, "x" * 4000)
        return perf_counter() - began

    assert min(once() for _ in range(50)) < 0.000_5
