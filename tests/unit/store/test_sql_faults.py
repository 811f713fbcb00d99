"""A store that cannot be used says so in one paragraph that names it, and what was kept stays whole."""

import os
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import anyio
import pytest

from ralph.errors import RecordError, StoreError
from ralph.store import database, open_store
from ralph.store.database import SqliteFile
from ralph.store.sql import SqlStore
from ralph.testing.store_conformance import START, sample_event, sample_iteration, sample_run
from ralph.types.requests import Request


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ralph.db"


async def fill(path, events=0):
    async with open_store(str(path)) as store:
        await store.create(sample_run(), [sample_event(seq, "x" * 500) for seq in range(1, events + 1)])


async def refusal(path):
    """What is said where the store cannot even be opened."""
    with pytest.raises(StoreError) as raised:
        async with open_store(str(path)):
            pytest.fail("it was opened")
    text = str(raised.value)
    assert str(path) in text
    assert raised.value.remedy
    assert "\n" not in text
    return text


def raw(path):
    return closing(sqlite3.connect(path, isolation_level=None))


async def test_a_store_that_another_process_keeps_locked(path, monkeypatch):
    monkeypatch.setattr(database, "PATIENCE", 0.05)
    async with open_store(str(path)) as store:
        await store.create(sample_run())
        with raw(path) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreError, match="another process") as raised:
                await store.append("run-1", [sample_event(1)])
            assert await store.last_seq("run-1") == 0, "reading goes on"
            other.execute("ROLLBACK")
        assert str(path) in str(raised.value)
        await store.append("run-1", [sample_event(1)])
        assert await store.last_seq("run-1") == 1


async def test_opening_a_new_store_waits_for_whoever_is_at_work_on_the_file(path):
    with raw(path) as other:
        other.execute("BEGIN IMMEDIATE")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(fill, path)
            await anyio.sleep(0.2)
            other.execute("ROLLBACK")
    async with open_store(str(path)) as store:
        assert await store.run("run-1") == sample_run()


async def test_opening_a_new_store_does_not_wait_for_ever(path, monkeypatch):
    monkeypatch.setattr(database, "BUSY_TIMEOUT", 0.05)
    with raw(path) as other:
        other.execute("BEGIN IMMEDIATE")
        assert "another process" in await refusal(path)
        other.execute("ROLLBACK")
    await fill(path)


async def test_a_run_waits_longer_for_another_process_than_its_beginning(path, monkeypatch):
    monkeypatch.setattr(database, "BUSY_TIMEOUT", 0.05)
    async with open_store(str(path)) as store, anyio.create_task_group() as tasks:
        await store.create(sample_run())
        with raw(path) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreError, match="another process"):
                await store.create(sample_run("run-2"))
            tasks.start_soon(store.append, "run-1", [sample_event(1)])
            await anyio.sleep(0.2)
            other.execute("ROLLBACK")
    async with open_store(str(path)) as store:
        assert await store.last_seq("run-1") == 1


@pytest.mark.parametrize("then", ["gone", "replaced"])
async def test_what_would_go_to_a_file_without_a_name_is_refused(path, then):
    async with open_store(str(path)) as store:
        await store.create(sample_run())
        path.rename(path.with_suffix(".moved"))
        if then == "replaced":
            path.write_bytes(path.with_suffix(".moved").read_bytes())
        with pytest.raises(StoreError, match="removed or replaced") as raised:
            await store.append("run-1", [sample_event(1)])
        assert str(path) in str(raised.value)


async def test_a_file_that_is_locked_while_it_is_opened(path, monkeypatch):
    monkeypatch.setattr(database, "BUSY_TIMEOUT", 0.05)
    with raw(path) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert "another process" in await refusal(path)
    await fill(path)


async def test_a_wait_for_another_process_can_be_cancelled(path):
    async with open_store(str(path)) as store:
        await store.create(sample_run())
        with raw(path) as other:
            other.execute("BEGIN IMMEDIATE")
            with anyio.move_on_after(0.05) as scope:
                await store.append("run-1", [sample_event(1)])
            assert scope.cancelled_caught
            other.execute("ROLLBACK")
        last = await store.last_seq("run-1")
        await store.append("run-1", [sample_event(last + 1)])
        assert await store.last_seq("run-1") == last + 1


