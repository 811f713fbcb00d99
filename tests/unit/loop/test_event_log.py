"""Append, then publish: the order, the groups, and what a broken store or observer does to them."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from time import monotonic
from typing import Any

import anyio
import pytest

from ralph.errors import StoreError
from ralph.hooks import Hooks
from ralph.loop import event_log
from ralph.loop.event_log import EventLog
from ralph.records.events import Diagnosed, Event, MessageReceived, MessageStreamed, Paused, Resumed
from ralph.records.record import IterationRecord, RunRecord
from ralph.store import MemoryStore

AT = datetime(2026, 1, 1, tzinfo=UTC)
FACT = Resumed(run_id="r", at=AT)


def message(text: str) -> MessageReceived:
    return MessageReceived(run_id="r", at=AT, text=text)


def piece(text: str) -> MessageStreamed:
    return MessageStreamed(run_id="r", at=AT, text=text)


class Watched(MemoryStore):
    """Remembers each append, with its time, and fails or waits where it is asked to."""

    def __init__(self) -> None:
        super().__init__()
        self.appends: list[tuple[float, list[str]]] = []
        self.before: Callable[[], Awaitable[None]] | None = None

    async def append(
        self,
        run_id: str,
        events: Sequence[Event],
        *,
        iteration: IterationRecord | None = None,
        run: RunRecord | None = None,
        owner: str = "",
    ) -> None:
        if self.before is not None:
            await self.before()
        self.appends.append((monotonic(), [getattr(event, "text", event.type) for event in events]))
        await super().append(run_id, events, iteration=iteration, run=run, owner=owner)

    async def kept(self) -> list[tuple[int, str]]:
        return [(event.seq, getattr(event, "text", event.type)) async for event in self.events("r")]


class Told(Hooks):
    """Remembers what it was told, and lets a test wait for it."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._more = anyio.Event()

    async def on_event(self, event: Event) -> None:
        self.events.append(event)
        self._more.set()
        self._more = anyio.Event()

    @property
    def said(self) -> list[tuple[int, str]]:
        return [(event.seq, getattr(event, "text", event.type)) for event in self.events]

    async def until(self, count: int) -> None:
        with anyio.fail_after(10):
            while len(self.events) < count:
                await self._more.wait()


@pytest.fixture
async def store() -> Watched:
    watched = Watched()
    await watched.create(RunRecord(id="r", task="t", started_at=AT))
    return watched


@asynccontextmanager
async def flushing(store: Watched, *hooks: Hooks) -> AsyncGenerator[EventLog, None]:
    log = EventLog(store, "r", 0, hooks)
    async with anyio.create_task_group() as group:
        group.start_soon(log.flush_groups)
        yield log
        log.close()


async def test_a_fact_takes_along_what_waited_before_it(store: Watched) -> None:
    told = Told()
    log = EventLog(store, "r", 7, [told])
    log.note(message("one"))
    log.note(piece("tw"))
    log.note(message("two"))
    await log.commit(FACT)
    assert await store.kept() == [(8, "one"), (9, "two"), (10, "resumed")]
    assert told.said == [(8, "one"), (0, "tw"), (9, "two"), (10, "resumed")]
    assert len(store.appends) == 1


async def test_a_fact_soon_after_an_event_takes_it_along(store: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_log, "_GROUP", 60)
    async with flushing(store) as log:
        log.note(message("last words"))
        await anyio.wait_all_tasks_blocked()
        await log.commit(FACT)
    assert [texts for _, texts in store.appends] == [["last words", "resumed"]]


async def test_what_is_shown_is_durable_and_whole(store: Watched) -> None:
    class Reads(Told):
        async def on_event(self, event: Event) -> None:
            if event.seq:
                assert (event.seq, getattr(event, "text", event.type)) in await store.kept()
            await super().on_event(event)

    reads = Reads()
    async with flushing(store, reads) as log:
        for number in range(20):
            log.note(message(f"{number}"))
            if number % 5 == 0:
                await log.commit(FACT)
        await reads.until(24)
    assert not log.dispatcher.failures
    assert [seq for seq, _ in reads.said] == list(range(1, 25))


