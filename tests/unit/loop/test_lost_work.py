"""A run that removes the user's work is told as that, and is never verified."""

import shutil
from pathlib import Path

from ralph.executors.base import Turn
from ralph.loop.runner import Runner
from ralph.prompt import Prompt
from ralph.store import MemoryStore
from ralph.testing import Repository, ScriptedExecutor, SeenEvents
from ralph.workspace import open_workspace

BLOCK = "I looked at it.\n---RALPH_STATUS---\nEXIT_SIGNAL: {}\nREASON: looked\n---END_RALPH_STATUS---"


async def test_a_run_that_removes_the_repository_is_not_verified(repository: Repository, tmp_path: Path) -> None:
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
        workspace=open_workspace(repository.path, state_dir=tmp_path / "state"),
        verify="test -e done.txt",
        store=store,
        hooks=[seen],
    )
    async with runner:
        record = await runner.run("Write done.txt.")
        first, *_ = [each async for each in store.iterations(record.id)]
    assert (record.stop_reason, record.verified) == ("completed", False)
    assert "yet the run removed work of yours: `.git`, `notes.txt`" in record.verified_by
    assert first.changes.lost == (".git", "notes.txt")
    assert (first.progressed, first.changes.files) == (True, ("notes.txt",))
    told = [event.text for event in seen.of("diagnosed") if "removed work of yours" in event.text]
    assert len(told) == 1
    assert "rollback" in told[0]