async def test_leaving_while_cancelled_closes_the_file(path):
    store = open_store(str(path))
    with anyio.CancelScope() as scope:
        async with store:
            await store.create(sample_run())
            scope.cancel()
            await anyio.sleep_forever()
    assert [file.name for file in path.parent.iterdir()] == [path.name], "the last one out leaves no log behind"
    with pytest.raises(RuntimeError, match="async with"):
        await store.runs()


async def test_a_store_can_be_entered_again(path):
    store = open_store(str(path))
    async with store:
        await store.create(sample_run())
    async with store:
        assert await store.run("run-1") == sample_run()


@pytest.mark.parametrize("kind", ["folder", "fifo", "device"])
async def test_what_is_no_file(path, kind):
    if kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/null")
    assert "it is not a file" in await refusal(path)


async def test_a_file_of_something_else_is_left_as_it_is(path):
    path.write_text("Dear diary, this is no database. " * 50)
    before = path.read_bytes()
    assert "not an SQLite database" in await refusal(path)
    assert path.read_bytes() == before


async def test_a_database_of_something_else_is_left_as_it_is(path):
    with raw(path) as other:
        other.execute("CREATE TABLE bookmarks (url TEXT)")
    before = path.read_bytes()
    assert "not one that Ralph made" in await refusal(path)
    assert path.read_bytes() == before


async def test_an_empty_file_becomes_a_store(path):
    path.touch()
    await fill(path)
    async with open_store(str(path)) as store:
        assert await store.run("run-1") == sample_run()


async def test_a_damaged_file(path):
    await fill(path, events=2000)
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(8192)
        file.write(b"\xa5" * (size - 8192))
    with pytest.raises(StoreError, match="damaged") as raised:
        async with open_store(str(path)) as store:
            _ = [event async for event in store.events("run-1")]
    assert str(path) in str(raised.value)
    assert not raised.value.passing, "no run waits for that"


async def test_damage_beside_the_records_is_found_by_a_check(path):
    await fill(path)
    with path.open("r+b") as file:
        file.seek(36)  # the number of free pages, in the file's header
        file.write(b"\0\0\0\7")
    async with open_store(str(path)) as store:
        health = await store.check()
    assert any("The file is damaged" in problem for problem in health.problems)


async def test_a_folder_that_cannot_be_made(path):
    path.write_text("a file, not a folder")
    assert "Not a directory" in await refusal(path / "folder" / "ralph.db")


async def test_a_full_disk_keeps_what_was_there(path):
    class Small(SqliteFile):
        def connect(self):
            connection = super().connect()
            with connection.begin():
                connection.exec_driver_sql("PRAGMA max_page_count = 40")
            return connection

    async with SqlStore(Small(path)) as store:
        await store.create(sample_run())
        said, kept = None, 0
        while not said:
            event, iteration = sample_event(kept + 1, "x" * 9000), sample_iteration(kept + 1, "x" * 9000)
            try:
                await store.append("run-1", [event], iteration=iteration)
                kept += 1
            except StoreError as error:
                said = error
        assert "the disk is full" in str(said)
        assert str(path) in str(said)
        assert said.passing, "it may be asked again when there is room"
        assert kept > 0
        assert await store.last_seq("run-1") == kept
        assert [it.number async for it in store.iterations("run-1")] == list(range(1, kept + 1))
    async with open_store(str(path)) as store:
        await store.append("run-1", [sample_event(kept + 1)])


FILLED = """
import resource, sys, anyio
from pathlib import Path
from ralph.errors import StoreError
from ralph.store import open_store
from ralph.testing.store_conformance import sample_event, sample_iteration

async def main():
    async with open_store(sys.argv[1]) as store:
        limit = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, limit[1]))
        for number in range(1, 1000):
            given = {"events": [sample_event(number, "x" * 9000)], "iteration": sample_iteration(number)}
            try:
                await store.append("run-1", **given)
            except StoreError as error:
                print(number, error.passing, error)
                break
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        await store.append("run-1", **given)

anyio.run(main)
"""