async def test_messages_are_stored_in_groups_at_most_100_ms_apart(store: Watched) -> None:
    told = Told()
    async with flushing(store, told) as log:
        noted = monotonic()
        log.note(message("first"))
        await told.until(1)
        for number in range(500):
            log.note(message(f"{number}"))
        await told.until(501)
    (first, alone), (second, group) = store.appends
    assert alone == ["first"]
    assert first - noted < 0.09, "nothing came before it, so it need not wait"
    assert len(group) == 500
    assert 0.09 < second - first < 1


async def test_pieces_alone_are_shown_and_not_kept(store: Watched) -> None:
    told = Told()
    async with flushing(store, told) as log:
        log.note(piece("a"))
        await told.until(1)
    assert store.appends == []
    assert told.said == [(0, "a")]


async def test_a_store_that_fails_at_a_fact_fails_the_caller(store: Watched) -> None:
    async def busy() -> None:
        raise StoreError("The store is read-only.")

    told, store.before = Told(), busy
    log = EventLog(store, "r", 0, [told])
    with pytest.raises(StoreError, match="read-only"):
        await log.commit(FACT)
    assert told.events == [], "what is not durable is not shown"


async def test_a_store_that_fails_in_the_background_fails_the_next_fact(store: Watched) -> None:
    failed = anyio.Event()

    async def busy() -> None:
        failed.set()
        raise StoreError("The disk is full.")

    told, store.before = Told(), busy
    async with flushing(store, told) as log:
        log.note(message("one"))
        with anyio.fail_after(10):
            await failed.wait()
        for _ in range(2):
            with pytest.raises(StoreError, match="disk is full"):
                await log.commit(FACT)
    assert told.events == []


async def test_a_cancellation_loses_nothing_and_leaves_no_gap(store: Watched) -> None:
    begun, go_on = anyio.Event(), anyio.Event()

    async def slow() -> None:
        begun.set()
        await go_on.wait()

    store.before = slow
    log = EventLog(store, "r", 0, [])
    log.note(message("one"))
    async with anyio.create_task_group() as group:
        group.start_soon(log.flush_groups)
        with anyio.fail_after(10):
            await begun.wait()
        log.note(message("two"))
        group.cancel_scope.cancel()
        go_on.set()
    await log.commit(FACT)
    assert await store.kept() == [(1, "one"), (2, "two"), (3, "resumed")]


def _misspelt(event: Event) -> None:
    raise RuntimeError("not even a coroutine")


class Raises(Hooks):
    async def on_event(self, event: Event) -> None:
        raise RuntimeError("observer")


class NotAsync(Hooks):
    on_event: Any = staticmethod(_misspelt)


class WrongSignature(Hooks):
    async def on_event(self) -> None: ...  # pyright: ignore[reportIncompatibleMethodOverride]


class ReturnsNothing(Hooks):
    def on_event(self, event: Event) -> None: ...  # pyright: ignore[reportIncompatibleMethodOverride]


@pytest.mark.parametrize("broken", [Raises, NotAsync, WrongSignature, ReturnsNothing])
async def test_a_broken_hook_breaks_nothing(
    store: Watched, broken: type[Hooks], caplog: pytest.LogCaptureFixture
) -> None:
    told = Told()
    async with flushing(store, broken(), told) as log:
        log.note(message("one"))
        await told.until(1)
        await log.commit(FACT)
    said = [text for _, text in told.said]
    assert [text for text in said if not text.startswith("The observer")] == ["one", "resumed"]
    assert len(said) == 3, "it is told once, in the run's own events, that the observer fails"
    assert list(log.dispatcher.failures) == [f"{broken.__name__}.on_event"]
    assert "on_event of the observer" in caplog.text


