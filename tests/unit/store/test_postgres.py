"""What a store on a PostgreSQL server promises beyond what every store does: a lost connection, its URL, its schema."""

import asyncio
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
import psycopg
import pytest
from psycopg import sql
from sqlalchemy import make_url

import ralph.store.sql
from ralph.decision.limits import Limits
from ralph.errors import OwnershipLostError, RunOwnedError, StoreError, StoreUnusableError, UsageError
from ralph.executors.base import Turn
from ralph.loop.runner import Runner
from ralph.prompt import Prompt
from ralph.store import open_store, postgres
from ralph.store.sql import SqlStore
from ralph.testing import ScriptedExecutor, SeenEvents
from ralph.testing.observe import until
from ralph.testing.store_conformance import sample_event, sample_iteration, sample_request, sample_run


async def kept(store):
    """The numbers of events and iterations."""
    events = [event.seq async for event in store.events("run-1")]
    return events, [it.number async for it in store.iterations("run-1")]


def driver(url):
    """The URL without the word that only Ralph understands, and that word."""
    parsed = make_url(url)
    return parsed.difference_update_query(["schema"]).render_as_string(hide_password=False), str(parsed.query["schema"])


async def test_a_server_that_is_gone_for_a_while_loses_and_doubles_nothing(own_postgres):
    async with open_store(own_postgres.get_uri()) as store:
        await store.create(sample_run(), owner="me")
        await store.append("run-1", [sample_event(1)], iteration=sample_iteration(1), owner="me")
        await anyio.to_thread.run_sync(own_postgres.stop)
        second: dict[str, Any] = {"events": [sample_event(2)], "iteration": sample_iteration(2), "owner": "me"}
        for _ in range(2):
            with pytest.raises(StoreError, match="Check that its server runs") as raised:
                await store.append("run-1", **second)
            assert raised.value.passing
        await anyio.to_thread.run_sync(own_postgres.start)
        await store.append("run-1", **second)
        assert await kept(store) == ([1, 2], [1, 2])


async def test_a_server_that_was_started_anew_meanwhile_is_not_even_noticed(own_postgres):
    async with open_store(own_postgres.get_uri()) as store:
        await store.create(sample_run(), owner="me")
        for number, work in enumerate((store.append, store.append), 1):
            await anyio.to_thread.run_sync(own_postgres.stop)
            await anyio.to_thread.run_sync(own_postgres.start)
            await work("run-1", [sample_event(number)], iteration=sample_iteration(number), owner="me")
        assert await kept(store) == ([1, 2], [1, 2])


async def test_tables_from_before_checksums_are_taken_along(postgres_url):
    async with open_store(postgres_url) as store:
        await store.create(sample_run(), [sample_event(1)], owner="me")
    url, schema = driver(postgres_url)
    with psycopg.connect(url, autocommit=True) as other:
        other.execute(sql.SQL("SET search_path = {}").format(sql.Identifier(schema)))
        for table in ("runs", "iterations", "events", "requests", "traces"):
            other.execute(sql.SQL("ALTER TABLE {} DROP COLUMN checksum").format(sql.Identifier(table)))
        other.execute("UPDATE schema_version SET version = 2")
        async with open_store(postgres_url) as store:
            await store.append("run-1", [sample_event(2)], iteration=sample_iteration(1), owner="me")
            assert await store.check() == (1, ())
            other.execute("UPDATE events SET type = 'told'")
            changed = "Event 2 of run run-1 was changed after it was written: its checksum does not match."
            assert await store.check() == (1, (changed,))


class Wire:
    """A socket before a server's, which cuts the connection at a commit: before it got there ("question"), or its
    answer. After `last` cuts nobody gets through any more until it is open again.
    """

    def __init__(self, folder: Path, url: str) -> None:
        parsed = make_url(url)
        self.url = parsed.update_query_dict({"host": str(folder)}).render_as_string()
        self._path = folder / ".s.PGSQL.5432"
        self._server = f"{parsed.query['host']}/.s.PGSQL.5432"
        self.cut = self.again = ""
        self.cuts = 0
        self.last = 0
        self.open = True
        self.silent = False

    async def carry(self, client: anyio.abc.SocketStream) -> None:
        async with client:
            if self.open:
                async with await anyio.connect_unix(self._server) as server, anyio.create_task_group() as tasks:
                    tasks.start_soon(self._pass_on, server, client, tasks.cancel_scope)
                    await self._pass_on(client, server, tasks.cancel_scope)

    async def _pass_on(
        self, source: anyio.abc.SocketStream, target: anyio.abc.SocketStream, whole: anyio.CancelScope
    ) -> None:
        with suppress(anyio.EndOfStream, anyio.BrokenResourceError):
            while self.passes(data := await source.receive()):
                if not self.silent:
                    await target.send(data)
        whole.cancel()

    def passes(self, data: bytes) -> bool:
        if self.cut == "answer now" or (self.cut == "question" and b"COMMIT" in data):
            self.cut, self.again = self.again, ""
            self.cuts += 1
            self.open = self.cuts != self.last
            return False
        if self.cut == "silence" and self.again == "answer":
            self.cut, self.again, self.silent = "", "", True
        if self.cut == "silence" and b"COMMIT" in data:
            self.again = "answer"
        if self.cut == "answer" and b"COMMIT" in data:
            self.cut = "answer now"
        return True


