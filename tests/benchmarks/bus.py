"""What those who watch a run cost the run, and how soon they see what happens; prints JSON.

`uv run python tests/benchmarks/bus.py [ITERATIONS]`. `unread_viewer_ratio`: two runs with stores of their own take
turns in one process, iteration by iteration; one of them has viewers that never read, `ralph logs -f` into a pipe that
no one empties and a `Store.follow` that is left after its first event. The figure compares the times that a quarter of
the iterations stay below, as what else the machine does can only delay an iteration. Halfway the runs swap their roles,
so that neither store's place on the disk counts.

`follow_lag_s`: the longest time from an append to its event in a follower that waits for it, of a hundred.

`sse_lag_s`, `sse_memory_mb`: a run has fifty events a second for ten seconds, and a hundred connections of `ralph
serve` show it; the longest time from an append to the event in any of them, and the most memory of the server.

`first_paint_s`: the time until Chromium has painted the page of a run of 10,000 iterations, the longest of three; None
without Chromium.
"""

import json
import runpy
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import geometric_mean, quantiles
from time import perf_counter
from typing import IO, cast

import anyio
import httpx
import psutil
from loop_overhead import Instant

from ralph.decision.breaker import BreakerSettings, CircuitBreaker
from ralph.decision.limits import Limits
from ralph.executors.base import Turn
from ralph.hooks import Hooks
from ralph.loop.runner import Runner
from ralph.prompt import Prompt
from ralph.store import open_store
from ralph.testing.store_conformance import sample_event, sample_run
from ralph.types.output import Output

EVENTS = 10
WARM_UP = 20
VIEWERS, RATE, SENT = 100, 50, 500
PAINTED = "performance.getEntriesByName('first-contentful-paint').map((paint) => paint.startTime)"

LEFT = """
import sys, anyio
from ralph.store import open_store

async def main():
    async with open_store(sys.argv[1]) as store:
        async for event in store.follow(sys.argv[2]):
            print(event.seq, flush=True)
            await anyio.sleep_forever()

anyio.run(main)
"""


class Turns:
    """Lets two runs do an iteration each, one after the other, from `begin` on."""

    def __init__(self) -> None:
        self.waiting: list[anyio.Event] = []
        self.alone = 2  # until then, none goes on

    async def wait(self) -> None:
        mine = anyio.Event()
        self.waiting.append(mine)
        if len(self.waiting) > self.alone:
            self.waiting.pop(0).set()
        await mine.wait()

    def begin(self) -> None:
        self.alone = 1
        self.waiting.pop(0).set()

    def end(self) -> None:
        """Let the other run go on by itself."""
        self.alone = 0
        while self.waiting:
            self.waiting.pop(0).set()


class InTurns(Instant):
    """An agent that answers at once when it is its turn."""

    def __init__(self, turns: Turns) -> None:
        super().__init__(lambda _: 0.0, EVENTS)
        self.turns = turns
        self.begun = anyio.Event()

    async def execute(self, prompt: Prompt, turn: Turn) -> Output:
        if self._left:
            self.iterations.append(perf_counter() - self._left)
        self._left = 0.0
        self.begun.set()
        await self.turns.wait()
        return await super().execute(prompt, turn)


@contextmanager
def viewers(store: Path, run_id: str) -> Generator[None]:
    """Two viewers of a run that never read."""
    logs = (sys.executable, "-m", "ralph", "logs", "-f", run_id, "--json", "--store", str(store))
    left = (sys.executable, "-c", LEFT, str(store), run_id)
    with (
        subprocess.Popen(logs, stdout=subprocess.PIPE) as first,
        subprocess.Popen(left, stdout=subprocess.PIPE) as other,
    ):
        try:
            assert first.stdout
            assert other.stdout
            first.stdout.read(1)
            other.stdout.readline()
            yield
        finally:
            assert first.poll() is None, "the viewer has ended"
            assert other.poll() is None, "the viewer has ended"
            first.kill()
            other.kill()


async def run(store: Path, executor: InTurns, iterations: int, hooks: Sequence[Hooks] = ()) -> None:
    runner = Runner(
        executor=executor,
        store=open_store(str(store)),
        breaker=CircuitBreaker(BreakerSettings(no_progress=1000, same_error=1000)),
        limits=Limits(max_iterations=iterations),
        hooks=hooks,
    )
    async with runner:
        record = await runner.run("Read the whole grammar.")
    assert record.iterations == iterations, record.detail
    executor.turns.end()


