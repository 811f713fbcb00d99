"""The terminal app over a store with runs of every kind, with the same content each time."""

import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from textual.pilot import Pilot

from ralph.analysis.metrics import Metrics
from ralph.analysis.result import Analysis, Evidence
from ralph.decision.breaker import BreakerState
from ralph.decision.limits import Spent
from ralph.decision.outcomes import Complete, Continue, Halt
from ralph.records import events
from ralph.records.events import Event
from ralph.records.record import IterationRecord, PlanCount, RunRecord
from ralph.store import MemoryStore, Store
from ralph.types.output import Answered, Changes, ToolCall, Usage
from ralph.types.verification import Verdict, Verification
from ralph.watch.tui.app import WatchApp
from ralph.watch.tui.source import Source

AT = datetime(2026, 11, 21, 2, 30, tzinfo=UTC)
REPLY = """## What I did

I rewrote `median()` in **src/stats.py** so that it sorts a copy:

- [x] handle an even number of values
- [x] raise on an empty list
- [ ] write the changelog

```python
def median(values):
    ordered = sorted(values)
```

All tests pass. The task is complete, but the changelog is missing.
"""
PATCH = """diff --git a/src/stats.py b/src/stats.py
--- a/src/stats.py
+++ b/src/stats.py
@@ -1,2 +1,3 @@
 def median(values):
-    values.sort()
+    ordered = sorted(values)
"""
LIMITS = {"max_iterations": 20, "max_duration": 7_200.0, "max_cost": 5.0, "max_tokens": 2_000_000}


def evidence() -> tuple[Evidence, ...]:
    found = []
    for signal, text, weight, why in (
        ("tests_pass", "All tests pass", 20.0, "tests are reported as passing"),
        ("completion_keyword", "The task is complete", 60.0, "it says that the task is done"),
        ("open_work", "the changelog is missing", -60.0, "it names work that is left"),
    ):
        start = REPLY.index(text)
        found.append(Evidence(signal=signal, start=start, end=start + len(text), text=text, weight=weight, why=why))
    return tuple(found)


def iteration(run_id: str, number: int, *, text: str = REPLY, last: Any = None) -> IterationRecord:
    usage = Usage(
        input_tokens=20_000 + 1_500 * (number * 7 % 11), output_tokens=1_000 * number, cost=0.05 + 0.01 * number
    )
    warns = number % 4 == 3
    took = 60.0 + 13 * (number * 5 % 7)
    total = Usage(input_tokens=25_000 * number, output_tokens=2_000 * number, cost=round(0.1 * number, 2))
    pieces = evidence() if text == REPLY else ()
    return IterationRecord(
        run_id=run_id,
        number=number,
        started_at=AT + timedelta(minutes=3 * number),
        finished_at=AT + timedelta(minutes=3 * number + 2),
        text=text,
        executor="copilot-sdk",
        model="gpt-5",
        outcome=Answered(),
        usage=usage,
        duration=took,
        tool_calls=2,
        changes=Changes(
            fingerprint=f"{number}", files=("src/stats.py", "tests/test_stats.py"), files_changed=2, commits=1
        ),
        plan=PlanCount(done=min(number, 7), total=7),
        analysis=Analysis(
            state="done" if last else "progress",
            confidence=62,
            metrics=Metrics(completion_score=min(100, 8 * number)),
            work_summary="Rewrote median() and its tests",
            evidence=pieces,
        ),
        verification=Verification(
            verdicts=(Verdict(verifier="pytest -q", passed=bool(last), output="1 failed: test_median"),)
        ),
        breaker=BreakerState(warning=warns, reason="2 iterations without progress" if warns else ""),
        decision=last or Continue(reason="work is left: the changelog is missing", evidence=pieces[-1:]),
        spent=Spent(iterations=number, duration=120.0 * number, usage=total),
    )