@pytest.fixture
async def wire(postgres_url, tmp_path_factory):
    wire = Wire(tmp_path_factory.mktemp("w"), postgres_url)
    async with await anyio.create_unix_listener(wire._path) as listener:
        serving = asyncio.create_task(listener.serve(wire.carry))
        yield wire
        serving.cancel()
        with suppress(asyncio.CancelledError):
            await serving


@pytest.mark.parametrize("cut", ["question", "answer"])
async def test_a_commit_whose_answer_got_lost_is_done_once(wire, cut):
    async with open_store(wire.url) as store:
        await store.create(sample_run(), owner="me")
        for number in range(1, 4):
            wire.cut = cut
            await store.append("run-1", [sample_event(number)], iteration=sample_iteration(number), owner="me")
            assert wire.cuts == number
        wire.cut = cut
        assert await store.ask("run-1", sample_request()) == 1
        assert wire.cuts == 4
        assert await kept(store) == ([1, 2, 3], [1, 2, 3])
        assert len(await store.requests("run-1")) == 1


@pytest.mark.parametrize("cut", ["question", "answer"])
async def test_a_commit_that_fails_and_fails_again_is_done_once(wire, cut):
    async with open_store(wire.url) as store:
        await store.create(sample_run(), owner="me")
        first: dict[str, Any] = {"events": [sample_event(1)], "iteration": sample_iteration(1), "owner": "me"}
        wire.cut, wire.again = "question", cut
        with pytest.raises(StoreError) as raised:
            await store.append("run-1", **first)
        assert raised.value.passing
        assert wire.cuts == 2
        await store.append("run-1", **first)
        assert await kept(store) == ([1], [1])


@pytest.mark.parametrize("cut", ["question", "answer"])
async def test_a_commit_in_doubt_that_is_asked_for_again_later_is_done_once(wire, cut):
    async with open_store(wire.url) as store:
        await store.create(sample_run(), owner="me")
        first: dict[str, Any] = {"events": [sample_event(1)], "iteration": sample_iteration(1), "owner": "me"}
        wire.cut, wire.last = cut, 1
        for _ in range(2):
            with pytest.raises(StoreError) as raised:
                await store.append("run-1", **first)
            assert raised.value.passing
        wire.open = True
        await store.append("run-1", **first)
        assert await kept(store) == ([1], [1])
        with pytest.raises(StoreError, match="already holds"):
            await store.append("run-1", **first)


async def test_a_run_that_was_taken_over_before_the_answer_came_is_not_had(wire, postgres_url):
    async with open_store(wire.url) as store, open_store(postgres_url) as other:
        await store.create(sample_run())
        wire.cut, wire.last = "answer", 1
        with pytest.raises(StoreError) as raised:
            await store.acquire("run-1", "me")
        assert raised.value.passing
        await other.acquire("run-1", "you", dead="me")
        wire.open = True
        with pytest.raises(RunOwnedError):
            await store.acquire("run-1", "me")
        with pytest.raises(OwnershipLostError):
            await store.renew("run-1", "me")


async def test_waiting_for_another_process_holds_nobody_else_up(postgres_url):
    ticks = 0

    async def tick():
        nonlocal ticks
        while True:
            ticks += 1
            await anyio.lowlevel.checkpoint()

    url, schema = driver(postgres_url)
    async with open_store(postgres_url) as store, anyio.create_task_group() as tasks:
        await store.create(sample_run())
        with psycopg.connect(url) as other:
            other.execute(sql.SQL("SELECT * FROM {} FOR UPDATE").format(sql.Identifier(schema, "owners")))
            tasks.start_soon(tick)
            tasks.start_soon(store.append, "run-1", [sample_event(1)])
            while ticks < 1000:
                await anyio.lowlevel.checkpoint()
            counted = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(schema, "events"))
            assert other.execute(counted).fetchone() == (0,)
        with anyio.fail_after(20):
            while not await store.last_seq("run-1"):
                await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()


