"""A request to stop during a checkpoint after the turn: the reply is kept, and the run ends."""

from pathlib import Path
from typing import Literal

import anyio

from ralph.loop.runner import Runner
from ralph.store import MemoryStore
from ralph.testing import ScriptedExecutor
from ralph.types.output import Checkpoint
from ralph.workspace.base import PlainWorkspace, Snapshot


class Endless(PlainWorkspace):
    """A folder with a checkpoint after the turn that never ends."""

    reading = anyio.Event()

    async def checkpoint(
        self, run_id: str, iteration: int, moment: Literal["before", "after"], *, seen: Snapshot | None = None
    ) -> Checkpoint:
        if iteration and moment == "after":
            self.reading.set()
            await anyio.sleep_forever()
        return Checkpoint()


async def test_the_reply_is_kept_and_the_run_ends_within_seconds(tmp_path: Path) -> None:
    workspace = Endless(tmp_path, state_dir=tmp_path / "state")
    workspace.reading = anyio.Event()
    shown: list[tuple[int, int]] = []
    workspace.on_progress = lambda read, of: shown.append((read, of))
    store = MemoryStore()
    runner = Runner(executor=ScriptedExecutor(["Half of it is done."]), store=store, workspace=workspace)

    async def stop() -> None:
        await workspace.reading.wait()
        await anyio.sleep(1.2)
        runner.cancel("SIGINT")

    async with runner, anyio.create_task_group() as tasks:
        tasks.start_soon(stop)
        with anyio.fail_after(20):
            await runner.run("Work.")
    record = runner.record
    assert record is not None
    assert record.stop_reason == "cancelled"
    [kept] = record.history
    assert kept.text == "Half of it is done."
    assert kept.checkpoint.problem == "There was no time left for a checkpoint."
    assert shown, "a long checkpoint after the turn is shown, too"
