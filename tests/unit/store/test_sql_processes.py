"""A store that is shared by processes, and one whose writer is killed."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from ralph.errors import OwnershipLostError
from ralph.store import open_store
from ralph.testing.store_conformance import sample_event, sample_run

WRITER = """
import sys, anyio
from ralph.errors import StoreError
from ralph.store import open_store
from ralph.testing.store_conformance import sample_event, sample_iteration, sample_run

PATH, RUN, FIRST, LAST = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])

def brought(number):
    events = [sample_event(number * 50 - step, "x" * 999, run_id=RUN, iteration=number) for step in range(50)]
    run = sample_run(RUN).model_copy(update={"iterations": number})
    return {"events": events, "iteration": sample_iteration(number, run_id=RUN), "run": run}

async def main():
    sys.stdin.readline()
    async with open_store(PATH) as store:
        if await store.run(RUN) is None:
            await store.create(sample_run(RUN))
        for number in range(FIRST, LAST + 1):
            try:
                await store.append(RUN, **brought(number))
            except StoreError as error:
                print("refused:", error, flush=True)
                return
            print(number, flush=True)

anyio.run(main)
"""


class Writer:
    """A process that appends iteration after iteration and says the number of each after it."""

    def __init__(self, path, run_id, first, last):
        command = [sys.executable, "-c", WRITER, str(path), run_id, str(first), str(last)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdin
        assert self.process.stdout
        self.stdin, self.stdout = self.process.stdin, self.process.stdout

    def begin(self):
        self.stdin.write("go\n")
        self.stdin.close()

    def kill_in_the_midst_of_a_write(self, log):
        size = log.stat().st_size
        while log.stat().st_size == size and self.process.poll() is None:
            pass
        self.process.kill()

    def said(self):
        """Each whole line that was not read before, once it has ended."""
        with self.stdout:
            lines = self.stdout.read().split("\n")[:-1]
        self.status = self.process.wait()
        return lines


def finish(writers):
    """Lets them all begin at once; returns what each said."""
    for writer in writers:
        writer.begin()
    said = [writer.said() for writer in writers]
    assert [writer.status for writer in writers] == [0] * len(writers)
    return said


async def kept(path, run_id):
    """Iterations by the run's record, the iterations' numbers, and the number of events by iteration."""
    async with open_store(str(path)) as store:
        events: dict[int, int] = {}
        async for event in store.events(run_id):
            events[event.iteration] = events.get(event.iteration, 0) + 1
        run = await store.run(run_id)
        return run and run.iterations, [it.number async for it in store.iterations(run_id)], events


async def test_nothing_that_was_acknowledged_is_lost_when_the_writer_is_killed(tmp_path):
    path, done = tmp_path / "ralph.db", 0
    for patience in (1, 40, 7, 50, 23):
        writer = Writer(path, "run-1", done + 1, 1_000_000)
        writer.begin()
        heard = [writer.stdout.readline() for _ in range(patience)]
        writer.kill_in_the_midst_of_a_write(Path(f"{path}-wal"))
        acknowledged = int([*heard, *writer.said()][-1])
        iterations, numbers, events = await kept(path, "run-1")
        done = numbers[-1]
        assert done in {acknowledged, acknowledged + 1}
        assert iterations == done
        assert numbers == list(range(1, done + 1))
        assert events == dict.fromkeys(numbers, 50)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.long)])
def place(request, tmp_path):
    """A store that is not there yet."""
    return tmp_path / "new" / "ralph.db" if request.param == "sqlite" else request.getfixturevalue("postgres_url")


@pytest.mark.long
async def test_nothing_is_lost_on_a_server_when_its_client_is_killed(postgres_url):
    done = 0
    for patience in (1, 17, 5):
        writer = Writer(postgres_url, "run-1", done + 1, 1_000_000)
        writer.begin()
        heard = [writer.stdout.readline() for _ in range(patience)]
        writer.process.kill()
        acknowledged = int([*heard, *writer.said()][-1])
        iterations, numbers, events = await kept(postgres_url, "run-1")
        done = numbers[-1]
        assert acknowledged <= done <= acknowledged + 1
        assert iterations == done
        assert numbers == list(range(1, done + 1))
        assert events == dict.fromkeys(numbers, 50)


OPENER = """
import sys, time, anyio
from ralph.errors import StoreError
from ralph.store import open_store