async def test_a_lock_that_is_not_given_up_is_told_of(postgres_url, monkeypatch):
    monkeypatch.setattr(postgres, "PATIENCE", 0.05)
    url, schema = driver(postgres_url)
    async with open_store(postgres_url) as store:
        await store.create(sample_run())
        with psycopg.connect(url) as other:
            other.execute(sql.SQL("SELECT * FROM {} FOR UPDATE").format(sql.Identifier(schema, "owners")))
            with pytest.raises(StoreError, match="another process keeps it locked") as raised:
                await store.append("run-1", [sample_event(1)])
        assert raised.value.passing
        await store.append("run-1", [sample_event(1)])


async def test_commits_wait_for_the_disk_whatever_the_user_has_set(postgres_server, postgres_url):
    url, _ = driver(postgres_url)
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("CREATE ROLE hasty LOGIN SUPERUSER")
        admin.execute("ALTER ROLE hasty SET synchronous_commit = off")
    database = postgres.PostgresDatabase.named(postgres_url.replace("postgres:@", "hasty:@"))
    with database.connect() as connection:
        assert connection.exec_driver_sql("SELECT current_user, current_setting('synchronous_commit')").one() == (
            "hasty",
            "on",
        )


async def test_a_database_that_has_no_room_for_every_character_is_refused(postgres_server):
    url = postgres_server.get_uri()
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    with pytest.raises(StoreUnusableError, match=r"encoding is LATIN1.*createdb"):
        await open_store(postgres_server.get_uri(database="latin")).__aenter__()


async def test_tables_of_others_are_left_alone(postgres_url):
    url, schema = driver(postgres_url)
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
        admin.execute(sql.SQL("CREATE TABLE {} (url text)").format(sql.Identifier(schema, "bookmarks")))
    with pytest.raises(StoreUnusableError, match="not one that Ralph made"):
        await open_store(postgres_url).__aenter__()
    with psycopg.connect(url) as admin:
        found = admin.execute("SELECT tablename FROM pg_tables WHERE schemaname = %s", (schema,)).fetchall()
    assert found == [("bookmarks",)]


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        (
            "postgresql://u:sesame@127.0.0.1:1/runs",
            r"//u@127\.0\.0\.1:1/runs cannot be used.*refused\. Check that",
        ),
        ("postgres://u:sesame@127.0.0.1:1/runs?user=v", r"postgresql://u@127\.0\.0\.1:1/runs "),
        ("postgresql://u:sesame@127.0.0.1:1/runs?sslmode=sesame", "sslmode"),
        ("postgresql://u:sesame@127.0.0.1:1/runs?speed=sesame", "speed"),
    ],
)
async def test_a_server_that_cannot_be_reached_is_named_without_the_password(url, problem):
    with pytest.raises(StoreUnusableError, match=problem) as raised:
        await open_store(url).__aenter__()
    said = str(raised.value)
    assert "\n" not in said
    assert "sesame" not in said
    assert raised.value.remedy


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:sesame@h:port/db",
        "postgresql://u:sesame@h/db?schema=a;drop",
        "postgresql://u:sesame@h/db?schema=a&schema=b",
        "postgresql://u@h/db?password=sesame",
        "postgresql://u:sesame@h/db?connect_timeout=soon",
    ],
)
def test_a_url_that_makes_no_sense_is_refused_without_the_password(url):
    with pytest.raises(UsageError) as raised:
        open_store(url)
    assert "sesame" not in str(raised.value)
    assert raised.value.remedy


async def test_a_user_that_may_not_make_the_schema_is_told_so(postgres_url):
    url, _ = driver(postgres_url)
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("CREATE ROLE guest LOGIN")
    with pytest.raises(StoreUnusableError, match=r"lacks the permission.*Grant"):
        await open_store(postgres_url.replace("postgres:@", "guest:@")).__aenter__()


