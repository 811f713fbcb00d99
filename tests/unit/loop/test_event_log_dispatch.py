"""Observers and vetoes: what becomes of those that fail or hang, and who is told."""

import sys
from datetime import UTC, datetime

import anyio
import pytest

import ralph.loop.event_log
from ralph.decision.claims import Claim
from ralph.decision.limits import Limits
from ralph.hooks import CompletionDue, Hooks, IterationDue, Veto
from ralph.loop.event_log import Dispatcher, Objection
from ralph.loop.runner import Runner
from ralph.records.events import Event, IterationFinished, Resumed
from ralph.testing import ScriptedExecutor, SeenEvents

AT = datetime(2026, 1, 1, tzinfo=UTC)
DUE = IterationDue(run_id="r", iteration=3, at=AT, task="t", workspace="/w")
DONE = "Done.\n---RALPH_STATUS---\nEXIT_SIGNAL: true\nREASON: all there\n---END_RALPH_STATUS---\n"


def happened(iteration: int = 1) -> Resumed:
    return Resumed(run_id="r", at=AT, iteration=iteration)


class Hangs(Hooks):
    def __init__(self) -> None:
        self.calls = 0

    async def on_event(self, event: Event) -> None:
        self.calls += 1
        await anyio.sleep_forever()

    async def on_resumed(self, event: Resumed) -> None:
        self.calls += 1


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ralph.loop.event_log, "_PATIENCE", 0.02)


async def test_a_hanging_observer_delays_an_iteration_by_its_limit_and_no_more() -> None:
    hangs, heard, told = Hangs(), SeenEvents(), list[str]()
    dispatcher = Dispatcher([hangs, heard], told.append)
    began = anyio.current_time()
    for _ in range(50):
        await dispatcher.publish(happened(1))
    assert hangs.calls == 1
    assert 0.02 <= anyio.current_time() - began < 0.5
    assert len(heard.events) == 50
    assert told == ["The observer Hangs.on_event took more than 0.02 seconds; the run continues without it."]


async def test_one_that_hangs_in_three_iterations_is_told_nothing_any_more(caplog: pytest.LogCaptureFixture) -> None:
    hangs, told = Hangs(), list[str]()
    dispatcher = Dispatcher([hangs], told.append)
    for iteration in range(1, 9):
        await dispatcher.publish(happened(iteration))
    assert hangs.calls == 3
    assert dispatcher.failures == {"Hangs.on_event": 3}
    assert told[-1] == "The observer Hangs is too slow: it gets no more events."
    assert "Hangs is too slow" in caplog.text


class Spills(Hooks):
    async def on_resumed(self, event: Resumed) -> None:
        raise RuntimeError("no ink")


async def test_what_an_observer_raises_is_logged_once_and_counted_each_time(caplog: pytest.LogCaptureFixture) -> None:
    dispatcher = Dispatcher([Spills(), Spills()], list[str]().append)
    for _ in range(5):
        await dispatcher.publish(happened())
    assert len([record for record in caplog.records if record.exc_info]) == len(caplog.records) == 2
    assert dispatcher.failures == {"Spills.on_resumed": 10}
    assert dispatcher.complaints == [
        "The observer Spills.on_resumed failed (RuntimeError); the run continues without it."
    ]


class Vetoes(Hooks):
    async def before_iteration(self, due: IterationDue) -> Veto | None:
        return Veto(reason=f"not number {due.iteration}")


class Raises(Hooks):
    async def before_iteration(self, due: IterationDue) -> Veto | None:
        raise RuntimeError("no idea")


class Sleeps(Hooks):
    async def before_iteration(self, due: IterationDue) -> Veto | None:
        await anyio.sleep_forever()
        return Veto(reason="too late")


class Exits(Hooks):
    async def before_iteration(self, due: IterationDue) -> Veto | None:
        sys.exit(3)


class Unreadable(Hooks):
    def __getattribute__(self, name: str) -> object:
        if name.startswith("before_"):
            raise RuntimeError(name)
        return super().__getattribute__(name)