async def test_each_hook_hears_everything_first_and_then_its_own(store: Watched) -> None:
    order: list[str] = []

    class Both(Hooks):
        async def on_event(self, event: Event) -> None:
            order.append("event")

        async def on_diagnosed(self, event: Diagnosed) -> None:
            order.append("diagnosed")

    class Own(Hooks):
        async def on_message_streamed(self, event: MessageStreamed) -> None:
            order.append(event.text)

    log = EventLog(store, "r", 0, [Both(), Own()])
    log.note(piece("a piece"))
    await log.commit(Diagnosed(run_id="r", at=AT, text="restarted"))
    assert order == ["event", "a piece", "event", "diagnosed"]


async def test_a_hook_may_be_put_on_the_object(store: Watched) -> None:
    heard: list[str] = []
    hooks = Hooks()

    async def hear(event: Event) -> None:
        heard.append(event.type)

    hooks.on_event = hear
    await EventLog(store, "r", 0, [hooks]).commit(FACT)
    assert heard == ["resumed"]


class Troubled(Watched):
    """Cannot be written for as long as `trouble` holds an error."""

    def __init__(self) -> None:
        super().__init__()
        self.trouble: StoreError | None = StoreError("The disk is full.", "Make room.", passing=True)
        self.tries = 0
        self.before = self.refuse

    async def refuse(self) -> None:
        self.tries += 1
        if self.trouble is not None:
            raise self.trouble


@pytest.fixture
async def troubled() -> Troubled:
    store = Troubled()
    await store.create(RunRecord(id="r", task="t", started_at=AT))
    return store


async def test_a_store_that_cannot_be_written_for_now_is_waited_for_and_nothing_is_lost(troubled: Troubled) -> None:
    told = Told()
    async with flushing(troubled, told) as log, anyio.create_task_group() as group:
        log.note(message("one"))
        group.start_soon(log.commit, FACT)
        await told.until(1)
        log.note(message("two"))
        [paused] = told.events
        assert isinstance(paused, Paused)
        assert (paused.seq, paused.until, "disk is full" in paused.reason) == (0, None, True)
        troubled.trouble = None
        await told.until(5)
    assert [event.type for event in told.events if not event.seq] == ["paused", "resumed"]
    assert await troubled.kept() == [said for said in told.said if said[0]], "what is told is kept, in that order"


@pytest.mark.parametrize("outage", [False, True])
async def test_a_cancellation_waits_for_the_answer_to_an_append(troubled: Troubled, outage: bool) -> None:
    appended, answered = anyio.Event(), anyio.Event()
    append, told = troubled.append, Told()

    async def answers_late(run_id: str, events: Sequence[Event], **more: Any) -> None:
        await append(run_id, events, **more)
        appended.set()
        await answered.wait()

    log = EventLog(troubled, "r", 0, [told])
    if not outage:
        troubled.trouble = None
    async with anyio.create_task_group() as group:
        group.start_soon(log.commit, FACT)
        if outage:
            await told.until(1)
            troubled.trouble = None
        await told.until(3 if outage else 1)
    troubled.append = answers_late  # type: ignore[method-assign]
    log.note(message("one"))
    async with anyio.create_task_group() as group:
        group.start_soon(log.commit, FACT)
        with anyio.fail_after(10):
            await appended.wait()
        group.cancel_scope.cancel()
        asyncio.get_running_loop().call_later(0.1, answered.set)
    await log.commit(message("two"))
    assert await troubled.kept() == [(1, "resumed"), (2, "one"), (3, "resumed"), (4, "two")]


async def test_a_message_that_comes_during_an_append_is_stored_without_waiting_for_another(store: Watched) -> None:
    begun, finish, told = anyio.Event(), anyio.Event(), Told()

    async def slow() -> None:
        begun.set()
        await finish.wait()

    store.before = slow
    async with flushing(store, told) as log:
        log.note(message("one"))
        with anyio.fail_after(10):
            await begun.wait()
        log.note(message("two"))
        finish.set()
        await told.until(2)
    assert await store.kept() == [(1, "one"), (2, "two")]


