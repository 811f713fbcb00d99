"""Following a run: every event once, in order, as soon as it is stored, whoever writes and however the run ends."""

import asyncio
import gc
import subprocess
import sys
import threading
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from pathlib import Path

import anyio
import psutil
import psycopg
import pytest
from sqlalchemy import make_url

from ralph.records.events import Event, RunFinished
from ralph.store import MemoryStore, Store, open_store
from ralph.testing.store_conformance import START, sample_event, sample_run
from ralph.types import evolve
from ralph.types.output import Usage

ENDED = evolve(sample_run(), state="finished", stop_reason="completed")
KINDS = ["memory", "sqlite", "postgres"]


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    if request.param == "memory":
        return MemoryStore()
    return open_store(
        str(tmp_path / "ralph.db") if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    )


WRITER = """
import sys, anyio
from ralph.store import open_store
from ralph.testing.store_conformance import sample_event

async def main():
    async with open_store(sys.argv[1]) as store:
        while True:
            seq = await store.last_seq("run-1") + 1
            await store.append("run-1", [sample_event(seq), sample_event(seq + 1)])
            print(seq, flush=True)

anyio.run(main)
"""


def write_until_killed(path: str, times: int) -> None:
    with subprocess.Popen((sys.executable, "-c", WRITER, path), stdout=subprocess.PIPE) as writer:
        assert writer.stdout
        for _ in range(times):
            writer.stdout.readline()
        writer.kill()


def finished(seq: int) -> RunFinished:
    return RunFinished(
        run_id="run-1",
        seq=seq,
        at=START,
        stop_reason="completed",
        verified=False,
        detail="",
        iterations=1,
        executors={},
        usage=Usage(),
        duration=1.0,
    )


async def seqs(events: AsyncGenerator[Event]) -> list[int]:
    with anyio.fail_after(30):
        async with aclosing(events):
            return [event.seq async for event in events]


async def test_events_come_as_they_are_stored_and_end_with_the_run(store: Store) -> None:
    async with store:
        await store.create(sample_run(), [sample_event(1), sample_event(2)], owner="a")
        followed = store.follow("run-1", after=1)
        with anyio.fail_after(30):
            assert (await anext(followed)).seq == 2
            for seq in range(3, 40):
                await store.append("run-1", [sample_event(seq)], owner="a")
                assert (await anext(followed)).seq == seq
        await store.append("run-1", [finished(40)], run=ENDED, owner="a")
        assert (await anext(followed)).seq == 40
        rest = asyncio.create_task(seqs(followed))
        await asyncio.sleep(0.3)
        assert not rest.done(), "the owner has not let go of it yet"
        await store.release("run-1", "a")
        assert await rest == []
        assert await seqs(store.follow("run-1")) == list(range(1, 41))


async def test_a_run_that_is_resumed_is_followed_on(store: Store) -> None:
    async with store:
        await store.create(sample_run(), [sample_event(1)], owner="a")
        await store.append("run-1", [finished(2)], run=ENDED, owner="a")
        following = asyncio.create_task(seqs(store.follow("run-1")))
        await asyncio.sleep(0.1)
        await store.acquire("run-1", "b", dead="a")
        await asyncio.sleep(0.4)
        await store.append("run-1", [sample_event(3)], run=sample_run(), owner="b")
        await store.release("run-1", "b")
        await asyncio.sleep(0.4)
        await store.append("run-1", [finished(4)], run=ENDED)
        assert await following == [1, 2, 3, 4]


async def test_a_removed_run_and_one_that_does_not_exist_end_it(store: Store) -> None:
    async with store:
        await store.create(sample_run("run-10"), owner="a")  # begins as the missing one does
        await store.create(sample_run("run-2"), [sample_event(1, run_id="run-2")], owner="a")
        following = asyncio.create_task(seqs(store.follow("run-2")))
        await asyncio.sleep(0.2)
        await store.remove("run-2", owner="a")
        assert await following == [1]
        assert await seqs(store.follow("run-1")) == []


async def test_the_caller_says_which_run_is_followed_no_longer(store: Store) -> None:
    async with store:
        await store.create(sample_run(), [sample_event(1)])  # its process has died
        assert await seqs(store.follow("run-1", going=lambda run: run.state != "running")) == [1]


@pytest.mark.parametrize("kind", KINDS[1:])
async def test_nothing_is_lost_or_doubled_across_killed_writers(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    path = str(tmp_path / "ralph.db") if kind == "sqlite" else request.getfixturevalue("postgres_url")
    seen: list[int] = []

    async def read(store: Store) -> None:
        async for event in store.follow("run-1"):
            seen.append(event.seq)  # noqa: PERF401 - it never ends

    async with open_store(path) as store:
        await store.create(sample_run())
        reader = asyncio.create_task(read(store))
        for pace in (3, 40):
            await anyio.to_thread.run_sync(write_until_killed, path, pace)
        last = await store.last_seq("run-1")
        with anyio.fail_after(30):
            while len(seen) < last:  # noqa: ASYNC110 - it has a deadline
                await asyncio.sleep(0.05)
        assert seen == list(range(1, last + 1))
        reader.cancel()
        with suppress(asyncio.CancelledError):
            await reader


def connections(url: str) -> int:
    plain = make_url(url).difference_update_query(["schema", "application_name"])
    with psycopg.connect(plain.render_as_string(hide_password=False)) as other:
        found = other.execute("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'followed'").fetchone()
    return found[0] if found else 0


@pytest.mark.parametrize("kind", KINDS[1:])
async def test_a_follower_that_ends_leaves_no_connection_and_no_thread(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    path = str(tmp_path / "ralph.db")
    if kind == "postgres":
        url = make_url(request.getfixturevalue("postgres_url")).update_query_dict({"application_name": "followed"})
        path = url.render_as_string(hide_password=False)

    def held() -> int:
        gc.collect()
        if kind == "postgres":
            return connections(path)
        return sum(each.path.startswith(path) for each in psutil.Process().open_files())

    async def follow_and_be_cancelled() -> None:
        following = [asyncio.create_task(seqs(store.follow("run-1"))) for _ in range(3)]
        await asyncio.sleep(0.5)
        during.append(held())
        for each in following:
            each.cancel()
        await asyncio.gather(*following, return_exceptions=True)

    during: list[int] = []
    async with open_store(path) as store:
        await store.create(sample_run(), [sample_event(1)])
        before, threads = held(), threading.active_count()
        kept = before + (kind == "sqlite")  # SQLite keeps a closed file's descriptor for the next connection
        for _ in range(3):
            await follow_and_be_cancelled()
            assert held() <= kept
            assert threading.active_count() == threads
        assert min(during) > before
        async for event in store.follow("run-1"):  # a caller that leaves without closing
            assert event.seq == 1
            break
        waiting = store.follow("run-1", after=1)
        with anyio.move_on_after(0.3):
            await anext(waiting)
        assert held() <= kept
    assert held() == 0
