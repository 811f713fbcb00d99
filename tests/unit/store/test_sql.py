"""What a store in a file promises beyond what every store does: migration, bounded memory, the schema of old files."""

import sqlite3
import tracemalloc
from contextlib import closing
from sqlite3 import dbapi2

import pytest
from sqlalchemy import text
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateTable

from ralph.errors import StoreError
from ralph.records.events import MessageReceived
from ralph.store import open_store, schema, tables
from ralph.store.database import SqliteFile
from ralph.testing.store_conformance import sample_event, sample_iteration, sample_run


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ralph.db"


def ask(path, question):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(question).fetchall()


async def test_it_is_durable_and_lets_others_read_meanwhile(path):
    async with open_store(str(path)):
        assert ask(path, "PRAGMA journal_mode") == [("wal",)]


async def test_it_is_durable_also_with_an_sqlite_that_is_built_to_be_faster(path, monkeypatch):
    def connected(*given, **more):
        connection = connect(*given, **more)
        connection.execute("PRAGMA synchronous = NORMAL")
        return connection

    connect = dbapi2.connect
    monkeypatch.setattr(dbapi2, "connect", connected)
    with SqliteFile(path).connect() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2, "FULL"
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1


async def test_a_store_of_an_older_version_is_taken_along(path, monkeypatch):
    async with open_store(str(path)) as store:
        await store.create(sample_run())

    def add_notes(connection):
        connection.execute(text("CREATE TABLE notes (run_id TEXT, note TEXT)"))

    longer = schema.MIGRATION._replace(steps=(*schema.MIGRATION.steps, add_notes))
    monkeypatch.setattr(schema, "MIGRATION", longer)
    for _ in range(2):
        async with open_store(str(path)) as store:
            assert await store.run("run-1") == sample_run()
    assert ask(path, "SELECT version FROM schema_version") == [(len(schema.MIGRATION.steps),)]
    assert ask(path, "SELECT count(*) FROM notes") == [(0,)]


async def test_a_step_that_fails_leaves_the_older_version_whole(path, monkeypatch):
    async with open_store(str(path)):
        pass

    def fail(connection):
        connection.execute(text("CREATE TABLE notes (run_id TEXT)"))
        connection.execute(text("CREATE TABLE runs (run_id TEXT)"))

    with monkeypatch.context() as patched:
        patched.setattr(schema, "MIGRATION", schema.MIGRATION._replace(steps=(*schema.MIGRATION.steps, fail)))
        with pytest.raises(StoreError, match="already exists"):
            await open_store(str(path)).__aenter__()
    assert ask(path, "SELECT version FROM schema_version") == [(len(schema.MIGRATION.steps),)]
    assert ask(path, "SELECT name FROM sqlite_master WHERE name = 'notes'") == []
    async with open_store(str(path)):
        pass


async def test_a_store_of_a_newer_version_is_left_alone(path):
    async with open_store(str(path)):
        pass
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE schema_version SET version = 70")
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"newer Ralph.*version 70.*Upgrade Ralph"):
        await open_store(str(path)).__aenter__()
    assert path.read_bytes() == before


def test_the_tables_can_be_made_elsewhere():
    for table in (schema.runs, schema.iterations, schema.events):
        assert "JSON" not in str(CreateTable(table).compile(dialect=postgresql.dialect()))


async def test_pages_end_by_rows_and_by_size_and_nothing_is_lost_between_them(path, monkeypatch):
    monkeypatch.setattr(tables, "PAGE_ROWS", 3)
    monkeypatch.setattr(tables, "PAGE_CHARACTERS", 1000)
    sizes = [10, 10, 10, 10, 5000, 900, 10, 5000, 10, 10]
    async with open_store(str(path)) as store:
        await store.create(sample_run(), [sample_event(seq, "x" * size) for seq, size in enumerate(sizes, 1)])
        for number, size in enumerate(sizes, 1):
            await store.append("run-1", [], iteration=sample_iteration(number, "x" * size))
        messages = (event async for event in store.events("run-1") if isinstance(event, MessageReceived))
        assert [len(event.text) async for event in messages] == sizes
        assert [len(it.text) async for it in store.iterations("run-1")] == sizes


async def test_reading_a_long_run_takes_no_more_memory_than_a_page(path):
    async with open_store(str(path)) as store:
        await store.create(sample_run())
        for first in range(1, 301, 10):
            events = [sample_event(seq, "x" * 100_000) for seq in range(first, first + 10)]
            await store.append("run-1", events, iteration=sample_iteration(first, "x" * 1_000_000))
        tracemalloc.start()
        try:
            assert len([event.seq async for event in store.events("run-1")]) == 300
            assert len([it.number async for it in store.iterations("run-1")]) == 30
            assert [run.id for run in await store.runs()] == ["run-1"]
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert peak < 8_000_000, "of 60 MB"


async def test_appending_takes_no_memory_that_stays(path):
    async def append(numbers):
        for number in numbers:
            events = [sample_event(number * 10 + step, "x" * 100) for step in range(10)]
            await store.append("run-1", events, iteration=sample_iteration(number), run=sample_run())

    async with open_store(str(path)) as store:
        await store.create(sample_run())
        await append(range(1, 100))
        tracemalloc.start()
        try:
            await append(range(100, 200))
            before, _ = tracemalloc.get_traced_memory()
            await append(range(200, 500))
            after, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert after - before < 100_000