async def test_a_disk_that_really_takes_no_more_loses_nothing_and_is_written_on_when_it_does(path):
    """The system's limit on the size of a file is what a full disk or a quota is to the database: a failed write."""
    await fill(path)
    words = (sys.executable, "-c", FILLED, str(path))
    done = await anyio.run_process(words)
    number, passing, said = done.stdout.decode().split(" ", 2)
    assert int(number) > 5
    assert passing == "True"
    assert "full" in said
    assert str(path) in said
    async with open_store(str(path)) as store:
        assert await store.check() == (1, ())
        assert await store.last_seq("run-1") == await store.last_iteration("run-1") == int(number)


async def test_a_file_that_may_not_be_written_any_more_loses_nothing_and_is_written_on_when_it_may(path):
    async with SqlStore(SqliteFile(path)) as store:
        await store.create(sample_run())
        await store.append("run-1", [sample_event(1)])
        assert store._tables
        database = store._tables.connection
        with database.begin():
            database.exec_driver_sql("PRAGMA query_only = ON")
        for _ in range(2):
            with pytest.raises(StoreError, match="it cannot be written") as raised:
                await store.append("run-1", [sample_event(2)])
            assert raised.value.passing
        with database.begin():
            database.exec_driver_sql("PRAGMA query_only = OFF")
        await store.append("run-1", [sample_event(2)])
        assert await store.last_seq("run-1") == 2


