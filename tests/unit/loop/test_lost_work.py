"""A run that removes the user's work is told as that, and is never verified."""

import shutil
from pathlib import Path

import pytest

from ralph.executors.base import Turn
from ralph.loop.runner import Runner
from ralph.prompt import Prompt
from ralph.records.projection import changes_text
from ralph.store import MemoryStore
from ralph.testing import Repository, ScriptedExecutor, SeenEvents
from ralph.workspace import open_workspace

BLOCK = "I looked at it.\n---RALPH_STATUS---\nEXIT_SIGNAL: {}\nREASON: looked\n---END_RALPH_STATUS---"


@pytest.mark.parametrize("checkpoints", [True, False])
async def test_a_run_that_removes_the_repository_is_not_verified(
    repository: Repository, tmp_path: Path, checkpoints: bool
) -> None:
    repository.write("notes.txt", "the user's\n")

    def answer(prompt: Prompt, turn: Turn) -> str:
        if turn.iteration == 1:
            shutil.rmtree(repository.path / ".git")
            (repository.path / "notes.txt").unlink()
        else:
            repository.write("done.txt", "done\n")
        return BLOCK.format("true" if turn.iteration > 1 else "false")

    store, seen = MemoryStore(), SeenEvents()
    runner = Runner(
        executor=ScriptedExecutor(then=answer),
        workspace=open_workspace(repository.path, state_dir=tmp_path / "state", checkpoints=checkpoints),
        verify="test -e done.txt",
        store=store,
        hooks=[seen],
    )
    async with runner:
        record = await runner.run("Write done.txt.")
        first, *_ = [each async for each in store.iterations(record.id)]
    assert (record.stop_reason, record.verified) == ("completed", False)
    lost = (
        (".git", "notes.txt") if checkpoints else (".git",)
    )  # without checkpoints, nothing tells what was uncommitted
    assert f"yet the run removed work of yours: {', '.join(f'`{each}`' for each in lost)}" in record.verified_by
    assert first.changes.lost == lost
    assert not checkpoints or (first.progressed, first.changes.files) == (True, ("notes.txt",))
    told = [event.text for event in seen.of("diagnosed") if "removed work of yours" in event.text]
    assert len(told) == 1
    way = f"`ralph rollback {record.id} --to 0` brings it back, but not git's folder."
    assert told[0].endswith(way) == checkpoints
    assert record.lost == lost


async def test_a_run_that_removes_history_alone_has_not_changed_nothing(repository: Repository, tmp_path: Path) -> None:
    repository.git("tag", "v1")

    def answer(prompt: Prompt, turn: Turn) -> str:
        if turn.iteration == 1:
            repository.git("tag", "--delete", "v1")
        return BLOCK.format("true")

    workspace, store = open_workspace(repository.path, state_dir=tmp_path / "state"), MemoryStore()
    async with Runner(executor=ScriptedExecutor(then=answer), workspace=workspace, store=store) as runner:
        record = await runner.run("Remove the tag.")
        first, *_ = [each async for each in store.iterations(record.id)]
    assert (record.verified, first.changes.lost) == (False, ("refs/tags/v1",))
    assert "yet the run removed work of yours: `refs/tags/v1`" in record.verified_by
    assert "changed nothing" not in record.verified_by
    assert changes_text(first) == "removed work of yours"
