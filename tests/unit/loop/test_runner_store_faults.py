"""A store that fails in the middle of a run: it waits where that may pass, else it ends, and who watches is told."""

from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Any

import anyio
import anyio.to_thread
import pytest

from ralph.decision.limits import Limits
from ralph.errors import StoreError
from ralph.executors.base import Turn
from ralph.loop.runner import Runner
from ralph.prompt import Prompt
from ralph.records.events import Event, Paused, Resumed, RunFinished
from ralph.store import MemoryStore, open_store
from ralph.testing import ScriptedExecutor, SeenEvents, until
from ralph.types.output import Output
from ralph.workspace import open_workspace

DONE = "All done.\n---RALPH_STATUS---\nEXIT_SIGNAL: true\nREASON: finished\n---END_RALPH_STATUS---"


class Failing(MemoryStore):
    """Keeps a run's beginning, and nothing of what comes of it."""

    failed = False

    async def append(self, run_id: str, events: Any, **more: Any) -> None:
        self.failed = self.failed or any(event.type == "iteration_finished" for event in events)
        if self.failed:
            raise StoreError("The store cannot be used: the disk is full.", "Make room.")
        await super().append(run_id, events, **more)


class FullForAWhile(MemoryStore):
    """Takes no iteration for a second."""

    room_at = 0.0

    async def append(self, run_id: str, events: Any, **more: Any) -> None:
        if any(event.type == "iteration_finished" for event in events):
            self.room_at = self.room_at or monotonic() + 1.0
            if monotonic() < self.room_at:
                raise StoreError("The disk is full.", "Make room.", passing=True)
        await super().append(run_id, events, **more)


async def test_a_full_disk_is_waited_for_up_to_the_limit_of_time() -> None:
    store, limits = FullForAWhile(), Limits(max_duration=0.8, max_iterations=5)
    executor = ScriptedExecutor(["I began."], then="repeat_last")
    began = monotonic()
    with pytest.raises(StoreError, match="Not kept: the end of iteration 1"):
        async with Runner(executor=executor, store=store, limits=limits) as runner:
            await runner.run("task")
    assert 0.5 < monotonic() - began < 5
    (run,) = await store.runs()
    assert [each.number async for each in store.iterations(run.id)] == []


async def test_who_watches_is_told_of_the_end(tmp_path: Path) -> None:
    seen, workspace = SeenEvents(), open_workspace(tmp_path)
    with pytest.raises(StoreError, match="disk is full"):
        async with Runner(
            executor=ScriptedExecutor([DONE]), store=Failing(), workspace=workspace, hooks=[seen]
        ) as runner:
            await runner.run("task")
    end = seen.events[-1]
    assert isinstance(end, RunFinished)
    assert (end.stop_reason, end.verified) == ("error", False)
    assert "the disk is full" in end.detail
    assert "iteration_finished" not in {event.type for event in seen.events}, "what is not kept is not told"
    open_workspace(tmp_path).acquire("another")


async def test_a_server_that_is_gone_for_a_while_holds_the_run_up_and_loses_nothing(own_postgres: Any) -> None:
    class Restarts(SeenEvents):
        async def on_event(self, event: Event) -> None:
            await super().on_event(event)
            if isinstance(event, Paused):
                await anyio.to_thread.run_sync(own_postgres.start)

    async def reply(_prompt: Prompt, _turn: Turn) -> str:
        await anyio.to_thread.run_sync(own_postgres.stop)
        return DONE

    seen = Restarts()
    store = open_store(own_postgres.get_uri())
    async with Runner(executor=ScriptedExecutor([reply]), store=store, hooks=[seen]) as runner:
        with anyio.fail_after(40):
            record = await runner.run("task")
        kept = [(event.seq, event.type) async for event in store.events(record.id)]
    assert (record.stop_reason, record.iterations) == ("completed", 1)
    assert [type(event) for event in seen.events if not event.seq] == [Paused, Resumed]
    assert kept == [(event.seq, event.type) for event in seen.events if event.seq]
    assert [seq for seq, _ in kept] == list(range(1, len(kept) + 1))


class Full(MemoryStore):
    """Takes no iteration, as long as it lives."""

    async def append(self, run_id: str, events: Any, **more: Any) -> None:
        if any(event.type == "iteration_finished" for event in events):
            raise StoreError("The disk is full.", "Make room.", passing=True)
        await super().append(run_id, events, **more)


async def test_a_cancelled_run_does_not_wait_for_a_store_without_room() -> None:
    seen = SeenEvents()
    async with Runner(executor=ScriptedExecutor(["I began."]), store=Full(), hooks=[seen]) as runner:

        async def cancel_while_it_waits() -> None:
            await until(lambda: seen.of("paused"))
            await anyio.sleep(1)  # by now the pauses between tries are longer than this test waits
            runner.cancel("I want to go home")

        async def run() -> None:
            async with anyio.create_task_group() as group:
                group.start_soon(cancel_while_it_waits)
                await runner.run("task")

        with anyio.fail_after(15), pytest.RaisesGroup(pytest.RaisesExc(StoreError, match="Not kept")):
            await run()


class ClosesSlowly(ScriptedExecutor):
    closed = False

    async def execute(self, prompt: Prompt, turn: Turn) -> Output:
        await anyio.sleep_forever()
        raise AssertionError

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await anyio.sleep(0.01)
        self.closed = True


async def test_a_run_that_is_cancelled_from_outside_closes_the_agent_and_can_be_taken_over_at_once() -> None:
    store, seen, executor = MemoryStore(), SeenEvents(), ClosesSlowly([])

    async def run() -> None:
        async with Runner(executor=executor, store=store, hooks=[seen]) as runner:
            await runner.run("task")

    async with anyio.create_task_group() as group:
        group.start_soon(run)
        await until(lambda: seen.of("iteration_started"))
        group.cancel_scope.cancel()
    assert executor.closed
    assert not await store.leased(seen.events[0].run_id)


class ReleasesSlowly(MemoryStore):
    async def release(self, run_id: str, owner: str) -> None:
        await anyio.sleep(0.01)
        await super().release(run_id, owner)


async def test_a_run_that_is_cancelled_from_outside_as_it_ends_gives_its_lease_up() -> None:
    store, scope = ReleasesSlowly(), anyio.CancelScope()

    class Cancels(SeenEvents):
        async def on_run_finished(self, event: RunFinished) -> None:
            scope.cancel()

    seen = Cancels()
    with scope:
        async with Runner(executor=ScriptedExecutor([DONE]), store=store, hooks=[seen]) as runner:
            await runner.run("task")
    assert scope.cancel_called
    assert not await store.leased(seen.events[0].run_id)