AS_NOBODY = """
import os, sys, anyio
from ralph.store import open_store
from ralph.testing.store_conformance import sample_event
from ralph.errors import StoreError
import ralph.store.sql, ralph.store.database

async def main():
    async with open_store(sys.argv[1]) as store:
        await store.append("run-1", [sample_event(1)])

if os.geteuid() == 0:
    os.setegid(65534)
    os.seteuid(65534)
try:
    anyio.run(main)
except StoreError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("folder_mode", "file_mode", "problem"),
    [(0o555, 0o444, "cannot be"), (0o777, 0o444, "cannot be written"), (0o000, 0o444, "ermission denied")],
)
def test_a_store_that_may_not_be_written(folder_mode, file_mode, problem):
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        inner = Path(folder, "inner")
        path = inner / "ralph.db"
        anyio.run(fill, path)
        path.chmod(file_mode)
        inner.chmod(folder_mode)
        done = subprocess.run([sys.executable, "-c", AS_NOBODY, path], capture_output=True, text=True, check=False)
        inner.chmod(0o755)
    assert problem in done.stdout, done.stderr
    assert str(path) in done.stdout
    assert len(done.stdout.splitlines()) == 1


async def test_what_another_version_kept(path):
    await fill(path, events=1)
    with raw(path) as other:
        body = '{"type": "dreamt", "of": "sheep"}'
        other.execute("INSERT INTO events VALUES ('run-1', 2, 'dreamt', 1, ?, NULL)", (body,))
        other.execute("UPDATE events SET body = json_set(body, '$.mood', 'calm') WHERE seq = 1")
    async with open_store(str(path)) as store:
        await store.append("run-1", [sample_event(3)])
        assert [event.seq async for event in store.events("run-1")] == [1, 3], "unknown types are passed over"


@pytest.mark.parametrize("text", ["{", "{}", "null", '{"id": "run-1", "started_at": "yesterday"}', "\x00"])
async def test_a_record_that_cannot_be_read_back_is_named(path, text):
    await fill(path, events=1)
    async with open_store(str(path)) as store:
        await store.append("run-1", [], iteration=sample_iteration(1))
        with raw(path) as other:
            other.execute("UPDATE runs SET record = ?", (text,))
            other.execute("UPDATE iterations SET record = ?", (text,))
            other.execute("UPDATE events SET body = ?", (text,))
        with pytest.raises(RecordError, match="record of run run-1"):
            await store.run("run-1")
        await store.create(sample_run("run-2"))
        assert [run.id for run in await store.runs(limit=1)] == ["run-2"]
        assert [run.id for run in await store.runs()] == ["run-2"]
        [problem] = store.unreadable
        assert "record of run run-1 cannot be read back" in problem
        with pytest.raises(RecordError, match="iteration 1 of run run-1"):
            _ = [it async for it in store.iterations("run-1")]
        with pytest.raises(RecordError, match="Event 1 of run run-1"):
            _ = [event async for event in store.events("run-1")]


CHANGES = {
    "UPDATE runs SET record = replace(record, 'mend', 'rend')": "The record of run run-1",
    "UPDATE runs SET state = 'paused'": "The record of run run-1",
    "UPDATE iterations SET record = replace(record, '2026', '2025') WHERE number = 2": "Iteration 2 of run run-1",
    "UPDATE events SET body = replace(body, 'xxx', 'xyx') WHERE seq = 3": "Event 3 of run run-1",
    "UPDATE events SET type = 'told' WHERE seq = 3": "Event 3 of run run-1",
    "UPDATE requests SET body = replace(body, 'pause', 'pausf')": "Message 1 to run run-1",
    "UPDATE traces SET body = body || ' ' WHERE number = 1": "The trace of iteration 1 of run run-1",
}


async def test_a_changed_byte_of_any_row_is_found(path, subtests):
    await fill(path, events=4)
    async with open_store(str(path)) as store:
        for number in (1, 2):
            await store.append("run-1", [], iteration=sample_iteration(number), run=sample_run())
        await store.ask("run-1", Request(at=START, kind="pause"))
        assert await store.check() == (1, ())
        for change, name in CHANGES.items():
            with raw(path) as other, subtests.test(change=change):
                other.execute("BEGIN")
                assert other.execute(change).rowcount == 1
                kept = other.execute("SELECT count(*) FROM runs WHERE checksum IS NOT NULL").fetchone()
                assert kept == (1,)
                other.execute("COMMIT")
                found = f"{name} was changed after it was written: its checksum does not match."
                assert found in (await store.check()).problems


async def test_a_run_that_an_older_ralph_wrote_beside_a_checksum_is_no_damage(path):
    """A Ralph from before checksums that still had the store open writes runs again, and leaves the old checksum."""
    await fill(path)
    async with open_store(str(path)) as store:
        with raw(path) as other:
            other.execute("UPDATE runs SET record = json_remove(record, '$.pruned'), state = 'paused'")
            assert await store.check() == (1, ())
            other.execute("UPDATE runs SET record = replace(record, '\"masked\"', '\"maskee\"')")
            assert len((await store.check()).problems) == 1


NO_TEXT = "CAST(x'7bff7d' AS TEXT)"


DAMAGES = {
    ("runs", "workspace"): "The record of run run-1",
    ("runs", "record"): "The record of run run-1",
    ("iterations", "number"): "run-1 has 1 iterations",
    ("iterations", "record"): "Iteration 1 of run run-1",
    ("events", "seq"): "run-1 has 4 events",
    ("events", "type"): "Event 1 of run run-1",
    ("events", "body"): "Event 1 of run run-1",
}


@pytest.mark.parametrize("value", [NO_TEXT, "x'7bff7d'", "5", "1e300", "''", "'abc'"])
async def test_a_damaged_row_is_named_and_the_others_are_checked(tmp_path, subtests, value):
    for (table, column), name in DAMAGES.items():
        path = tmp_path / f"{table}-{column}.db"
        await fill(path, events=4)
        async with open_store(str(path)) as store:
            await store.append("run-1", [], iteration=sample_iteration(1))
        with raw(path) as other:
            where = "seq = 1" if table == "events" else "TRUE"
            assert other.execute(f"UPDATE {table} SET {column} = {value} WHERE {where}").rowcount == 1
            other.execute("UPDATE events SET iteration = 9 WHERE seq = 3")
        with subtests.test(table=table, column=column), anyio.fail_after(10):
            async with open_store(str(path)) as store:
                problems = (await store.check()).problems
            assert any(name in each for each in problems), problems
            assert any("Event 3 of run run-1" in each for each in problems), problems


async def test_an_iteration_in_the_place_of_another_is_an_error_and_not_read_for_ever(path):
    await fill(path)
    async with open_store(str(path)) as store:
        await store.append("run-1", [], iteration=sample_iteration(1))
        with raw(path) as other:
            assert other.execute("UPDATE iterations SET number = 7").rowcount == 1
        with anyio.fail_after(10):
            with pytest.raises(RecordError, match="iteration 7 of run run-1 is that of iteration 1"):
                [each async for each in store.iterations("run-1")]
            with pytest.raises(RecordError, match="is that of iteration 1"):
                await store.traces("run-1")