async def test_a_store_is_tried_again_at_least_every_five_seconds(
    troubled: Troubled, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []

    async def recorded(_: EventLog, seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 20:
            troubled.trouble = None

    monkeypatch.setattr(EventLog, "_wait", recorded)
    await EventLog(troubled, "r", 0, []).commit(FACT)
    assert pauses[0] < 1
    assert max(pauses) == pauses[-1] == 5


async def test_a_person_who_wants_the_end_waits_for_no_store_and_is_told_what_is_not_kept(troubled: Troubled) -> None:
    told = Told()
    log = EventLog(troubled, "r", 0, [told])

    async def in_a_hurry() -> None:
        await told.until(1)
        log.hurry()

    text = ""
    async with anyio.create_task_group() as group:
        group.start_soon(in_a_hurry)
        log.note(message("one"))
        try:
            with anyio.fail_after(5):
                await log.commit(FACT)
        except StoreError as error:
            text = str(error)
    assert "The disk is full." in text
    assert "Not kept: 2 events" in text
    assert "ralph resume r" in text
    tries = troubled.tries
    with pytest.raises(StoreError):
        await log.commit(FACT)
    assert troubled.tries == tries, "it is not tried for ever"


async def test_without_a_limit_a_store_that_cannot_be_written_is_waited_for_up_to_a_time(
    troubled: Troubled, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ralph.loop.event_log._LONGEST_WAIT", 0.3)
    with anyio.fail_after(30), pytest.raises(StoreError, match="The disk is full"):
        await EventLog(troubled, "r", 0, []).commit(FACT)


async def test_a_store_that_only_stumbles_keeps_what_was_written_in_a_hurry(troubled: Troubled) -> None:
    async def refuse_once() -> None:
        troubled.tries += 1
        if troubled.tries == 1:
            raise StoreError("The disk is full.", "Make room.", passing=True)

    troubled.before = refuse_once
    log = EventLog(troubled, "r", 0, [])
    log.hurry()
    await log.commit(FACT)
    assert await troubled.kept() == [(1, "resumed")]


async def test_a_cancellation_does_not_wait_for_a_store_and_leaves_what_was_pending(troubled: Troubled) -> None:
    told = Told()
    log = EventLog(troubled, "r", 0, [told])
    log.note(message("one"))
    with anyio.move_on_after(0.2) as scope:
        await log.commit(FACT)
    assert scope.cancelled_caught
    troubled.trouble = None
    await log.commit(FACT)
    assert await troubled.kept() == [(1, "one"), (2, "resumed")]


async def test_what_a_lost_answer_hides_is_asked_for_again_in_the_same_words(troubled: Troubled) -> None:
    asked: list[list[int]] = []

    async def noted() -> None:
        if troubled.tries < 3:
            await Troubled.refuse(troubled)

    class Words(Hooks):
        async def on_event(self, event: Event) -> None:
            log.note(message("more"))

    troubled.before = noted
    append = troubled.append

    async def watched(run_id: str, events: Sequence[Event], **more: Any) -> None:
        asked.append([event.seq for event in events])
        await append(run_id, events, **more)

    troubled.append = watched  # type: ignore[method-assign]
    log = EventLog(troubled, "r", 0, [Words()])
    await log.commit(FACT, FACT)
    assert len(asked) > 2
    assert set(map(tuple, asked)) == {(1, 2)}, "else nobody could tell whether it went through the first time"


async def test_a_store_that_fails_in_the_background_tells_whoever_can_end_the_work(store: Watched) -> None:
    failures: list[StoreError] = []

    async def refuse() -> None:
        raise StoreError("It is no store any more.")

    store.before = refuse
    async with flushing(store) as log:
        log.failed = failures.append
        log.note(message("one"))
        with anyio.fail_after(5):
            while not failures:  # noqa: ASYNC110 - it is a plain callback
                await anyio.sleep(0.01)
    assert "no store" in str(failures[0])