class SaysNo(Hooks):
    async def before_iteration(self, due: IterationDue) -> Veto | None:
        return False  # type: ignore[return-value]  # pyright: ignore[reportReturnType]


async def test_a_veto_is_an_explicit_value_and_who_fails_to_give_it_has_none() -> None:
    told: list[str] = []
    dispatcher = Dispatcher([Raises(), Sleeps(), Exits(), Unreadable(), SaysNo(), SeenEvents(), Vetoes()], told.append)
    assert await dispatcher.ask(DUE) == [Objection("Vetoes", "not number 3")]
    assert dispatcher.vetoes == {"Vetoes": 1}
    assert set(dispatcher.failures) == {f"{name}.before_iteration" for name in ("Raises", "Sleeps", "Exits", "SaysNo")}
    assert any("which is not a Veto" in text for text in told)


async def test_who_only_observes_has_no_say_and_is_not_asked() -> None:
    due = CompletionDue(
        run_id="r", iteration=1, at=AT, task="t", workspace=None, text="done", claim=Claim(reason="it says so")
    )
    dispatcher = Dispatcher([Hangs(), SeenEvents(), Vetoes()], print)
    assert await dispatcher.ask(due) == []
    assert not dispatcher.failures


def test_a_veto_before_an_iteration_ends_the_run_with_its_reason() -> None:
    class Enough(Hooks):
        async def before_iteration(self, due: IterationDue) -> Veto | None:
            return Veto(reason="the battery is low") if due.iteration == 2 else None

    executor = ScriptedExecutor(["Half of it is done.", "More."])
    record = Runner(executor=executor, hooks=[Enough()], limits=Limits(max_iterations=5)).run_sync("Write a parser.")
    assert (record.stop_reason, record.iterations) == ("cancelled", 1)
    assert record.detail == "iteration 2 was vetoed by Enough: the battery is low"


def test_a_veto_against_a_completion_refutes_it_and_the_agent_is_told() -> None:
    class Reviews(Hooks):
        def __init__(self) -> None:
            self.claims: list[str] = []
            self.decisions: list[str] = []

        async def before_completion(self, due: CompletionDue) -> Veto | None:
            self.claims.append(due.claim.reason)
            return Veto(reason="the changelog is missing") if len(self.claims) == 1 else None

        async def on_iteration_finished(self, event: IterationFinished) -> None:
            self.decisions.append(event.decision.reason)

    reviews, executor = Reviews(), ScriptedExecutor([DONE, DONE])
    record = Runner(executor=executor, hooks=[reviews], limits=Limits(max_iterations=5)).run_sync("Write a parser.")
    assert (record.stop_reason, record.iterations, record.verified) == ("completed", 2, False)
    assert reviews.claims == ["EXIT_SIGNAL: true"] * 2
    assert reviews.decisions[0] == "a claim of completion was refuted"
    assert "the changelog is missing" in executor.prompts[1].text


@pytest.mark.parametrize("question", ["before_iteration", "before_completion"])
async def test_a_wish_to_stop_does_not_wait_for_a_veto(monkeypatch: pytest.MonkeyPatch, question: str) -> None:
    monkeypatch.setattr(ralph.loop.event_log, "_PATIENCE", 3600.0)
    asked = anyio.Event()

    async def ponders(self: Hooks, due: object) -> None:
        asked.set()
        await anyio.sleep_forever()

    hook = type("Ponders", (Hooks,), {question: ponders})()
    async with Runner(executor=ScriptedExecutor([DONE]), hooks=[hook]) as runner, anyio.create_task_group() as tasks:

        async def stop() -> None:
            await asked.wait()
            runner.cancel("SIGTERM")

        tasks.start_soon(stop)
        with anyio.fail_after(10):
            record = await runner.run("Write a parser.")
            assert (record.stop_reason, record.detail) == ("cancelled", "SIGTERM")