async def ratio(folder: Path, iterations: int, *, first: bool) -> float:
    """Return the ratio of the iterations of a run that is watched to those of another run beside it.

    Args:
        first: the run that began first is the one that is watched.
    """
    turns = Turns()
    runs = [(folder / f"{name}.db", InTurns(turns)) for name in ("one", "two")]
    (store, watched), (_, alone) = runs if first else runs[::-1]
    with ExitStack() as watching:
        async with anyio.create_task_group() as tasks:
            for each in runs:
                tasks.start_soon(run, *each, iterations)
                await each[1].begun.wait()
            async with open_store(str(store)) as opened:
                run_id = (await opened.runs())[0].id
            await anyio.to_thread.run_sync(watching.enter_context, viewers(store, run_id))
            turns.begin()
    quarter, other = (quantiles(each.iterations[WARM_UP:], n=4)[0] for each in (watched, alone))
    return quarter / other


async def lag(folder: Path) -> float:
    """Return the longest time from an append to its event in a follower."""
    begun: list[float] = []
    lags: list[float] = []

    async def follow() -> None:
        async for _ in store.follow("run-1"):
            lags.append(perf_counter() - begun[len(lags)])

    async with open_store(str(folder / "lag.db")) as store, anyio.create_task_group() as tasks:
        await store.create(sample_run())
        tasks.start_soon(follow)
        for seq in range(1, 101):
            await anyio.sleep(0.13)
            begun.append(perf_counter())
            await store.append("run-1", [sample_event(seq)])
        while len(lags) < len(begun):  # noqa: ASYNC110 - it ends, or the benchmark is stopped
            await anyio.sleep(0.1)
        tasks.cancel_scope.cancel()
    return max(lags)


@contextmanager
def served(store: Path) -> Generator[tuple[str, psutil.Process]]:
    """Serve a store; yield the address with the token, and the server."""
    words = (sys.executable, "-m", "ralph", "serve", "--port", "0", "--store", str(store))
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        try:
            yield cast("IO[str]", server.stdout).readline().split()[-1], psutil.Process(server.pid)
        finally:
            server.terminate()


async def view(port: int, token: str, seen: dict[int, float]) -> None:
    """Read the live events of a run until the last one; note for each when it has come."""
    stream = await anyio.connect_tcp("127.0.0.1", port)
    asked = f"GET /runs/run-1/live HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n\r\n"
    await stream.send(asked.encode())
    reached, rest = 0, b""
    while reached < SENT:
        *lines, rest = (rest + await stream.receive()).split(b"\n")
        for line in lines:
            if line.startswith(b"id: "):
                last = int(line[4:])
                now = perf_counter()
                seen.update((seq, now) for seq in range(reached + 1, last + 1))
                reached = last
    await stream.aclose()


async def sse(folder: Path) -> tuple[float, float]:
    """Return the longest time from an append to its event in any of the viewers, and the server's memory in MB."""
    path = folder / "sse.db"
    appended: dict[int, float] = {}
    seen: list[dict[int, float]] = [{} for _ in range(VIEWERS)]
    async with open_store(str(path)) as store:
        await store.create(sample_run())
        with served(path) as (address, server):
            url = httpx.URL(address)
            memory = 0.0
            async with anyio.create_task_group() as tasks:
                for each in seen:
                    tasks.start_soon(view, url.port or 0, url.params["token"], each)
                await anyio.sleep(3)
                start = perf_counter()
                for seq in range(1, SENT + 1):
                    await anyio.sleep(max(0.0, start + seq / RATE - perf_counter()))
                    await store.append("run-1", [sample_event(seq)])
                    appended[seq] = perf_counter()
                    if seq % RATE == 0:
                        memory = max(memory, server.memory_info().rss / 1e6)
    return max(each[seq] - at for each in seen for seq, at in appended.items()), memory


def first_paint(folder: Path) -> float | None:
    """Return the time until the page of a long run is painted, in seconds."""
    program = shutil.which("chromium")
    if program is None:
        return None
    from playwright.sync_api import sync_playwright

    path = folder / "long.db"
    made = runpy.run_path(str(Path(__file__).parents[1] / "acceptance" / "long_run.py"))
    run = anyio.run(made["long_run"], path)
    with served(path) as (address, _), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(address)
        times: list[float] = []
        for _ in range(3):
            page.goto(f"{address.partition('/login')[0]}/runs/{run.id}")
            while not (painted := page.evaluate(PAINTED)):
                page.wait_for_timeout(50)
            times.append(painted[0] / 1000)
        browser.close()
    return round(max(times), 3)


async def measure(iterations: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ratios: list[float] = []
        for first in (True, False):
            place = folder / str(first)
            place.mkdir()
            ratios.append(await ratio(place, iterations, first=first))
        longest, memory = await sse(folder)
        return {
            "unread_viewer_ratio": round(geometric_mean(ratios), 4),
            "follow_lag_s": round(await lag(folder), 3),
            "sse_lag_s": round(longest, 3),
            "sse_memory_mb": round(memory, 1),
        }


def main(iterations: int = 600) -> None:
    """Measure everything."""
    figures: dict[str, float | None] = {**anyio.run(measure, iterations)}
    with tempfile.TemporaryDirectory() as name:
        print(json.dumps({**figures, "first_paint_s": first_paint(Path(name))}))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
