"""Limits, rate limits and cancellations: what ends or holds up a run between its turns, and within one."""

from datetime import datetime, timedelta
from itertools import pairwise

import anyio
import anyio.lowlevel
import pytest

from ralph.decision.breaker import BreakerSettings, CircuitBreaker
from ralph.decision.limits import Limits, Price
from ralph.decision.outcomes import Pause
from ralph.errors import UnmeasurableLimitError
from ralph.executors.base import Executor, Turn
from ralph.hooks import Hooks
from ralph.loop.event_log import Clock
from ralph.loop.runner import Runner
from ralph.prompt import Prompt
from ralph.records.events import Event
from ralph.store import MemoryStore
from ralph.testing import FakeClock, ScriptedExecutor, SeenEvents, writes
from ralph.types import evolve
from ralph.types.output import Failed, Interrupted, Output, ToolCall, Usage
from ralph.workspace.base import Workspace

DONE = "All done.\n---RALPH_STATUS---\nEXIT_SIGNAL: true\nREASON: finished\n---END_RALPH_STATUS---"
WORKING = "More to do.\n---RALPH_STATUS---\nEXIT_SIGNAL: false\nREASON: not yet\n---END_RALPH_STATUS---"


# covers: D-7
async def test_rate_limit_is_a_pause_that_counts_against_nothing(workspace: Workspace) -> None:
    clock, seen = FakeClock(), SeenEvents()
    limited = Failed(failure="rate_limited", message="slow down", retry_after=2.0)
    executor = ScriptedExecutor([limited, limited, limited, limited, writes("a", "1", DONE)])
    started = clock.now()
    async with Runner(
        executor=executor, workspace=workspace, limits=Limits(max_iterations=1), clock=clock, hooks=[seen]
    ) as runner:
        record = await runner.run("write a")
    assert record.stop_reason == "completed"
    assert len(seen.of("paused")) == 4
    assert clock.now() - started == timedelta(seconds=8)
    assert seen.of("iteration_finished")[-1].breaker.state == "closed"


class SetBack(FakeClock):
    """A clock that somebody sets back by three hours during each wait."""

    async def wait_until(self, moment: datetime) -> None:
        await super().wait_until(moment)
        self.advance(-3 * 3600)


LIMITED = Failed(failure="rate_limited", retry_after=1800)
OUT = Failed(failure="crashed", message="out of order")


@pytest.mark.parametrize(
    ("answers", "limits", "breaker"),
    [
        ([LIMITED, DONE], Limits(), BreakerSettings()),
        ([OUT, DONE], Limits(), BreakerSettings(same_error=1, when_open="wait")),
        (["Still at it.", DONE], Limits(calls_per_hour=1), BreakerSettings()),
    ],
    ids=["rate limit", "breaker", "calls of the hour"],
)
async def test_a_clock_that_is_set_back_makes_no_wait_longer(
    answers: list[str | Failed], limits: Limits, breaker: BreakerSettings
) -> None:
    clock, executor = SetBack(), ScriptedExecutor(answers)
    async with Runner(executor=executor, clock=clock, limits=limits, breaker=CircuitBreaker(breaker)) as runner:
        with anyio.fail_after(10):
            record = await runner.run("task")
    assert record.stop_reason == "completed"
    assert len(clock.waits) == 1


async def test_a_pause_counts_for_the_runs_time_although_the_clock_is_set_back() -> None:
    class Slow(SetBack):
        async def wait_until(self, moment: datetime) -> None:
            await anyio.sleep(0.3)
            await super().wait_until(moment)

    async with Runner(executor=ScriptedExecutor([LIMITED, DONE]), clock=Slow()) as runner:
        assert (await runner.run("task")).duration >= 0.3


@pytest.mark.parametrize(
    ("answer", "breaker", "length"),
    [
        (LIMITED, BreakerSettings(), 1800),
        (OUT, BreakerSettings(same_error=1, when_open="wait", cool_down=600), 600),
    ],
    ids=["rate limit", "breaker"],
)
async def test_nor_does_one_that_was_set_back_before_the_run_is_resumed(
    answer: Failed, breaker: BreakerSettings, length: float
) -> None:
    store, clock, seen = MemoryStore(), FakeClock(), SeenEvents()

    class Leave(Hooks):
        async def on_paused(self, event: Event) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
            runner.cancel("SIGINT")

    def at_work() -> Runner:
        executor, rules = ScriptedExecutor([answer]), CircuitBreaker(breaker)
        return Runner(executor=executor, store=store, clock=clock, breaker=rules, hooks=[Leave(), seen])

    async with at_work() as runner:
        record = await runner.run("task")
    clock.advance(-100_000)
    for _ in range(2):
        began = clock.now()
        async with at_work() as runner:
            await runner.resume(record.id)
        assert (seen.of("paused")[-1].until - began).total_seconds() == length
    assert len(seen.of("iteration_started")) == 1