def events_of(run: RunRecord, records: Sequence[IterationRecord], *, running: bool) -> list[Event]:
    """The events of a run, without their numbers."""
    base: dict[str, Any] = {"run_id": run.id}
    found: list[Event] = [
        events.RunStarted(
            **base,
            at=run.started_at,
            task=run.task,
            workspace=run.workspace,
            executor="copilot-sdk",
            max_iterations=20,
            limits=LIMITS,
        )
    ]
    for record in records:
        found += turn(run.id, record.number, record.started_at)
        found.append(finished(record))
    if running:
        number = len(records) + 1
        found += turn(run.id, number, AT + timedelta(minutes=3 * number))[:-1]
    return found


def turn(run_id: str, number: int, at: datetime) -> list[Event]:
    base: dict[str, Any] = {"run_id": run_id, "iteration": number}
    edit = ToolCall(id=f"e{number}", name="edit", arguments='{"path": "/home/ana/stats/src/stats.py"}')
    bash = ToolCall(id=f"b{number}", name="bash", arguments='{"command": "pytest -q"}')
    done = {"success": True, "duration": 2.5, "result": "1 failed"}
    return [
        events.IterationStarted(**base, at=at, prompt="Fix the median."),
        events.MessageReceived(**base, at=at, text="I look at `median()` first.", tool_calls=1),
        events.ToolStarted(**base, at=at, tool=edit),
        events.ToolFinished(**base, at=at, tool=edit.model_copy(update={"success": True, "duration": 0.4})),
        events.ToolStarted(**base, at=at, tool=bash),
        events.ToolFinished(**base, at=at, tool=bash.model_copy(update=done | {"success": number % 2 == 0})),
    ]


def finished(record: IterationRecord) -> Event:
    shared = ("executor", "outcome", "text", "changes", "plan", "analysis", "breaker", "decision", "usage", "duration")
    fields: dict[str, Any] = {name: getattr(record, name) for name in shared}
    return events.IterationFinished(run_id=record.run_id, iteration=record.number, at=record.finished_at, **fields)


def run_record(
    run_id: str, *, minutes: int = 0, task: str = "Fix the median of an empty list", **facts: Any
) -> RunRecord:
    limits: dict[str, Any] = {"limits": LIMITS, "executor": {"name": "copilot", "model": "gpt-5"}}
    return RunRecord(
        id=run_id,
        task=task,
        workspace="/home/ana/stats",
        settings=limits,
        started_at=AT + timedelta(minutes=minutes),
        **facts,
    )


async def add(store: Store, run: RunRecord, count: int, *, running: bool = False, text: str = REPLY) -> None:
    """Add a run with that many iterations, of which the last one decides its end."""
    ends = {"completed": Complete(reason="EXIT_SIGNAL: true", verified=True)}
    last = (
        None
        if running
        else ends.get(run.stop_reason or "", Halt(reason="3 iterations changed nothing", stop_reason="stuck"))
    )
    records = [
        iteration(run.id, number, text=text, last=last if number == count else None) for number in range(1, count + 1)
    ]
    await store.create(run)
    numbered = [
        event.model_copy(update={"seq": seq})
        for seq, event in enumerate(events_of(run, records, running=running), start=1)
    ]
    for record in records:
        own = [event for event in numbered if event.iteration <= record.number]
        await store.append(run.id, own, iteration=record)
        numbered = numbered[len(own) :]
    await store.append(run.id, numbered, run=run)


async def filled() -> MemoryStore:
    store = MemoryStore()
    ended: dict[str, Any] = {"state": "finished", "finished_at": AT + timedelta(hours=1), "duration": 3_600.0}
    used = {"usage": Usage(input_tokens=300_000, output_tokens=20_000, cost=1.2)}
    await add(store, run_record("20261121-aaaa", minutes=50, state="running"), 12, running=True)
    await add(
        store, run_record("20261121-bbbb", minutes=40, task="Translate the docs", state="paused"), 3, running=True
    )
    await add(
        store,
        run_record(
            "20261121-cccc",
            minutes=30,
            task="Port the parser",
            stop_reason="completed",
            verified=True,
            verified_by="pytest -q went from failing to passing",
            detail="EXIT_SIGNAL: true",
            iterations=4,
            **ended,
            **used,
        ),
        4,
    )
    await add(
        store,
        run_record(
            "20261120-dddd",
            minutes=20,
            task="Speed up [red]the[/red] search",
            stop_reason="stuck",
            detail="3 iterations changed nothing",
            iterations=6,
            **ended,
            **used,
        ),
        6,
    )
    await add(
        store,
        run_record("20261119-eeee", minutes=10, task="Upgrade the database", state="running", pid=0),
        2,
        running=True,
    )
    return store


