"""Batches in real processes: killed in the middle and continued, and several at one store."""

import signal
import subprocess
import sys
from collections import Counter
from contextlib import closing
from datetime import UTC, datetime

import pytest

from ralph.loop.ownership import this_process
from ralph.store import database_named
from ralph_grounding.materials import Query
from ralph_grounding.store import open_grounding_store
from ralph_grounding.store.records import GroundingRun, QuerySet

PROCESS = """
import asyncio, sys, uuid
from datetime import UTC, datetime

import anyio

from ralph_grounding.batch import BatchError, BatchResult, run_batch
from ralph_grounding.materials import AIResponse, Query
from ralph_grounding.result import AccuracyResult, AnalysisResult, Scores
from ralph_grounding.settings import BatchSettings
from ralph_grounding.store import open_grounding_store

URL, RUN, COUNT, FAILING = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])

async def analyze(response, query):
    await asyncio.sleep(0.001)
    if int(query.id) < FAILING:
        raise ValueError("provider call failed")
    accuracy = AccuracyResult(score=int(query.id) % 101, tier="poor", similarity=0, calibrated=0)
    return AnalysisResult(
        id=uuid.uuid4().hex, query_id=query.id, ai_provider="p", response=response.response * 500,
        scores=Scores(accuracy=accuracy), analyzed_at=datetime.now(UTC), analyzer_version="1",
    )

async def main():
    queries = [Query(id=str(number), text="?") for number in range(COUNT)]
    responses = [AIResponse(query_id=query.id, response="an answer", provider="p") for query in queries]
    sys.stdin.readline()
    settings = BatchSettings(retry_on_failure=False)
    async with open_grounding_store(URL) as store:
        batch = run_batch(responses, queries, analyze, settings=settings, store=store, run_id=RUN, keep_results=False)
        async for each in batch:
            if isinstance(each, BatchResult):
                print("end", each.total, each.succeeded, each.failed, len(each.errors), each.summary.query_count)
            elif not isinstance(each, BatchError):
                print(each.query_id, each.id, flush=True)

anyio.run(main)
"""


class Batch:
    """A process that says each result after it, and at its end what the batch came to."""

    def __init__(self, url, run_id="run", count=200, failing=10):
        words = [sys.executable, "-c", PROCESS, url, run_id, str(count), str(failing)]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def begin(self):
        assert self.process.stdin
        self.process.stdin.write("go\n")
        self.process.stdin.close()
        return self

    def first(self, count):
        assert self.process.stdout
        return [self.process.stdout.readline() for _ in range(count)]

    def rest(self):
        assert self.process.stdout
        with self.process.stdout:
            said = self.process.stdout.read()
        self.process.wait()
        return [line for line in said.splitlines(keepends=True) if line.endswith("\n")]


async def stored(url, run_id="run"):
    """The run, and the queries and ids of its analyses."""
    async with open_grounding_store(url) as store:
        run = await store.run(run_id)
        assert run is not None
        return run, [(row.query_id, row.id) async for row in store.scores() if row.run_id == run_id]


@pytest.mark.long
@pytest.mark.timeout(120)
async def test_a_batch_that_is_killed_and_continued_loses_and_doubles_nothing(shared_store_url):
    seen = []
    for patience in (1, 40, 17):
        batch = Batch(shared_store_url).begin()
        heard = batch.first(patience)
        batch.process.kill()
        seen += [tuple(line.split()) for line in heard + batch.rest()]
        run, kept = await stored(shared_store_url)
        assert (run.status, run.total, run.completed_at) == ("interrupted", 200, None)
        assert set(seen) <= set(kept)
        assert len(kept) == run.succeeded < 190
        assert max(Counter(query for query, _ in kept).values()) == 1
    *heard, end = Batch(shared_store_url).begin().rest()
    assert end == "end 200 190 10 10 190\n"
    run, kept = await stored(shared_store_url)
    assert {*seen, *(tuple(line.split()) for line in heard)} <= set(kept)
    assert sorted(int(query) for query, _ in kept) == list(range(10, 200))
    assert (run.status, run.total, run.succeeded, run.failed) == ("completed", 200, 190, 10)
    assert run.summary is not None
    assert (run.summary.query_count, run.summary.failed_count) == (190, 10)
    assert run.summary.accuracy.mean == pytest.approx(sum(number % 101 for number in range(10, 200)) / 190)
    async with open_grounding_store(shared_store_url) as store:
        assert sorted(int(error.query_id) for error in await store.failures("run")) == list(range(10))