@pytest.mark.parametrize("when", ["before the question", "before the answer to a commit"])
async def test_a_server_that_falls_silent_holds_no_one_up_and_doubles_nothing(wire, monkeypatch, when):
    """Behind a proxy that stops forwarding, every connection lives, and nothing ever comes."""
    async with open_store(wire.url) as store:
        monkeypatch.setattr(ralph.store.sql, "_PATIENCE", 0.5)
        await store.create(sample_run(), owner="me")
        second: dict[str, Any] = {"events": [sample_event(1)], "iteration": sample_iteration(1), "owner": "me"}
        if when == "before the question":
            wire.silent = True
        else:
            wire.cut = "silence"
        for most in (3.0, 4.0):  # over the open connection, and over one that cannot be opened
            began = time.monotonic()
            with pytest.raises(StoreError, match="it has given no answer for") as raised:
                await store.append("run-1", **second)
            assert raised.value.passing
            assert time.monotonic() - began < most
        wire.silent = False
        with anyio.fail_after(20):
            while True:
                with suppress(StoreError):
                    await store.append("run-1", **second)
                    break
        assert await kept(store) == ([1], [1])


async def test_the_time_that_the_url_gives_a_connection_counts(wire, monkeypatch):
    monkeypatch.setattr(ralph.store.sql, "_PATIENCE", 0.1)
    wire.silent = True
    began = time.monotonic()
    with pytest.raises(StoreError, match="it has given no answer for 2 seconds"):
        await open_store(f"{wire.url}&connect_timeout=2").__aenter__()
    assert 2 <= time.monotonic() - began < 3
    began = time.monotonic()
    with anyio.move_on_after(0.3):
        await open_store(f"{wire.url}&connect_timeout=60").__aenter__()
    assert time.monotonic() - began < 1
    store = open_store("postgresql://u@/d?host=a,b&connect_timeout=9")
    assert isinstance(store, SqlStore)
    assert store._database.connects_within == 18


@pytest.mark.parametrize(
    ("seconds", "url", "within"),
    [("2", "", 2), ("9", "", 9), ("3600", "", 60), ("0", "", 60), ("", "", 3), ("9", "?connect_timeout=5", 5)],
)
def test_the_environment_of_the_user_counts_for_connections_within_bounds(monkeypatch, seconds, url, within):
    monkeypatch.setenv("PGCONNECT_TIMEOUT", seconds)
    monkeypatch.setenv("PGAPPNAME", "mine")
    store = open_store(f"postgresql://u@/d{url}")
    assert isinstance(store, SqlStore)
    assert isinstance(store._database, postgres.PostgresDatabase)
    assert store._database.connects_within == within
    assert store._database._reached_by["application_name"] == "mine"


def test_a_time_in_the_environment_that_is_no_number_is_named(monkeypatch):
    monkeypatch.setenv("PGCONNECT_TIMEOUT", "soon")
    with pytest.raises(UsageError, match="PGCONNECT_TIMEOUT=soon is not a whole number"):
        open_store("postgresql://u@/d")


async def test_in_a_hurry_a_silent_server_is_given_up_at_once(wire):
    began = time.monotonic()
    async with open_store(wire.url) as store, anyio.create_task_group() as tasks:
        await store.create(sample_run(), owner="me")
        wire.silent = True
        began = time.monotonic()

        async def ask() -> None:
            with pytest.raises(StoreError, match="no answer"):
                await store.requests("run-1")

        tasks.start_soon(ask)
        await anyio.sleep(0.2)
        store.hurry()
    assert time.monotonic() - began < 3.5


@pytest.mark.parametrize("ends", ["a signal", "the limit on its duration"])
async def test_a_run_over_a_silent_server_says_so_and_ends_when_it_must(wire, tmp_path, ends):
    seen = SeenEvents()

    async def falls_silent(_prompt: Prompt, _turn: Turn) -> str:
        wire.silent = True
        return "I begin."

    limits = Limits(max_duration=3.0 if ends != "a signal" else None)
    runner = Runner(
        executor=ScriptedExecutor([falls_silent]),
        workspace=tmp_path,
        store=open_store(wire.url),
        hooks=[seen],
        limits=limits,
    )
    began = 0.0

    async def interrupt() -> None:
        nonlocal began
        await until(lambda: seen.of("paused"))
        began = time.monotonic()
        if ends == "a signal":
            runner.cancel("SIGTERM")

    async def whole() -> None:
        async with runner:
            watching = asyncio.create_task(interrupt())
            try:
                await runner.run("Work.")
            finally:
                await watching

    with anyio.fail_after(30), pytest.raises(StoreError, match="Not kept: "):
        await whole()
    assert "it has given no answer for" in seen.of("paused")[0].reason
    assert time.monotonic() - began < 8
    assert seen.events[-1].type == "run_finished"