@pytest.mark.parametrize("at", ["9999-12-31T23:00:00Z", "9999-12-31T23:59:59-23:59", "2026-01-01T00:00:00"])
async def test_a_time_that_no_clock_tells_is_in_no_resumes_way(at: str) -> None:
    store, limits = MemoryStore(), Limits(max_iterations=1, calls_per_hour=9)
    async with Runner(executor=ScriptedExecutor([WORKING]), store=store, limits=limits) as runner:
        run = await runner.run("task")
    [kept] = [each async for each in store.iterations(run.id)]
    await store.remove(run.id)
    await store.create(run)
    await store.append(run.id, [], iteration=evolve(kept, finished_at=datetime.fromisoformat(at)))
    async with Runner(executor=ScriptedExecutor([DONE]), store=store) as runner:
        assert (await runner.resume(run.id)).stop_reason == "completed"


async def test_nor_one_for_the_calls_of_the_hour_that_was_set_back_within_a_turn() -> None:
    clock, seen = FakeClock(), SeenEvents()

    def set_back(_prompt: Prompt, _turn: Turn) -> str:
        clock.advance(-3 * 3600)
        return "Still at it."

    executor, limits = ScriptedExecutor(["Still at it.", set_back, DONE]), Limits(calls_per_hour=2)
    async with Runner(executor=executor, clock=clock, limits=limits, hooks=[seen]) as runner:
        record = await runner.run("task")
    assert record.stop_reason == "completed"
    assert [(event.until - event.at).total_seconds() for event in seen.of("paused")] == [3600]


async def test_a_wait_lasts_no_longer_than_it_was_to_last() -> None:
    class Clocked(Clock):
        behind = timedelta(0)

        def now(self) -> datetime:
            return super().now() - self.behind

    clock = Clocked()
    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            group.start_soon(clock.wait_until, clock.now() + timedelta(seconds=0.1))
            await anyio.lowlevel.checkpoint()
            clock.behind = timedelta(hours=1)


async def test_iteration_limit(workspace: Workspace) -> None:
    executor = ScriptedExecutor([writes("a", str(number), WORKING) for number in range(9)])
    async with Runner(executor=executor, workspace=workspace, limits=Limits(max_iterations=2)) as runner:
        record = await runner.run("write a")
    assert (record.stop_reason, record.iterations) == ("limit_reached", 2)


class Endless(Executor):
    """Uses tokens for ever."""

    name = "endless"
    measures = frozenset({"tokens"})

    def __init__(self) -> None:
        self.ended = False

    async def execute(self, prompt: Prompt, turn: Turn) -> Output:
        try:
            turn.transcript.message("I begin.")
            while True:
                turn.transcript.used(Usage(input_tokens=100, output_tokens=10, model_calls=1))
                await anyio.sleep(0.001)
        finally:
            self.ended = True


@pytest.mark.parametrize(
    ("limits", "named"),
    [
        (Limits(max_tokens=1000), "max_tokens"),
        (Limits(max_duration=0.05), "max_duration"),
        (Limits(max_cost=0.001), "max_cost"),
    ],
)
async def test_limits_act_within_a_turn(limits: Limits, named: str) -> None:
    executor = Endless()
    runner = Runner(executor=executor, limits=limits, model="m", prices={"m": Price(input=1, output=2)})
    with anyio.fail_after(5):
        async with runner:
            record = await runner.run("go")
    assert record.stop_reason == "limit_reached"
    assert named in record.detail
    assert executor.ended


@pytest.mark.parametrize(("answered", "cost"), [("m", 2.0), ("m-2026-01-01", 2.0), ("dear", 10.0), (None, 2.0)])
def test_a_model_without_a_price_costs_as_much_as_the_one_that_was_asked_for(answered: str | None, cost: float) -> None:
    """Providers answer with a dated name of the model."""
    output = Output(text=DONE, model=answered, usage=Usage(input_tokens=2_000_000, output_tokens=0))
    prices = {"m": Price(input=1, output=1), "dear": Price(input=5, output=1)}
    record = Runner(executor=ScriptedExecutor([output]), model="m", prices=prices).run_sync("go")
    assert record.usage.cost == cost


@pytest.mark.parametrize("limits", [Limits(max_tokens=5), Limits(max_cost=1.0), Limits(max_requests=3)])
def test_a_limit_that_nothing_measures_is_refused(limits: Limits) -> None:
    class Mute(Executor):
        name = "mute"

    with pytest.raises(UnmeasurableLimitError, match="nothing here measures"):
        Runner(executor=Mute(), limits=limits)


async def test_calls_an_hour_pause_the_run(workspace: Workspace) -> None:
    clock = FakeClock()
    executor = ScriptedExecutor([writes("a", "1", WORKING), writes("a", "2", WORKING), writes("a", "3", DONE)])
    async with Runner(executor=executor, workspace=workspace, limits=Limits(calls_per_hour=2), clock=clock) as runner:
        record = await runner.run("write a")
    assert record.stop_reason == "completed"
    assert len(clock.waits) == 1


