"""A run that is ended while it scans its workspace, before the agent has begun."""

from pathlib import Path
from typing import Literal

import anyio
import pytest

from ralph.decision.limits import Limits
from ralph.loop.runner import Runner
from ralph.store import MemoryStore
from ralph.testing import ScriptedExecutor, SeenEvents, writes
from ralph.types.output import Checkpoint
from ralph.workspace import PlainWorkspace
from ralph.workspace.base import Snapshot

DONE = "All done.\n---RALPH_STATUS---\nEXIT_SIGNAL: true\nREASON: finished\n---END_RALPH_STATUS---"


class Endless(PlainWorkspace):
    """A workspace in which a look of one kind takes for ever."""

    endless: Literal["snapshot", "checkpoint", ""] = ""
    runner: Runner | None = None

    async def snapshot(self) -> Snapshot:
        await self._perhaps("snapshot")
        return await super().snapshot()

    async def checkpoint(
        self, run_id: str, iteration: int, moment: Literal["before", "after"], *, seen: Snapshot | None = None
    ) -> Checkpoint:
        await self._perhaps("checkpoint")
        return await super().checkpoint(run_id, iteration, moment, seen=seen)

    async def _perhaps(self, look: str) -> None:
        if self.endless == look and self.runner is not None:
            self.runner.cancel("SIGINT")
            await anyio.sleep_forever()


@pytest.mark.parametrize("look", ["snapshot", "checkpoint"])
async def test_a_run_is_ended_while_it_scans_its_workspace_and_goes_on_later(
    look: Literal["snapshot", "checkpoint"], tmp_path: Path
) -> None:
    (tmp_path / "w").mkdir()
    store, seen = MemoryStore(), SeenEvents()
    workspace = Endless(tmp_path / "w", state_dir=tmp_path / "state")
    workspace.endless = look
    executor = ScriptedExecutor([writes("a", "1", DONE)])
    with anyio.fail_after(5):
        async with Runner(executor=executor, workspace=workspace, store=store, hooks=[seen]) as runner:
            workspace.runner = runner
            record = await runner.run("write a")
    assert (record.stop_reason, record.detail, record.iterations) == ("cancelled", "SIGINT", 0)
    assert seen.of("iteration_started") == []
    workspace.endless = ""
    async with Runner(executor=executor, workspace=workspace, store=store) as runner:
        again = await runner.resume(record.id)
    assert again.stop_reason == "completed"
    assert again.checkpoint is not None
    assert "+1" in await workspace.difference(again.checkpoint)


async def test_an_iteration_that_changes_nothing_is_no_progress_though_the_first_look_was_ended(tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    store = MemoryStore()
    workspace = Endless(tmp_path / "w", state_dir=tmp_path / "state")
    workspace.endless = "snapshot"
    executor = ScriptedExecutor(["Still at it.", writes("a", "1", "Still at it.")])
    limits = Limits(max_iterations=2)
    async with Runner(executor=executor, workspace=workspace, store=store, limits=limits) as runner:
        workspace.runner = runner
        record = await runner.run("write a")
    workspace.endless = ""
    async with Runner(executor=executor, workspace=workspace, store=store, limits=limits) as runner:
        record = await runner.resume(record.id)
    assert [each.progressed async for each in store.iterations(record.id)] == [False, True]
    assert record.fingerprint is not None


@pytest.mark.parametrize("look", ["snapshot", "checkpoint"])
async def test_a_resumed_run_that_is_ended_while_it_looks_begins_no_iteration(
    look: Literal["snapshot", "checkpoint"], tmp_path: Path
) -> None:
    (tmp_path / "w").mkdir()
    store, seen = MemoryStore(), SeenEvents()
    workspace = Endless(tmp_path / "w", state_dir=tmp_path / "state")
    executor = ScriptedExecutor([writes("a", "1", "Still at it."), writes("b", "1", DONE)])

    def runner(most: int) -> Runner:
        limits = Limits(max_iterations=most)
        return Runner(executor=executor, workspace=workspace, store=store, hooks=[seen], limits=limits)

    async with runner(1) as first:
        record = await first.run("write a and b")
    workspace.endless = look
    with anyio.fail_after(5):
        async with runner(2) as second:
            workspace.runner = second
            ended = await second.resume(record.id)
    assert (ended.stop_reason, ended.detail, ended.iterations) == ("cancelled", "SIGINT", 1)
    assert len(seen.of("iteration_started")) == 1
    workspace.endless = ""
    async with runner(2) as third:
        assert (await third.resume(record.id)).stop_reason == "completed"
