"""Runs of other folders: `last` does not mean them, and their files do not change unless the user agrees."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from ralph.executors.base import Turn
from ralph.prompt import Prompt
from ralph.records.record import RunRecord
from ralph.store import open_store
from ralph.testing import Repository, ScriptedExecutor
from ralph.types.output import Output

DONE = "It is done.\n\n---RALPH_STATUS---\nEXIT_SIGNAL: true\nREASON: all there\n---END_RALPH_STATUS---\n"


class Writing(ScriptedExecutor):
    """Adds a file."""

    async def execute(self, prompt: Prompt, turn: Turn) -> Output:
        (turn.workspace / "made.txt").write_text("made by the agent\n")
        return await super().execute(prompt, turn)


@pytest.fixture
def theirs(kept_run: Callable[..., RunRecord], workspace: Path) -> RunRecord:
    """The newest run of all, in the folder `workspace`."""
    return kept_run(executor=Writing([DONE]))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, theirs: RunRecord) -> Path:
    """Another folder, which is the current one."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


LAST = [
    ("show", "last"),
    ("logs", "last"),
    ("diff", "last"),
    ("rollback", "last", "--to", "0"),
    ("export", "last"),
    ("breaker", "show", "last"),
    ("breaker", "reset", "last"),
    ("pause", "last"),
    ("stop", "last"),
    ("tell", "last", "hello"),
    ("extend", "last", "--max-iterations", "+1"),
    ("resume", "last"),
    ("resume",),
    ("replay", "--run", "last"),
]


def test_last_is_a_run_of_this_folder(
    ralph: Callable[..., Any], theirs: RunRecord, here: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for words in LAST:
        ended = ralph(*words)
        assert (ended.code, ended.out) == (2, ""), words
        assert f"There is no run in {here} yet." in ended.err, words
    assert (workspace / "made.txt").exists()
    assert theirs.id in ralph("show", "last", "--any").out
    for words in LAST:
        assert f"no run in {here}" not in ralph(*words, "--any").err, words

    inside = workspace / "src" / "deep"
    inside.mkdir(parents=True)
    Repository.begin(workspace)
    monkeypatch.chdir(inside)
    assert theirs.id in ralph("show", "last").out

    async def move() -> None:
        async with open_store() as store:
            where = {"workspace": str(workspace), "origin": str(here)}
            await store.append(theirs.id, (), run=theirs.model_copy(update=where))

    anyio.run(move)
    monkeypatch.chdir(here)
    assert theirs.id in ralph("show", "last").out


def test_last_ends_at_the_border_of_a_repository(
    ralph: Callable[..., Any], theirs: RunRecord, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the folders in a folder with a run, only those of the same repository mean that run."""
    made, inner, src = workspace / "made.txt", workspace / "inner", workspace / "src"
    nowhere = Path("/nowhere")
    (inner / "deep").mkdir(parents=True)
    src.mkdir()
    Repository.begin(inner)
    cases = [
        (inner, nowhere, False),
        (inner / "deep", nowhere, False),
        (src, nowhere, False),  # the workspace is not under git yet
        (src, nowhere, True),
        (src, workspace.parent, True),
        (src, workspace, False),
    ]
    for number, (here, home, found) in enumerate(cases):
        if number == 3:
            Repository.begin(workspace)
        monkeypatch.setattr("ralph.cli.lookup.home_folders", lambda home=home: (home,))
        monkeypatch.chdir(here)
        shown, named = ralph("show", "last"), ralph("rollback", "last", "--to", "99")
        assert (shown.code == 0) == found, (here, shown.err)
        assert ("no iteration 99" in named.err) == found, (here, named.err)
        if not found:
            assert f"There is no run in {here} yet." in shown.err
            assert ralph("rollback", "last", "--to", "0").code == 2
            named = ralph("rollback", theirs.id, "--to", "0")
            assert (named.code, made.exists()) == (2, True)
            assert f"in {workspace}; the current folder is {here}." in named.err


def test_files_of_another_folder_change_only_if_the_user_agrees(
    ralph: Callable[..., Any], theirs: RunRecord, here: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = workspace / "made.txt"
    stopped = theirs.model_copy(update={"stop_reason": "cancelled", "settings": {"verify": ["none"]}})

    async def stop() -> None:
        async with open_store() as store:
            await store.append(theirs.id, (), run=stopped)

    anyio.run(stop)
    dangerous = [
        ("rollback", theirs.id, "--to", "0"),
        ("rollback", "last", "--any", "--to", "0"),
        ("resume", theirs.id),
        ("runs", "prune", "--keep", "0"),
    ]
    for words in dangerous:
        ended = ralph(*words)
        assert ended.code == 2, words
        assert f"in {workspace}; the current folder is {here}." in ended.err, words
        assert "--yes" in ended.err
        assert made.exists()
    assert ralph("runs", "prune", "--keep", "0", "--dry-run").out.startswith(theirs.id)

    for stream in (sys.stdin, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    asked: list[object] = []

    def confirm(*text: object, **_: object) -> bool:
        asked.append(text)
        return len(asked) > 1

    monkeypatch.setattr("typer.confirm", confirm)
    assert ralph(*dangerous[0]).code == 2
    assert made.exists()
    assert ralph(*dangerous[0]).code == 0
    assert not made.exists()
    monkeypatch.undo()
    monkeypatch.chdir(here)


def test_yes_agrees_beforehand(ralph: Callable[..., Any], theirs: RunRecord, here: Path, workspace: Path) -> None:
    assert ralph("rollback", theirs.id, "--to", "0", "--yes").code == 0
    assert not (workspace / "made.txt").exists()
    assert ralph("runs", "prune", "--keep", "0", "--yes").out == f"{theirs.id}\n1 removed, 0 kept.\n"


def test_a_difference_of_nothing_is_reported_beside_the_patch(
    ralph: Callable[..., Any], kept_run: Callable[..., RunRecord], workspace: Path
) -> None:
    run = kept_run(DONE)
    ended = ralph("diff", "last")
    assert (ended.code, ended.out) == (0, "")
    assert ended.err == f"Run {run.id} has changed no files in {workspace}.\n"