async def test_a_run_that_is_resumed_within_the_hour_waits_for_its_calls() -> None:
    store, clock = MemoryStore(), FakeClock()

    def at_work(most: int) -> Runner:
        limits = Limits(max_iterations=most, calls_per_hour=1)
        return Runner(executor=ScriptedExecutor([WORKING]), store=store, clock=clock, limits=limits)

    async with at_work(1) as runner:
        run = await runner.run("task")
    async with at_work(2) as runner:
        first, second = (await runner.resume(run.id)).history
    assert second.started_at - first.started_at >= timedelta(hours=1)


async def test_a_cancellation_before_the_run_begins_is_not_forgotten() -> None:
    executor = ScriptedExecutor([DONE])
    async with Runner(executor=executor) as runner:
        runner.cancel("SIGTERM")
        record = await runner.run("task")
    assert (record.stop_reason, record.detail, executor.prompts) == ("cancelled", "SIGTERM", ())


async def test_cancelled_turn_keeps_what_there_was(workspace: Workspace) -> None:
    class Canceller(Hooks):
        async def on_message_received(self, event: Event) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
            runner.cancel("SIGINT")

    executor, store = Endless(), MemoryStore()
    runner = Runner(executor=executor, workspace=workspace, store=store, hooks=[Canceller()])
    async with runner:
        record = await runner.run("go")
        kept = [iteration async for iteration in store.iterations(record.id)]
    assert record.stop_reason == "cancelled"
    assert executor.ended
    assert kept[0].text == "I begin."
    assert isinstance(kept[0].outcome, Interrupted)


async def test_a_cancellation_as_an_iteration_begins_ends_its_turn_at_once() -> None:
    class Canceller(Hooks):
        async def on_iteration_started(self, event: Event) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
            runner.cancel("SIGINT")

    runner = Runner(executor=Endless(), hooks=[Canceller()])
    with anyio.fail_after(10):
        async with runner:
            record = await runner.run("go")
    assert (record.stop_reason, record.detail, record.iterations) == ("cancelled", "SIGINT", 1)


async def test_cancelled_from_outside_stores_the_iteration(workspace: Workspace) -> None:
    executor, store = Endless(), MemoryStore()
    async with Runner(executor=executor, workspace=workspace, store=store) as runner:
        with anyio.move_on_after(0.3) as scope:
            await runner.run("go")
    assert scope.cancelled_caught
    async with store:
        run = (await store.runs())[0]
        kept = [iteration async for iteration in store.iterations(run.id)]
    assert [iteration.text for iteration in kept] == ["I begin."]
    assert (run.state, run.stop_reason) == ("finished", "cancelled")


async def test_pause_decisions_name_their_moment(workspace: Workspace) -> None:
    clock, seen = FakeClock(), SeenEvents()
    executor = ScriptedExecutor([Failed(failure="rate_limited")] * 3 + [writes("a", "1", DONE)])
    async with Runner(executor=executor, workspace=workspace, clock=clock, hooks=[seen]) as runner:
        await runner.run("write a")
    waits = [event.decision.until for event in seen.of("iteration_finished") if isinstance(event.decision, Pause)]
    assert [(after - before).total_seconds() for before, after in pairwise(waits)] == [120, 240]


async def test_a_cancellation_ends_the_starting_of_an_executor() -> None:
    class Downloading(ScriptedExecutor):
        async def start(self) -> None:
            runner.cancel("SIGINT")
            await anyio.sleep_forever()

    runner = Runner(executor=Downloading(["never"]))
    with anyio.fail_after(5):
        async with runner:
            record = await runner.run("task")
    assert (record.stop_reason, record.detail, record.iterations) == ("cancelled", "SIGINT", 0)


async def test_a_turn_that_a_rate_limit_cut_short_is_told_to_the_next(workspace: Workspace) -> None:
    limited = Output(
        outcome=Failed(failure="rate_limited", retry_after=1), tool_calls=(ToolCall(id="1", name="bash", success=True),)
    )
    executor = ScriptedExecutor([limited, writes("a", "1", DONE)])
    async with Runner(executor=executor, workspace=workspace, clock=FakeClock()) as runner:
        record = await runner.run("write a")
    assert record.stop_reason == "completed"
    assert "half-changed" in executor.prompts[1].text


async def test_a_limit_on_the_duration_is_one_of_wall_time(workspace: Workspace) -> None:
    clock, seen = FakeClock(), SeenEvents()
    executor = ScriptedExecutor([Failed(failure="rate_limited", retry_after=600)] * 9)
    runner = Runner(executor=executor, workspace=workspace, limits=Limits(max_duration=1000), clock=clock, hooks=[seen])
    async with runner:
        started = clock.now()
        record = await runner.run("write a")
    assert (record.stop_reason, len(seen.of("paused"))) == ("limit_reached", 2)
    assert clock.now() - started <= timedelta(seconds=1000)
    assert "max_duration" in record.detail