def state_of(run: RunRecord) -> str:
    return "crashed" if run.id.endswith("eeee") else run.stop_reason or run.state


class Fake:
    """What the command line gives the app; keeps what was asked."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.asked: list[tuple[str, str, str]] = []
        self.patch = PATCH

    def source(self, **more: Any) -> Source:
        facts: dict[str, Any] = {
            "opened": self._opened,
            "quick": dict[int, None]().get,
            "find": self._find,
            "state_of": state_of,
            "difference": self._difference,
            "ask": self._ask,
            "place": "this machine's runs",
        }
        return Source(**(facts | more))

    def _opened(self) -> AbstractAsyncContextManager[Store]:
        @asynccontextmanager
        async def opened() -> AsyncGenerator[Store]:
            yield self.store

        return opened()

    async def _find(self, store: Store, name: str) -> RunRecord:
        found = await store.run(name)
        assert found
        return found

    async def _difference(self, store: Store, run: RunRecord, number: int, most: int) -> str:
        return self.patch[:most]

    async def _ask(self, store: Store, run: RunRecord, kind: str, text: str = "") -> str:
        self.asked.append((run.id, kind, text))
        return f"asked: {kind}"


class Watched:
    """The app while a test drives it.

    Attributes:
        fake: what the command line gives it.
    """

    def __init__(self, pilot: Pilot[None], fake: Fake) -> None:
        self.pilot, self.fake = pilot, fake

    @property
    def app(self) -> WatchApp:
        app = self.pilot.app
        assert isinstance(app, WatchApp)
        return app

    @property
    def text(self) -> str:
        """What is on the screen."""
        strips = self.app.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.settle()

    async def settle(self) -> None:
        """Wait until nothing is left to do but what timers do."""
        self.redraw()
        await self.pilot.pause()
        await self.pilot.pause()

    def redraw(self) -> None:
        if redraw := getattr(self.app.screen, "redraw", None):
            redraw()

    async def until(self, condition: Callable[[], object], what: str) -> None:
        ends = time.monotonic() + 40
        while time.monotonic() < ends:
            if condition():
                return
            await self.pilot.pause(0.02)
            self.redraw()
        pytest.fail(f"{what} did not come; the screen:\n{self.text}")

    async def shows(self, text: str) -> None:
        await self.until(lambda: text in self.text, repr(text))


Tui = Callable[..., AbstractAsyncContextManager[Watched]]


@pytest.fixture
def tui(monkeypatch: pytest.MonkeyPatch) -> Generator[Tui]:
    """Opens the app over a store; without one, over one with a run of every kind."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    monkeypatch.delenv("NO_COLOR", raising=False)

    def now(_: WatchApp) -> datetime:
        return AT + timedelta(minutes=95)

    monkeypatch.setattr(WatchApp, "now", now)

    @asynccontextmanager
    async def opened(
        size: tuple[int, int] = (80, 24),
        *,
        run: str = "",
        ready: bool = True,
        store: Store | None = None,
        **source: Any,
    ) -> AsyncGenerator[Watched]:
        fake = Fake(store or await filled())
        app = WatchApp(fake.source(**source), run=run)
        app.animation_level = "none"
        async with app.run_test(size=size, notifications=True) as pilot:
            watched = Watched(pilot, fake)
            if ready:
                await watched.shows("breaker" if run else "run")
                await watched.settle()
            yield watched

    yield opened
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def make() -> Callable[..., Awaitable[None]]:
    """Adds a run to a store: `await make(store, "id", iterations, task=…)`."""

    async def added(
        store: Store, run_id: str, count: int, *, running: bool = False, text: str = REPLY, **facts: Any
    ) -> None:
        await add(store, run_record(run_id, **facts), count, running=running, text=text)

    return added
