"""The state folder keeps to its limit: the oldest finished runs give up what is large, and never their record."""

import logging
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import pytest

from ralph.executors.base import Turn
from ralph.loop import retention
from ralph.loop.retention import make_room
from ralph.loop.runner import Runner
from ralph.prompt import Prompt
from ralph.records.record import RunRecord
from ralph.store import open_store
from ralph.testing import ScriptedExecutor
from ralph.testing.store_conformance import sample_run
from ralph.types import evolve
from ralph.types.output import Output
from ralph.workspace import open_workspace
from ralph.workspace.file_index import FileIndex
from ralph.workspace.lock import WorkspaceLock, state_folder

DONE = "It is done.\n\n---RALPH_STATUS---\nEXIT_SIGNAL: true\nREASON: all there\n---END_RALPH_STATUS---\n"
LARGE = 300_000


class Writing(ScriptedExecutor):
    """Adds a file that does not compress."""

    async def execute(self, prompt: Prompt, turn: Turn) -> Output:
        (turn.workspace / f"{os.urandom(4).hex()}.bin").write_bytes(os.urandom(LARGE))
        return await super().execute(prompt, turn)


@pytest.fixture
def runs(tmp_path: Path, home: Path) -> list[RunRecord]:
    """Four finished runs, each in a folder of its own, the oldest first."""
    records: list[RunRecord] = []
    for number in range(4):
        folder = tmp_path / f"project-{number}"
        folder.mkdir()
        executor = Writing([f"{'word ' * 2000}{DONE}"])
        records.append(
            Runner(executor=executor, store=open_store(), workspace=open_workspace(folder)).run_sync("Make a file.")
        )
    return records


def room(limit: int, current: RunRecord | None = None) -> list[str]:
    said: list[str] = []

    async def make() -> None:
        async with open_store() as store:
            await make_room(limit, store, current or sample_run(), said.append)

    anyio.run(make)
    return said


def used() -> int:
    return sum(path.stat().st_size for path in (state_folder() / "checkpoints").rglob("*") if path.is_file())


def held(ralph: Callable[..., Any], run: RunRecord) -> bool:
    """Whether the run still has its checkpoints and transcript."""
    diff, logs = ralph("diff", run.id), ralph("logs", run.id, "--json").out
    assert (diff.code == 0) == ('"message_received"' in logs), "both go, or both stay"
    return diff.code == 0


def test_the_oldest_give_up_what_is_large_and_keep_their_record(
    ralph: Callable[..., Any], runs: list[RunRecord]
) -> None:
    assert room(10**9) == []
    before = used()
    [said] = room(retention.measured() - LARGE - 50_000)
    assert f"Removed to make room: the checkpoints and transcripts of {runs[0].id}" in said
    assert "state_limit" in said
    assert [held(ralph, run) for run in runs] == [False, False, True, True]
    assert used() < before - LARGE
    for run in runs:
        shown = ralph("show", run.id).out
        assert "Completed" in shown
        assert "It is done." in ralph("show", run.id, "--iteration", "1").out
        assert '"run_finished"' in ralph("logs", run.id, "--json").out
    assert ralph("doctor", "--json").out.count("are missing") == 0
    exported = ralph("export", runs[0].id, "-o", "run.jsonl")
    assert exported.code == 0
    assert ralph("import", "run.jsonl", "--store", "other.db").code == 0


def test_neither_an_active_run_nor_this_one_gives_up_anything(ralph: Callable[..., Any], runs: list[RunRecord]) -> None:
    oldest, second, third, last = runs

    async def revive() -> None:
        async with open_store() as store:
            await store.append(oldest.id, (), run=oldest.model_copy(update={"state": "paused"}))

    anyio.run(revive)
    assert room(1, current=evolve(last, stop_reason="cancelled")) == [], "whoever stops a run does not wait for that"
    lock = WorkspaceLock(Path(second.workspace or ""))
    lock.acquire("another run in that folder")
    said = room(1, current=last)
    lock.release()
    assert [held(ralph, run) for run in runs] == [True, True, False, True]
    assert f"of {third.id}. It still has" in said[0]
    assert "ralph runs prune" in said[0]

    async def leased() -> None:
        async with open_store() as store:
            await store.acquire(second.id, "a process that takes it up")
            await make_room(1, store, last, said.append)
            await store.release(second.id, "a process that takes it up")

    anyio.run(leased)
    assert held(ralph, second)
    assert "Removed" in room(1, current=last)[0], "the folder is free now"
    assert [held(ralph, run) for run in runs] == [True, False, False, True]


