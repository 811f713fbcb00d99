"""A run that changes its state while a viewer opens it: no viewer shows an older state than that of the last event."""

from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from ralph.cli.serve import commands
from ralph.records import events
from ralph.records.events import Event
from ralph.records.record import RunRecord
from ralph.store import MemoryStore
from ralph.types import evolve
from ralph.watch.tui.reading import Reading
from ralph.watch.web.library import Library

NOW = datetime(2026, 11, 21, 2, 30, tzinfo=UTC)
RUN = RunRecord(id="run-1", task="Write the parts.", workspace=None, started_at=NOW, state="paused")
ENDED: dict[str, Any] = {"state": "finished", "stop_reason": "cancelled", "finished_at": NOW, "detail": "you"}


def stamped(kind: Callable[..., Event], seq: int, **fields: Any) -> Event:
    return kind(run_id=RUN.id, seq=seq, at=NOW, **fields)


def end(seq: int) -> Event:
    fields: dict[str, Any] = {"iterations": 0, "executors": {}, "usage": {}, "duration": 1.0, "verified": False}
    return stamped(events.RunFinished, seq, stop_reason="cancelled", detail="you", **fields)


class Moving(MemoryStore):
    """A store in which the run moves on just before or just after its events are read."""

    def __init__(self, event: Event, run: RunRecord, *, before: bool) -> None:
        super().__init__()
        self.event, self.changed, self.before = event, run, before
        self.pending = False

    async def events(self, run_id: str, *, after: int = 0) -> AsyncIterator[Event]:
        if self.before:
            await self.move()
        async for event in super().events(run_id, after=after):
            yield event
        await self.move()

    async def move(self) -> None:
        if self.pending:
            self.pending = False
            await self.append(RUN.id, [self.event], run=self.changed)


CHANGES = {
    "pauses": (stamped(events.Paused, 2, until=None, reason="you asked for it"), RUN),
    "ends": (end(2), evolve(RUN, **ENDED)),
}


@pytest.mark.parametrize("before", [True, False], ids=["before its events are read", "after them"])
@pytest.mark.parametrize("change", CHANGES)
async def test_a_page_that_opens_while_a_run_moves_on_shows_no_older_state_than_its_events(
    change: str, *, before: bool
) -> None:
    event, changed = CHANGES[change]
    async with Moving(event, changed, before=before) as store:
        running = evolve(changed, state="running", stop_reason=None, finished_at=None, detail="")
        await store.create(running)
        await store.append(RUN.id, [stamped(events.RunStarted, 1, task=RUN.task, executor="scripted")])
        store.pending = True
        found = await Library(store, commands()).overview(RUN.id)
        seen = [each.seq for each in found.events]
        if 2 in seen:
            assert found.run.state == changed.state  # and not "running: you asked for it"
        if found.run.state == "finished":  # such a page does not wait for further events
            assert seen == [1, 2]


async def test_the_terminal_app_reads_the_record_after_the_events() -> None:
    event, changed = CHANGES["pauses"]
    async with Moving(event, changed, before=True) as store:
        running = evolve(changed, state="running")
        await store.create(running)
        await store.append(RUN.id, [stamped(events.RunStarted, 1, task=RUN.task, executor="scripted")])
        store.pending = True
        reading = Reading(store, running)
        await reading.open()
        assert (reading.view.state, reading.run.state) == ("paused", "paused")
