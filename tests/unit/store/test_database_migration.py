"""A file that an earlier version of the schema was written to is taken along, with all that is in it."""

import json
import sqlite3
from contextlib import closing

import anyio
import pytest

from ralph.errors import OwnershipLostError
from ralph.records.events import MessageReceived
from ralph.records.record import RunState
from ralph.store import open_store
from ralph.testing.store_conformance import START, sample_event, sample_iteration
from ralph.types.requests import Request

FIRST = """
CREATE TABLE runs (
    id TEXT NOT NULL, workspace TEXT, started_at TEXT NOT NULL, state TEXT NOT NULL, record TEXT NOT NULL,
    PRIMARY KEY (id)
);
CREATE INDEX runs_by_start ON runs (started_at);
CREATE INDEX runs_by_workspace ON runs (workspace, started_at);
CREATE TABLE iterations (
    run_id TEXT NOT NULL, number INTEGER NOT NULL, record TEXT NOT NULL,
    PRIMARY KEY (run_id, number), FOREIGN KEY(run_id) REFERENCES runs (id)
);
CREATE TABLE events (
    run_id TEXT NOT NULL, seq INTEGER NOT NULL, type TEXT NOT NULL, iteration INTEGER NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (run_id, seq), FOREIGN KEY(run_id) REFERENCES runs (id)
);
CREATE TABLE schema_version (version INTEGER NOT NULL);
INSERT INTO schema_version VALUES (1);
"""
SECOND = """
CREATE TABLE traces (
    run_id TEXT NOT NULL, number INTEGER NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (run_id, number), FOREIGN KEY(run_id) REFERENCES runs (id)
) WITHOUT ROWID;
CREATE TABLE owners (
    run_id TEXT NOT NULL, token TEXT NOT NULL, until DOUBLE NOT NULL,
    PRIMARY KEY (run_id), FOREIGN KEY(run_id) REFERENCES runs (id)
) WITHOUT ROWID;
CREATE TABLE requests (
    run_id TEXT NOT NULL, seq INTEGER NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (run_id, seq), FOREIGN KEY(run_id) REFERENCES runs (id)
) WITHOUT ROWID;
INSERT INTO owners SELECT id, '', 0.0 FROM runs;
UPDATE schema_version SET version = 2;
"""
RUN = {"id": "old", "task": "mend it", "workspace": "/work", "started_at": "2026-01-02T03:04:05Z", "pid": 4711}
ITERATION = {
    "run_id": "old",
    "started_at": "2026-01-02T03:04:05Z",
    "finished_at": "2026-01-02T03:05:05Z",
    "executor": "copilot",
    "outcome": {"kind": "completed"},
    "decision": {"kind": "continue"},
}
EVENT = {"type": "message_received", "run_id": "old", "at": "2026-01-02T03:04:06Z", "iteration": 1, "text": "hello"}


@pytest.fixture(params=[1, 2])
def path(tmp_path, request):
    """Three iterations and two events of one run, as the schema of that version kept them."""
    path = tmp_path / "ralph.db"
    with closing(sqlite3.connect(path)) as old:
        old.executescript(FIRST)
        old.execute("PRAGMA journal_mode = WAL")
        start = "2026-01-02T03:04:05.000000+00:00"
        old.execute("INSERT INTO runs VALUES ('old', '/work', ?, 'running', ?)", (start, json.dumps(RUN)))
        for number in range(1, 4):
            record = {**ITERATION, "number": number, "text": f"words {number}"}
            old.execute("INSERT INTO iterations VALUES ('old', ?, ?)", (number, json.dumps(record)))
        for seq in range(1, 3):
            body = json.dumps({**EVENT, "seq": seq})
            old.execute("INSERT INTO events VALUES ('old', ?, 'message_received', 1, ?)", (seq, body))
        if request.param == 2:
            old.executescript(SECOND)
        old.commit()
    return path


def shape(path):
    """Tables and indices, by their columns."""
    with closing(sqlite3.connect(path)) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master ORDER BY name")]
        return {
            name: (
                connection.execute(f"PRAGMA table_xinfo({name})").fetchall(),
                connection.execute(f"PRAGMA index_xinfo({name})").fetchall(),
                connection.execute(f"PRAGMA foreign_key_list({name})").fetchall(),
            )
            for name in names
        }


async def test_everything_is_there_and_the_run_goes_on(path):
    async with open_store(str(path)) as store:
        run = await store.run("old")
        assert run is not None
        assert run.pid == 4711
        texts = [event.text async for event in store.events("old") if isinstance(event, MessageReceived)]
        assert texts == ["hello", "hello"]
        iterations = [it async for it in store.iterations("old")]
        assert [it.text for it in iterations] == ["words 1", "words 2", "words 3"]
        assert await store.state(run) == RunState.of(run, iterations), "the fold, of iterations without traces"
        assert await store.check() == (1, ())

        await store.acquire("old", "me")
        await store.append("old", [sample_event(3, run_id="old")], iteration=sample_iteration(4), owner="me")
        with pytest.raises(OwnershipLostError):
            await store.append("old", [sample_event(4, run_id="old")], owner="you")
        assert await store.ask("old", Request(at=START, kind="pause")) == 1
        iterations = [it async for it in store.iterations("old")]
        assert await store.state(run) == RunState.of(run, iterations), "with one trace after three without"


async def test_of_those_that_open_it_at_once_one_takes_it_along(path):
    seen: list[int] = []

    async def look():
        async with open_store(str(path)) as store:
            seen.append(await store.last_iteration("old"))

    async with anyio.create_task_group() as tasks:
        for _ in range(8):
            tasks.start_soon(look)
    assert seen == [3] * 8
    async with open_store(str(path)) as store:
        assert await store.check() == (1, ())


async def test_it_is_like_a_new_one_afterwards(path, tmp_path):
    for each in (path, tmp_path / "new.db"):
        async with open_store(str(each)):
            pass
    assert shape(path) == shape(tmp_path / "new.db")


async def test_traces_that_another_version_wrote_are_made_anew(path):
    async with open_store(str(path)) as store:
        for number in (4, 5):
            await store.append("old", [], iteration=sample_iteration(number, run_id="old"))
        run = await store.run("old")
        assert run
        before = await store.state(run)
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("UPDATE traces SET body = '{\"of_the_future\": 1}' WHERE number = 4")
        assert await store.state(run) == before


async def test_a_run_that_an_older_version_makes_meanwhile_is_taken_on(path):
    async with open_store(str(path)) as store:
        with closing(sqlite3.connect(path, isolation_level=None)) as old:
            record = json.dumps({**RUN, "id": "late"})
            old.execute(
                "INSERT INTO runs (id, workspace, started_at, state, record) VALUES (?, '/work', '2026', 'running', ?)",
                ("late", record),
            )
        await store.append("late", [sample_event(1, run_id="late")])
        await store.acquire("late", "me")
        await store.append("late", [sample_event(2, run_id="late")], owner="me")
        assert await store.check() == (2, ())
