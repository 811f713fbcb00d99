"""Live pages: what a viewer missed, what is new, and viewers that do not read."""

import json
from collections.abc import AsyncGenerator
from typing import Any

import anyio

from ralph.cli.serve import commands
from ralph.decision.outcomes import Continue
from ralph.loop.ownership import this_process
from ralph.records.events import Event, IterationFinished, MessageReceived, RunStarted
from ralph.store.base import Store
from ralph.types.output import Answered
from ralph.watch.web import feed
from ralph.watch.web.feed import Feed
from ralph.watch.web.library import Library

from .conftest import NOW, Open, ended

RUNNING: dict[str, Any] = {"state": "running", "stop_reason": None, "finished_at": None}


def said(seq: int, text: str = "Working.") -> MessageReceived:
    return MessageReceived(run_id="run-001", seq=seq, at=NOW, iteration=1, text=text)


async def started(store: Store, *events: Event) -> Feed:
    begun = RunStarted(run_id="run-001", seq=1, at=NOW, task="Task", max_iterations=9)
    await store.create(ended(1, **RUNNING, owner=this_process()), [begun, *events])
    return Feed(Library(store, commands()))


async def read(stream: AsyncGenerator[bytes]) -> tuple[int, dict[str, str]]:
    """Return the `seq` and the parts of the next message."""
    with anyio.fail_after(10):
        lines = (await anext(stream)).decode().split("\n")
    assert lines[2:] == ["", ""]
    return int(lines[0].removeprefix("id: ")), json.loads(lines[1].removeprefix("data: "))


async def test_a_viewer_gets_what_it_missed_and_what_is_new(store: Store) -> None:
    live = await started(store, said(2, "First."), said(3, "<i>Second.</i>"))
    stream = live.stream("run-001", 2)
    seq, parts = await read(stream)
    assert seq == 3
    assert "First." not in parts["entries"]
    assert "&lt;i&gt;Second.&lt;/i&gt;" in parts["entries"]
    assert "running" in parts["status"]
    finished = IterationFinished(run_id="run-001", seq=5, at=NOW, iteration=1, outcome=Answered(), decision=Continue())
    await store.append("run-001", [said(4, "Third."), finished])
    seq, parts = await read(stream)
    assert (seq, parts["rows"].count("<tr")) == (5, 1)
    assert "Third." in parts["entries"]
    await store.append("run-001", [], run=ended(1))
    with anyio.fail_after(10):
        last = [message async for message in stream][-1]
    assert last.startswith(b"event: end")
    assert not live._channels


async def test_a_viewer_that_missed_very_much_opens_its_page_again(store: Store) -> None:
    live = await started(store, *(said(seq) for seq in range(2, 400)))
    assert [message async for message in live.stream("run-001", 1)] == [b"event: again\ndata: again\n\n"]


async def test_a_viewer_that_does_not_read_is_dropped_and_the_others_are_not(store: Store, monkeypatch: Any) -> None:
    monkeypatch.setattr(feed, "_UNREAD", 3)
    monkeypatch.setattr(feed, "_TOGETHER", 0.0)
    live = await started(store)
    slow, quick = live.stream("run-001", 1), live.stream("run-001", 1)
    await read(slow)
    await read(quick)
    for seq in range(2, 10):
        await store.append("run-001", [said(seq)])
        assert (await read(quick))[0] == seq
    rest = [message async for message in slow]
    assert rest == [b"event: again\ndata: again\n\n"]
    await quick.aclose()
    assert (live._count, live._channels) == (0, {})


async def test_the_number_of_viewers_is_bounded(dashboard: Open, store: Store, monkeypatch: Any) -> None:
    monkeypatch.setattr("ralph.watch.web.feed.MOST_VIEWERS", 0)
    await store.create(ended(1))
    assert (await dashboard().get("/runs/run-001/live")).status_code == 503
    assert (await dashboard().get("/runs/run-001/live?after=x")).status_code == 400
    assert (await dashboard(token=None).get("/runs/run-001/live")).status_code == 401
