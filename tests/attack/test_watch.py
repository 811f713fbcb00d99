"""The terminal app shows what a hostile agent said: never as markup, never as escape codes, and never all of it."""

import re
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import pytest

from ralph.analysis.result import Analysis, Evidence
from ralph.decision.outcomes import Continue
from ralph.records import events
from ralph.records.record import IterationRecord, RunRecord
from ralph.store import MemoryStore, Store
from ralph.types.output import Answered, Changes, ToolCall
from ralph.types.verification import Verdict, Verification
from ralph.watch.tui.app import WatchApp
from ralph.watch.tui.source import Kind, Source

pytestmark = pytest.mark.attack

NOW = datetime(2026, 11, 21, tzinfo=UTC)
EVIL = (
    "[@click=app.quit]quit[/] [red]RED[/red] [link=file:///etc/passwd]x[/link] \x1b[2J\x1b]52;c;ZXZpbA==\x07\x9b31m"
    "\x1b]8;;http://evil.test/\x07go\x1b]8;;\x07 \u202egnp.exe\u202c \u2066x \r\b\x00$PATH {evil} %s"
)
LONG = "`" * 30_000 + "*" * 30_000 + "[" * 30_000 + "> " * 30_000 + "x" * 2_000_000
_FORBIDDEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_VIEWS = ("1", "2", "3", "4", "5")


async def hostile(store: Store, text: str) -> None:
    run = RunRecord(id="evil", task=text, workspace=f"/tmp/{text[:100]}", started_at=NOW, detail=text, verified_by=text)
    base: dict[str, Any] = {"run_id": run.id, "at": NOW, "iteration": 1}
    call = ToolCall(id="1", name=text[:200], arguments=text[:2_000], result=text[:2_000])
    piece = Evidence(signal=text[:50], start=0, end=len(text), text=text[:200], weight=5, why=text[:500])
    verdict = Verdict(verifier=text[:200], passed=False, output=text)
    record = IterationRecord(
        run_id=run.id, number=1, started_at=NOW, finished_at=NOW, text=text, partial=text[::-1], executor=text[:100],
        model=text[:100], outcome=Answered(), diagnostics=text, changes=Changes(fingerprint="1", files=(text[:100],)),
        analysis=Analysis(work_summary=text[:500], evidence=(piece,), warnings=(text[:300],)),
        verification=Verification(verdicts=(verdict,)), decision=Continue(reason=text, evidence=(piece,)),
    )  # fmt: skip
    happened = [
        events.RunStarted(run_id=run.id, at=NOW, task=text, executor=text[:100]),
        events.IterationStarted(**base, prompt=text),
        events.MessageReceived(**base, text=text),
        events.ToolStarted(**base, tool=call),
        events.ToolFinished(**base, tool=call),
        events.Told(**base, text=text),
        events.VerificationFinished(**base, passed=False, verdicts=(verdict,)),
        events.IterationFinished(**base, outcome=Answered(), text=text, executor=text[:100], decision=record.decision),
    ]
    await store.create(run)
    numbered = [event.model_copy(update={"seq": seq}) for seq, event in enumerate(happened, start=1)]
    await store.append(run.id, numbered, iteration=record, run=run)


def source_of(store: Store, text: str) -> Source:
    @asynccontextmanager
    async def opened() -> AsyncGenerator[Store]:
        yield store

    async def find(kept: Store, name: str) -> RunRecord:
        run = await kept.run(name)
        assert run
        return run

    async def difference(*_: object) -> str:
        return f"+++ {text}\n+{text}\n"

    async def ask(store: Store, run: RunRecord, kind: Kind, text: str = text) -> str:
        return text[:2_000]

    def state_of(_: RunRecord) -> str:
        return "running"

    return Source(opened, dict[int, None]().get, find, state_of, difference, ask, place=text[:300])


def shown(app: WatchApp) -> str:
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip) for strip in strips)


@pytest.mark.parametrize("text", [EVIL, LONG], ids=["evil", "long"])
async def test_hostile_texts_are_only_text(text: str) -> None:
    store = MemoryStore()
    await hostile(store, text)
    app = WatchApp(source_of(store, text))
    app.animation_level = "none"
    start = time.monotonic()
    seen = ""
    async with app.run_test(size=(160, 50), notifications=True) as pilot:
        for keys in ((), ("enter",), *((view,) for view in _VIEWS), ("2", "tab"), ("p",)):
            await pilot.press(*keys)
            await pilot.pause(0.1)
            seen += shown(app)
        app.screen.query_one("#timeline-pane").focus()
        for _ in range(5):
            await pilot.press("enter")
            await pilot.pause()
            seen += shown(app)
            for y in (5, 9):  # a link or an action would do something
                await pilot.click(offset=(40, y))
            await pilot.press("escape", "2", "down")
        assert app.is_running
    assert not _FORBIDDEN.search(seen.replace("\n", ""))
    if text is EVIL:
        assert "[red]RED[/red]" in seen
        assert "[@click=app.quit]quit[/]" in seen
    assert time.monotonic() - start < 30