def test_a_run_ends_with_it_and_says_so(
    ralph: Callable[..., Any], runs: list[RunRecord], workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RALPH_STATE_LIMIT", "100K")

    def writing(*_: object, **__: object) -> Writing:
        return Writing([DONE])

    monkeypatch.setattr("ralph.loop.assembly.executor_for", writing)
    (workspace / "ralph.toml").write_text('state_limit = "1K"\n')
    refused = ralph("run", "Work.", "--verify", "none", "--display", "json")
    assert (refused.code, "state_limit" in refused.err) == (2, True), "a workspace cannot make the user's state go"
    (workspace / "ralph.toml").unlink()
    ended = ralph("run", "Work.", "--verify", "none", "--display", "json")
    assert ended.code == 0, ended.err
    assert '"type": "run_finished"' in ended.out.splitlines()[-1]
    assert f"Removed to make room: the checkpoints and transcripts of {runs[0].id}" in ended.err
    assert not any(held(ralph, run) for run in runs)
    assert ralph("diff", "last").code == 0


def test_room_is_freed_although_what_stays_cannot_be_packed(
    ralph: Callable[..., Any], runs: list[RunRecord], tmp_path: Path
) -> None:
    folder = tmp_path / "project-0"
    for file in folder.glob("*.bin"):
        file.unlink()
    kept = Runner(executor=Writing([DONE]), store=open_store(), workspace=folder).run_sync("Make a file.")
    for place in (state_folder() / "checkpoints").iterdir():  # as while another git packs, which may take minutes
        (place / "gc.pid").write_text(f"{os.getpid()} {socket.gethostname()}")
    before = used()
    assert f"of {runs[0].id}." in room(retention.measured() - LARGE, current=kept)[0]
    assert used() < before - LARGE + 50_000
    assert held(ralph, kept)


def test_a_removed_checkpoint_says_why_and_when(ralph: Callable[..., Any], runs: list[RunRecord]) -> None:
    room(1, current=runs[-1])
    why = f"removed to keep the state folder under 0 MB on {datetime.now(UTC):%Y-%m-%d}"
    for words in (("diff",), ("rollback", "--to", "1", "--yes"), ("rollback", "--to", "0", "--yes")):
        refused = ralph(words[0], runs[0].id, *words[1:], "--any")
        assert refused.code == 2
        assert "no longer exists" in refused.err
        assert why in refused.err
        assert "state_limit" in refused.err
    assert ralph("diff", runs[-1].id).code == 0


def test_an_embedded_runner_keeps_to_the_limit_too(
    runs: list[RunRecord], workspace: Path, ralph: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "ralph.runs")
    for limit in (None, 10_000):
        runner = Runner(executor=Writing([DONE]), store=open_store(), workspace=workspace, state_limit=limit)
        record = runner.run_sync("Make a file.")
        assert [held(ralph, run) for run in runs] == [limit is None] * 4
        assert held(ralph, record)
    [said] = [each.getMessage() for each in caplog.records if each.name == "ralph.runs"]
    assert f"Removed to make room: the checkpoints and transcripts of {runs[0].id}" in said


def test_removing_runs_leaves_what_a_run_in_the_same_folder_is_writing(
    ralph: Callable[..., Any], workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def work() -> RunRecord:
        executor = Writing(["Working.", "Working.", DONE])
        return Runner(executor=executor, store=open_store(), workspace=workspace).run_sync("Make files.")

    old, commit, pruned = work(), FileIndex.commit, list[str]()

    async def meanwhile(self: FileIndex, tree: str, message: str, ref: str) -> str:
        """Another process removes the older run after the objects of a checkpoint are written, and before its ref."""
        words = (sys.executable, "-m", "ralph", "runs", "prune", "--keep", "0", "--yes", "--json")
        if len(pruned) < 2:
            pruned.append((await anyio.run_process(words)).stdout.decode())
        return await commit(self, tree, message, ref)

    monkeypatch.setattr(FileIndex, "commit", meanwhile)
    new = work()
    assert old.id in pruned[0]
    assert not any(new.id in each for each in pruned)
    [repository] = (state_folder() / "checkpoints").iterdir()
    subprocess.run(("git", "-C", str(repository), "fsck", "--connectivity-only"), check=True)
    assert ralph("diff", new.id).code == 0
    assert ralph("rollback", new.id, "--to", "1").code == 0
    assert len(list(workspace.glob("*.bin"))) == 4
