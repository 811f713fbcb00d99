"""An outage of a service: the run waits for its end, within bounds."""

from datetime import datetime, timedelta

import anyio
import pytest

from ralph.decision.limits import Limits
from ralph.loop.runner import Runner
from ralph.records.record import RunRecord
from ralph.testing import FakeClock, Reply, ScriptedExecutor, SeenEvents
from ralph.types.output import Failed, Output, TimedOut

DOWN = Failed(failure="unavailable", message="connect ECONNREFUSED 127.0.0.1:443")
WRONG, REFUSED = Failed(failure="auth"), Failed(failure="refused")
SILENT = TimedOut(limit="idle", after=60)
DONE = "---RALPH_STATUS---\nEXIT_SIGNAL: true\nREASON: written\n---END_RALPH_STATUS---"
BEGUN = Output(text="I begin.", executor="scripted")
DOUBLED = [1, 2, 4, 8, 16, 32, 64, 128, 256, 300]


def down_for(seconds: float, then: str) -> tuple[FakeClock, list[Reply]]:
    """Return a clock, and a service that answers once and then not for some time."""
    clock = FakeClock()
    starts: list[datetime] = []

    def reply(*_: object) -> Output | Failed | str:
        starts.append(clock.now())
        if len(starts) == 1:
            return BEGUN
        return DOWN if clock.now() - starts[0] < timedelta(seconds=seconds) else then

    return clock, [reply]


def outage(executor: ScriptedExecutor, clock: FakeClock, limits: Limits) -> tuple[RunRecord, SeenEvents]:
    seen = SeenEvents()

    async def whole() -> RunRecord:
        async with Runner(executor=executor, clock=clock, limits=limits, hooks=[seen]) as runner:
            return await runner.run("Work.")

    return anyio.run(whole), seen


def test_a_service_that_is_down_for_an_hour_ends_no_run() -> None:
    clock, replies = down_for(3600, DONE)
    record, seen = outage(ScriptedExecutor(replies, measures=()), clock, Limits(max_iterations=2))
    waits = [round((event.until - event.at).total_seconds()) for event in seen.of("paused") if event.until]
    assert record.stop_reason == "completed"
    assert (waits[:10], set(waits[10:])) == (DOUBLED, {300})
    assert 3600 <= sum(waits) < 3600 + 300
    assert [each.limited for each in record.history] == [False, *[True] * len(waits), False]
    assert seen.of("breaker_changed") == []


@pytest.mark.parametrize(
    ("replies", "limits", "ends", "waits"),
    [
        ([BEGUN, DOWN, "I go on.", DOWN, DONE], Limits(), "completed", [1, 1]),
        ([BEGUN, DOWN], Limits(max_duration=1_000), "limit_reached", [*DOUBLED, 189]),
        ([BEGUN, DOWN], Limits(), "executor_unavailable", [*DOUBLED, *[300] * 9]),
        ([DOWN], Limits(), "executor_unavailable", []),
        ([DOWN, DOWN, DOWN, DOWN, DOWN, DOWN, DONE], Limits(max_duration=28_800), "completed", DOUBLED[:6]),
        ([DOWN], Limits(max_duration=1_000), "limit_reached", [*DOUBLED, 189]),
        ([WRONG], Limits(max_duration=1_000), "executor_unavailable", []),
        ([REFUSED], Limits(max_duration=1_000), "executor_unavailable", []),
        ([SILENT, DOWN], Limits(), "executor_unavailable", []),
        ([BEGUN, Failed(failure="crashed")], Limits(), "circuit_open", []),
    ],
    ids=[
        "twice",
        "max-duration",
        "never back",
        "never there",
        "down at first",
        "down till the limit",
        "wrong key",
        "refused",
        "never answered",
        "crashed",
    ],
)
def test_an_outage_is_waited_for_within_bounds(
    monkeypatch: pytest.MonkeyPatch, replies: list[Reply], limits: Limits, ends: str, waits: list[int]
) -> None:
    monkeypatch.setattr("ralph.decision.rules._OUTAGES", 20)  # a week of them takes a quarter of a minute
    record, seen = outage(ScriptedExecutor(replies, measures=()), FakeClock(), limits)
    assert record.stop_reason == ends
    assert [round((event.until - event.at).total_seconds()) for event in seen.of("paused") if event.until] == waits