FOLDER, NAME, STORES = sys.argv[1], sys.argv[2], int(sys.argv[3])

async def main():
    async with open_store(f"{FOLDER}/of-{NAME}-alone.db"):
        print("ready", flush=True)
    start = float(sys.stdin.readline())
    for number in range(STORES):
        while time.time() < start + number / 20:
            pass
        try:
            async with open_store(f"{FOLDER}/{number}.db"):
                pass
        except StoreError as error:
            print(error, flush=True)

anyio.run(main)
"""


def opener(folder, name, stores):
    words = (sys.executable, "-c", OPENER, str(folder), name, str(stores))
    return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


@pytest.mark.timeout(120)
@pytest.mark.long
async def test_processes_that_open_a_new_store_at_the_same_moment_all_get_it(tmp_path):
    stores = 40
    openers = [opener(tmp_path, name, stores) for name in "abcd"]
    for each in openers:
        assert each.stdout
        assert each.stdout.readline() == "ready\n"
    start = time.time() + 0.1
    for each in openers:
        assert each.stdin
        each.stdin.write(f"{start}\n")
        each.stdin.flush()
    assert [each.communicate()[0] for each in openers] == [""] * len(openers)
    assert [each.returncode for each in openers] == [0] * len(openers)
    for number in range(stores):
        async with open_store(str(tmp_path / f"{number}.db")) as store:
            assert await store.check() == (0, ())


@pytest.mark.long
@pytest.mark.timeout(120)
async def test_processes_that_share_a_new_store_neither_lose_nor_double_anything(place):
    names = ["a", "b", "c", "d"]
    said = finish([Writer(place, name, 1, 60) for name in names])
    assert said == [[str(number) for number in range(1, 61)]] * len(names)
    for name in names:
        iterations, numbers, events = await kept(place, name)
        assert iterations == 60
        assert numbers == list(range(1, 61))
        assert events == dict.fromkeys(numbers, 50)
    async with open_store(str(place)) as store:
        assert await store.check() == (len(names), ())


@pytest.mark.long
async def test_of_two_writers_of_one_run_one_is_refused(place):
    finish([Writer(place, "run-1", 1, 3)])
    said = finish([Writer(place, "run-1", 4, 60) for _ in range(2)])
    refused = [lines[-1] for lines in said if lines[-1].startswith("refused:")]
    assert len(refused) == 1
    assert "Another process" in refused[0]
    _, numbers, events = await kept(place, "run-1")
    assert numbers == list(range(1, 61))
    assert events == dict.fromkeys(numbers, 50)


TAKER = """
import sys, anyio
from ralph.errors import RunOwnedError
from ralph.store import open_store

async def main():
    async with open_store(sys.argv[1]) as store:
        print("ready", flush=True)
        sys.stdin.readline()
        try:
            await store.acquire("run-1", sys.argv[2])
            print("mine", flush=True)
        except RunOwnedError:
            print("owned", flush=True)

anyio.run(main)
"""


def taker(place, token):
    words = (sys.executable, "-c", TAKER, str(place), token)
    return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


@pytest.mark.long
async def test_of_processes_that_take_a_run_at_once_one_gets_it(place):
    async with open_store(str(place)) as store:
        await store.create(sample_run())
        takers = [taker(place, token) for token in "abcd"]
        for each in takers:
            assert each.stdout
            assert each.stdout.readline() == "ready\n"
        for each in takers:
            assert each.stdin
            each.stdin.write("go\n")
            each.stdin.flush()
        said = [each.communicate()[0] for each in takers]
        assert sorted(said) == ["mine\n", "owned\n", "owned\n", "owned\n"]
        winner = "abcd"[said.index("mine\n")]
        await store.append("run-1", [sample_event(1)], owner=winner)
        with pytest.raises(OwnershipLostError):
            await store.append("run-1", [sample_event(2)], owner="x")