@pytest.mark.timeout(60)
async def test_a_run_is_running_as_long_as_its_process_lives(shared_store_url):
    batch = Batch(shared_store_url).begin()
    batch.first(1)
    batch.process.send_signal(signal.SIGSTOP)
    run, _ = await stored(shared_store_url)
    assert run.status == "running"
    batch.process.kill()
    batch.rest()
    run, _ = await stored(shared_store_url)
    assert run.status == "interrupted"
    async with open_grounding_store(shared_store_url) as store:
        assert [each.id for each in await store.runs(status="interrupted")] == ["run"]
        assert await store.runs(status="running") == []


@pytest.mark.parametrize(
    ("other", "status"),
    [({}, "interrupted"), ({"host": "elsewhere"}, "running")],
    ids=["this machine was started anew", "another machine"],
)
async def test_a_process_of_another_boot_or_machine(tmp_path, monkeypatch, other, status):
    """On this machine it is gone; of one on another machine nothing can be seen, and the store is believed."""
    owner = this_process().model_copy(update={"machine": "another boot", **other})
    monkeypatch.setattr("ralph_grounding.store.grounding.this_process", lambda: owner)
    path = str(tmp_path / "grounding.db")
    query = Query(id="q", text="?")
    async with open_grounding_store(path) as store:
        now = datetime.now(UTC)
        queries = QuerySet.of([query])
        await store.begin_run(GroundingRun(id="run", query_set_id=queries.id, started_at=now), queries)
    run, _ = await stored(path)
    assert run.status == status


@pytest.mark.long
async def test_a_run_of_a_store_without_owners_stays_as_it_was_kept(shared_store_url):
    """Such as the first version of the tables: it gains what is missing, and its runs can be continued."""
    Batch(shared_store_url, count=3, failing=0).begin().rest()
    with closing(database_named(shared_store_url).connect()) as old, old.begin():
        old.exec_driver_sql("ALTER TABLE grounding_runs DROP COLUMN owner")
        old.exec_driver_sql("UPDATE grounding_schema_version SET version = 1")
        old.exec_driver_sql("UPDATE grounding_runs SET status = 'running'")
    run, kept = await stored(shared_store_url)
    assert (run.status, len(kept)) == ("running", 3)
    assert Batch(shared_store_url, count=3, failing=0).begin().rest() == ["end 3 3 0 0 3\n"]
    run, _ = await stored(shared_store_url)
    assert run.status == "completed"


@pytest.mark.long
@pytest.mark.timeout(120)
async def test_several_processes_open_a_new_store_at_once_and_each_keeps_its_run(shared_store_url):
    batches = [Batch(shared_store_url, name, 40, 3) for name in "ab"]
    for batch in batches:
        batch.begin()
    for name, batch in zip("ab", batches, strict=True):
        *heard, end = batch.rest()
        assert end == "end 40 37 3 3 37\n"
        run, kept = await stored(shared_store_url, name)
        assert {tuple(line.split()) for line in heard} == set(kept)
        assert (run.status, run.succeeded, run.failed) == ("completed", 37, 3)


@pytest.mark.long
@pytest.mark.timeout(120)
async def test_two_processes_at_one_run_keep_nothing_twice(shared_store_url):
    batches = [Batch(shared_store_url, "run", 60, 0).begin() for _ in range(2)]
    ends = [batch.rest()[-1] for batch in batches]
    assert ends == ["end 60 60 0 0 60\n"] * 2
    run, kept = await stored(shared_store_url)
    assert (run.status, run.succeeded) == ("completed", 60)
    assert sorted(int(query) for query, _ in kept) == list(range(60))
