"""Retry, then fall back: who is asked, how often, what they are told, and what is recorded of it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import anyio
import pytest

from ralph.errors import ExecutorUnavailableError, UsageError
from ralph.executors.base import Diagnosed, Executor, FellBack, Quantity, Transcript, Turn, TurnEvent
from ralph.executors.execute import half_done
from ralph.executors.fallback import FallbackExecutor, PrimaryBreaker
from ralph.prompt import Prompt
from ralph.types.output import Answered, Failed, FailureKind, Interrupted, Outcome, Output, TimedOut, Timeouts, Usage

DONE = Answered()


def failed(kind: FailureKind, retry_after: float | None = None) -> Failed:
    return Failed(failure=kind, message=f"it was {kind}", retry_after=retry_after)


class Agent(Executor):
    """Ends its turns as it is told, and remembers how it was asked."""

    def __init__(
        self,
        outcomes: Iterable[Outcome] = (),
        *,
        unavailable: str = "",
        works: bool = False,
        account: str = "",
        measures: Iterable[Quantity] = ("tokens",),
    ) -> None:
        self.outcomes = list(outcomes)
        self.unavailable = unavailable
        self.works = works
        self.account = account
        self.measures = frozenset(measures)
        self.prompts: list[str] = []
        self.sessions: list[str | None] = []
        self.starts = self.stops = 0

    async def start(self) -> None:
        self.starts += 1
        if self.unavailable:
            raise ExecutorUnavailableError(self.unavailable, f"Mend {self.name}.")

    async def execute(self, prompt: Prompt, turn: Turn) -> Output:
        self.prompts.append(prompt.text)
        self.sessions.append(turn.session_id)
        transcript = turn.transcript
        transcript.session_id = turn.session_id or f"{self.name}-{len(self.prompts)}"
        if self.works:
            transcript.tool_started("1", "bash")
            transcript.tool_finished("1", success=True)
        transcript.used(Usage(input_tokens=10, output_tokens=1))
        outcome = self.outcomes.pop(0) if self.outcomes else DONE
        return transcript.finish(outcome, text=f"{self.name} says {outcome.kind}")

    async def stop(self) -> None:
        self.stops += 1


class First(Agent):
    name: ClassVar[str] = "first"


class Second(Agent):
    name: ClassVar[str] = "second"


@dataclass
class Bench:
    """A fallback executor, the events of its turns, and a clock and a sleep that pass no time."""

    first: Agent
    second: Agent
    now: float = 0.0
    slept: list[float] = field(default_factory=list)
    events: list[TurnEvent] = field(default_factory=list)

    def __post_init__(self) -> None:
        breaker = PrimaryBreaker(clock=lambda: self.now)
        self.executor = FallbackExecutor(self.first, self.second, breaker=breaker, sleep=self.sleep)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    async def turn(self, session_id: str | None = None, timeouts: Timeouts | None = None) -> Output:
        self.events.clear()
        turn = Turn(
            workspace=Path.cwd(),
            transcript=Transcript(self.events.append),
            session_id=session_id,
            session_of=(session_id or "").partition("-")[0],
            timeouts=timeouts or Timeouts(),
        )
        return await self.executor.execute(Prompt(text="Mend it.", task="Mend it."), turn)

    @property
    def fell_back(self) -> list[tuple[str, str]]:
        return [(event.before, event.after) for event in self.events if isinstance(event, FellBack)]

    @property
    def told(self) -> str:
        return "\n".join(event.text for event in self.events if isinstance(event, Diagnosed))


async def test_a_turn_that_succeeds_is_the_primarys_and_never_starts_the_secondary() -> None:
    bench = Bench(First(), Second())
    async with bench.executor:
        output = await bench.turn()
    assert (output.executor, output.attempts, bench.fell_back) == ("first", (), [])
    assert bench.second.starts == bench.second.stops == 0
    assert bench.first.stops == 1


@pytest.mark.parametrize("kind", ["unavailable", "protocol", "crashed"])
async def test_a_passing_failure_is_tried_once_more_after_a_short_pause(kind: FailureKind) -> None:
    bench = Bench(First([failed(kind)]), Second())
    async with bench.executor:
        output = await bench.turn()
    assert (output.executor, output.outcome) == ("first", DONE)
    assert [attempt.outcome for attempt in output.attempts] == [failed(kind)]
    assert bench.fell_back == [("first", "first")]
    assert len(bench.slept) == 1
    assert 0.1 <= bench.slept[0] <= 1.0
    assert bench.second.starts == 0


@pytest.mark.parametrize("kind", ["unavailable", "protocol", "crashed"])
async def test_after_the_second_failure_the_secondary_answers_and_all_usage_counts(kind: FailureKind) -> None:
    bench = Bench(First([failed(kind), failed(kind)]), Second())
    async with bench.executor:
        output = await bench.turn()
    assert (output.executor, output.text) == ("second", "second says completed")
    assert [attempt.executor for attempt in output.attempts] == ["first", "first"]
    assert [message.text for message in output.messages] == ["second says completed"]
    assert output.usage.tokens == 33
    assert bench.fell_back == [("first", "first"), ("first", "second")]
    assert (bench.second.starts, bench.second.stops) == (1, 1)


@pytest.mark.parametrize(
    "outcome",
    [
        failed("auth"),
        failed("refused"),
        failed("rate_limited", retry_after=30.0),
        TimedOut(limit="idle", after=600),
        Interrupted(by="limit"),
    ],
)
async def test_what_another_try_cannot_mend_is_returned_as_it_is(outcome: Outcome) -> None:
    bench = Bench(First([outcome]), Second())
    async with bench.executor:
        output = await bench.turn()
    assert (output.executor, output.outcome, output.attempts) == ("first", outcome, ())
    assert bench.slept == []
    assert bench.second.starts == 0


@pytest.mark.parametrize(
    ("mine", "other", "answers"),
    [("", "", "first"), ("a", "a", "first"), ("a", "", "first"), ("a", "b", "second"), ("", "b", "second")],
)
async def test_a_rate_limit_falls_back_only_to_a_declared_other_account(mine: str, other: str, answers: str) -> None:
    bench = Bench(First([failed("rate_limited")], account=mine), Second(account=other))
    async with bench.executor:
        output = await bench.turn()
    assert output.executor == answers
    assert bench.slept == []


async def test_whoever_follows_an_attempt_at_work_is_told_once_that_the_tree_may_be_half_changed() -> None:
    first = First([failed("crashed"), failed("crashed")], works=True)
    bench = Bench(first, Second())
    async with bench.executor:
        await bench.turn()
    assert first.prompts[0] == "Mend it."
    for told in (first.prompts[1], bench.second.prompts[0]):
        assert told.startswith("Mend it.\n\nNote: ")
        assert told.count("half-changed") == 1


async def test_nobody_is_warned_of_an_attempt_that_used_no_tool() -> None:
    bench = Bench(First([failed("unavailable")] * 2), Second())
    async with bench.executor:
        await bench.turn()
    assert [*bench.first.prompts, *bench.second.prompts] == ["Mend it."] * 3


def test_the_warning_leaves_the_persons_own_words_alone() -> None:
    prompt = half_done(Prompt(text="Everything.", task="Mend it.", iteration=4))
    assert (prompt.task, prompt.iteration) == ("Mend it.", 4)
    assert half_done(prompt) == prompt


async def test_a_secondary_that_fails_too_gives_the_outcome() -> None:
    bench = Bench(First([failed("crashed")] * 2), Second([failed("unavailable")]))
    async with bench.executor:
        output = await bench.turn()
    assert (output.executor, output.outcome) == ("second", failed("unavailable"))
    assert len(output.attempts) == 2
    assert len(bench.second.prompts) == 1


async def test_with_the_time_nearly_used_up_nobody_tries_again() -> None:
    bench = Bench(First([failed("crashed")]), Second())
    async with bench.executor:
        output = await bench.turn(timeouts=Timeouts(iteration=1e-9))
    assert output.outcome == failed("crashed")
    assert bench.slept == []
    assert bench.fell_back == []


async def test_after_three_fallbacks_in_a_row_the_primary_is_left_alone_until_the_cool_down_is_over() -> None:
    bench = Bench(First([failed("unavailable")] * 7), Second())
    async with bench.executor:
        for _ in range(3):
            assert (await bench.turn()).executor == "second"
        assert "only second is used for 600 seconds" in bench.told
        bench.now = 599
        output = await bench.turn()
        assert (output.executor, output.attempts, len(bench.first.prompts)) == ("second", (), 6)
        bench.now = 600
        assert (await bench.turn()).executor == "second"
        assert len(bench.first.prompts) == 7, "a probe is a single try"
        bench.now = 1199
        await bench.turn()
        assert len(bench.first.prompts) == 7, "a failed probe opens it again"
        bench.now = 1200
        assert (await bench.turn()).executor == "first"
        assert (await bench.turn()).executor == "first"


async def test_a_success_in_between_keeps_the_primary_in_play() -> None:
    twice = [failed("unavailable")] * 2
    bench = Bench(First([*twice, *twice, DONE, *twice, *twice]), Second())
    async with bench.executor:
        answered = [(await bench.turn()).executor for _ in range(6)]
    assert answered == ["second", "second", "first", "second", "second", "first"]


async def test_the_stand_in_is_tried_twice_while_it_alone_is_asked() -> None:
    bench = Bench(First(unavailable="No CLI here."), Second([failed("crashed")]))
    async with bench.executor:
        output = await bench.turn()
    assert (output.executor, output.outcome) == ("second", DONE)
    assert bench.fell_back == [("second", "second")]


# covers: S4-5
async def test_a_primary_that_cannot_start_leaves_the_work_to_the_secondary_and_that_is_said_once() -> None:
    bench = Bench(First(unavailable="No CLI here."), Second())
    async with bench.executor:
        assert (await bench.turn()).executor == "second"
        assert "first cannot work, so second does. No CLI here. Mend first." in bench.told
        await bench.turn()
        assert bench.told == ""
    assert (bench.first.starts, bench.first.stops) == (1, 1)


async def test_a_primary_that_could_not_start_is_tried_again_after_the_cool_down() -> None:
    bench = Bench(First(unavailable="No CLI here."), Second())
    async with bench.executor:
        await bench.turn()
        bench.now = 600
        output = await bench.turn()
        assert (output.executor, [attempt.executor for attempt in output.attempts]) == ("second", ["first"])
        bench.first.unavailable = ""
        bench.now = 1200
        assert (await bench.turn()).executor == "first"


async def test_when_neither_can_start_one_error_names_both() -> None:
    bench = Bench(First(unavailable="No CLI here."), Second(unavailable="Not logged in."))
    with pytest.raises(ExecutorUnavailableError) as caught:
        async with bench.executor:
            pass
    said = str(caught.value)
    for part in ("Neither first nor second", "No CLI here.", "Not logged in.", "Mend first.", "Mend second."):
        assert part in said


async def test_a_secondary_that_cannot_start_leaves_the_primarys_failure_standing() -> None:
    bench = Bench(First([failed("crashed")] * 2), Second(unavailable="Not logged in."))
    async with bench.executor:
        output = await bench.turn()
    assert (output.executor, output.outcome) == ("first", failed("crashed"))
    assert "second cannot step in. Not logged in." in bench.told
    assert bench.fell_back == [("first", "first")]


async def test_a_persons_mistake_is_not_hidden_by_the_secondary() -> None:
    class Mistaken(First):
        async def start(self) -> None:
            raise UsageError("COPILOT_CLI_PATH names nothing.")

    bench = Bench(Mistaken(), Second())
    with pytest.raises(UsageError, match="COPILOT_CLI_PATH"):
        async with bench.executor:
            pass


async def test_a_switch_under_continue_starts_a_fresh_session_and_says_so() -> None:
    first = First([DONE, failed("crashed"), failed("crashed"), DONE])
    bench = Bench(first, Second())
    async with bench.executor:
        mine = (await bench.turn()).session_id
        other = (await bench.turn(mine)).session_id
        assert first.sessions[1:] == [mine, mine]
        assert bench.second.sessions == [None]
        assert "second cannot continue the session of first: it starts a new one." in bench.told
        output = await bench.turn(other)
        assert (output.executor, first.sessions[3]) == ("first", None)
        assert "first cannot continue the session of second" in bench.told


async def test_the_stand_in_goes_on_with_its_own_session() -> None:
    bench = Bench(First(unavailable="No CLI here."), Second())
    async with bench.executor:
        session = (await bench.turn()).session_id
        await bench.turn(session)
    assert bench.second.sessions == [None, session]


def test_only_what_both_measure_is_measured_and_the_account_is_the_primarys() -> None:
    first = First(account="mine", measures=("tokens", "premium_requests"))
    executor = FallbackExecutor(first, Second(account="other", measures=("tokens", "cost")))
    assert executor.measures == {"tokens"}
    assert executor.account == "mine"


async def test_stop_reaches_the_secondary_even_if_the_primarys_stop_fails() -> None:
    class Stubborn(First):
        async def stop(self) -> None:
            raise RuntimeError("it will not stop")

    bench = Bench(Stubborn([failed("crashed")] * 2), Second())
    with pytest.raises(RuntimeError, match="will not stop"):
        async with bench.executor:
            await bench.turn()
    assert bench.second.stops == 1


async def test_cancelling_ends_the_pause_between_two_tries() -> None:
    first = First([failed("crashed")])
    executor = FallbackExecutor(first, Second(), sleep=lambda _seconds: anyio.sleep_forever())
    turn = Turn(workspace=Path.cwd())
    async with executor:
        with anyio.move_on_after(0.05) as scope:
            await executor.execute(Prompt(text="Mend it.", task="Mend it."), turn)
    assert scope.cancelled_caught
    assert len(first.prompts) == 1
