"""An import adds all of a run or nothing, and reads no more than it has to."""

import io
import os

import anyio
import pytest

from ralph.cli.lookup import run_state
from ralph.errors import RunOwnedError, StoreError, UsageError
from ralph.loop.ownership import this_process
from ralph.store import MemoryStore, export
from ralph.store.export import exported, imported
from ralph.testing.store_conformance import sample_event, sample_history, sample_request, sample_run
from ralph.types import evolve


@pytest.fixture
async def file():
    """A run in a file."""
    async with MemoryStore() as store:
        await store.create(sample_run(), [sample_event(seq) for seq in range(1, 1001)])
        for iteration in sample_history(5):
            await store.append("run-1", [], iteration=iteration)
        await store.ask("run-1", sample_request())
        lines = [line async for line in exported(store, sample_run())]
    return io.BytesIO("\n".join(lines).encode())


class Full(MemoryStore):
    """Has room for so many appends."""

    room = 7

    async def append(self, *given, **more):
        self.room -= 1
        if self.room < 0:
            raise StoreError("The disk is full.")
        await super().append(*given, **more)


async def test_what_cannot_be_added_whole_leaves_nothing(file):
    async with Full() as store:
        with pytest.raises(StoreError, match="full"):
            await imported(store, file)
        assert await store.runs() == []
        file.seek(0)
        store.room = 100
        await imported(store, file)
        assert await store.last_seq("run-1") == 1000


class Watched(MemoryStore):
    """Tries to take over what is being added, and is cancelled at an append."""

    async def append(self, run_id, events, **more):
        with pytest.raises(RunOwnedError):
            await self.acquire(run_id, "somebody else")
        self.scope.cancel()
        await anyio.lowlevel.checkpoint()

    scope: anyio.CancelScope


async def test_nobody_takes_up_what_is_half_there_and_a_cancelled_import_leaves_nothing(file):
    async with Watched() as store:
        with anyio.CancelScope() as store.scope:
            await imported(store, file)
        assert store.scope.cancelled_caught
        assert await store.runs() == []


async def test_a_line_that_is_there_twice_is_refused_before_anything_is_added(file):
    *lines, request, end = file.getvalue().decode().split("\n")
    more = end.replace('"requests":1', '"requests":2')
    assert more != end
    async with MemoryStore() as store:
        with pytest.raises(UsageError, match="its number is 1, and the last was 1"):
            await imported(store, io.BytesIO("\n".join([*lines, request, request, more]).encode()))
        assert await store.runs() == []


async def test_a_run_with_a_longer_id_is_another_one(file):
    async with MemoryStore() as store:
        await store.create(sample_run("run-12"))
        assert (await imported(store, file)).id == "run-1"


async def test_a_line_without_end_is_not_read_to_its_end(file, monkeypatch):
    monkeypatch.setattr(export, "MOST_BYTES", 1000)
    endless = io.BytesIO(b"x" * 1_000_000)
    with pytest.raises(UsageError, match="Line 1 cannot be imported: it is longer than 1000 bytes"):
        await imported(MemoryStore(), endless)
    assert endless.tell() <= 1001


async def test_a_run_that_was_exported_while_it_was_active_has_no_process_where_it_is_imported():
    run = evolve(sample_run(), state="running", owner=this_process(), pid=os.getpid())
    async with MemoryStore() as store:
        await store.create(run)
        lines = [line async for line in exported(store, run)]
    async with MemoryStore() as store:
        await imported(store, io.BytesIO("\n".join(lines).encode()))
        found = await store.run(run.id)
    assert found is not None
    assert run_state(found) == "crashed", "its process is not one of this machine"
    assert (found.pid, found.imported) == (0, True)
