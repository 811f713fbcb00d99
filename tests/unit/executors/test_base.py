"""The executor's side of a turn: the transcript, the watchdog, and the life of an executor."""

from pathlib import Path
from typing import Any, ClassVar

import anyio
import anyio.lowlevel
import pytest

from ralph.errors import ExecutorUnavailableError
from ralph.executors import base
from ralph.executors.base import (
    Diagnosed,
    Executor,
    FellBack,
    MessageDelta,
    Timeouts,
    ToolFinished,
    ToolStarted,
    Transcript,
    Turn,
    TurnEvent,
    watchdog,
    within_time,
)
from ralph.prompt import Prompt
from ralph.system.secrets import MASK, Redactor
from ralph.types.output import Answered, Failed, Interrupted, Message, Outcome, Output, TimedOut, Usage

SECRET = "hunter2-is-not-a-password"
OUTCOMES: list[Outcome] = [
    Answered(),
    TimedOut(limit="idle", after=5),
    Failed(failure="crashed", message="it died"),
    Interrupted(by="signal", detail="SIGINT"),
]


class Heard(list[TurnEvent]):
    """A listener's ears."""

    def of(self, kind: type[TurnEvent]) -> list[Any]:
        return [event for event in self if isinstance(event, kind)]


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def transcript(heard: Heard) -> Transcript:
    return Transcript(heard.append, Redactor([SECRET]))


@pytest.mark.parametrize(
    ("messages", "text"),
    [
        ([], ""),
        ([("hello", 0)], "hello"),
        ([("I look first", 1), ("EXIT_SIGNAL: true", 0)], "EXIT_SIGNAL: true"),
        ([("EXIT_SIGNAL: true", 0), ("I run the tests", 1)], ""),
        ([("EXIT_SIGNAL: true", 0), ("on second thoughts, no", 0)], "on second thoughts, no"),
        ([("EXIT_SIGNAL: true", 0), ("", 0)], ""),
    ],
)
def test_the_answer_is_the_last_message_and_only_without_tools(
    transcript: Transcript, messages: list[tuple[str, int]], text: str
) -> None:
    for said, tools in messages:
        transcript.message(said, tools)
    output = transcript.finish(Answered())
    assert output.text == text
    assert [message.text for message in output.messages] == [said for said, _ in messages]


@pytest.mark.parametrize("outcome", OUTCOMES, ids=lambda outcome: outcome.kind)
def test_a_turn_that_was_cut_short_keeps_what_there_was(transcript: Transcript, outcome: Outcome) -> None:
    transcript.executor, transcript.model, transcript.session_id = "x", "m", "s"
    transcript.message("I begin")
    transcript.tool_started("1", "bash", '{"command": "make"}')
    transcript.used(Usage(input_tokens=5))
    output = transcript.finish(outcome)
    assert output.outcome == outcome
    assert (output.text, output.executor, output.model, output.session_id) == ("I begin", "x", "m", "s")
    assert [(call.name, call.success) for call in output.tool_calls] == [("bash", None)]
    assert output.usage == Usage(input_tokens=5)
    assert output.duration > 0


def test_a_message_that_never_came_to_its_end_is_kept_but_is_no_answer(transcript: Transcript) -> None:
    transcript.message("I begin", 0)
    for piece in ("EXIT_SIGNAL", ": true, with ", SECRET, " and"):
        transcript.delta(piece)
    output = transcript.finish(TimedOut(limit="idle", after=5))
    assert output.messages[-1].text == f"EXIT_SIGNAL: true, with {MASK} and"
    assert output.text == "I begin"


def test_pieces_are_forgotten_when_their_message_is_there_and_bounded_when_it_never_is(transcript: Transcript) -> None:
    transcript.delta("hel")
    transcript.message("hello")
    assert transcript.finish(Answered()).messages == (Message(text="hello"),)
    for _ in range(300):
        transcript.delta("x" * 1000)
    assert len(transcript.finish(Answered()).messages[-1].text) == 100_000


def test_finish_with_a_text_makes_a_message_of_it(transcript: Transcript, heard: Heard) -> None:
    output = transcript.finish(Answered(), text="hello")
    assert (output.text, output.messages) == ("hello", (Message(text="hello"),))
    assert heard.of(Message) == [Message(text="hello")]


def test_secrets_are_masked_wherever_they_come_in(transcript: Transcript, heard: Heard) -> None:
    for piece in ("the key is ", SECRET[:5], SECRET[5:], " and more"):
        transcript.delta(piece)
    transcript.message(f"the key is {SECRET}")
    transcript.tool_started("1", "bash", f"echo {SECRET}")
    transcript.tool_finished("1", success=False, result=f"{SECRET}: command not found")
    transcript.diagnosed(f"restarted with {SECRET}")
    transcript.gave_up("a", Failed(failure="auth", message=f"bad key {SECRET}"), "b")
    transcript.tool_started(SECRET, "bash")
    transcript.diagnostics = f"warning: {SECRET}"
    transcript.model, transcript.session_id = f"m {SECRET}", f"s {SECRET}"
    output = transcript.finish(Failed(failure="refused", message=f"no {SECRET}"), text=SECRET)
    shown = output.model_dump_json() + "".join(map(repr, heard))
    assert SECRET not in shown
    assert "".join(event.text for event in heard.of(MessageDelta)) == f"the key is {MASK} and more"
    assert shown.count(MASK) > 8


@pytest.mark.parametrize("room", [0, 5, 17])
def test_no_half_of_a_secret_stays_where_a_text_is_cut(room: int) -> None:
    transcript = Transcript(redactor=Redactor([SECRET, "shrinks" * 300]))
    # What is masked before it makes room, so that the cut falls into the second secret.
    long = "shrinks" * 300 + " " * (4000 - 2100 - room) + SECRET + " and so on" * 500
    transcript.tool_started("1", "bash", long)
    transcript.diagnostics = f"{'x' * 100}{SECRET}{'y' * (2000 - room)}"
    output = transcript.finish(Answered())
    kept = output.tool_calls[0].arguments + output.diagnostics
    assert not any(SECRET[start : start + 4] in kept for start in range(len(SECRET) - 3))
    assert len(output.tool_calls[0].arguments) <= 2000
    assert len(output.diagnostics) == 2000


def test_what_no_store_can_hold_is_replaced(transcript: Transcript) -> None:
    transcript.message("half \ud83d and \x00")
    transcript.tool_started("\ud83d", "b\x00sh", "\ud83d")
    transcript.tool_finished("\ud83d", success=True)
    transcript.model, transcript.session_id = "m\ud83d", "s\x00"
    output = transcript.finish(Answered())
    assert output.model_dump_json().encode()
    assert (output.tool_calls[0].id, output.tool_calls[0].success) == ("\ufffd", True)
    assert transcript.messages[0].text == "half \ufffd and \ufffd"


def test_tools_are_followed_from_start_to_end(transcript: Transcript, heard: Heard) -> None:
    transcript.tool_started("1", "bash")
    transcript.tool_started("2", "edit")
    transcript.tool_finished("2", success=False, denied=True, result="no")
    transcript.tool_finished("1", success=True, result="x" * 9000)
    transcript.tool_finished("1", success=False, result="a second end is none")
    transcript.tool_finished("3", success=True, result="never started")
    calls = transcript.finish(Answered()).tool_calls
    assert [(call.id, call.success, call.denied, len(call.result)) for call in calls] == [
        ("1", True, False, 2000),
        ("2", False, True, 2),
    ]
    assert [event.call.id for event in heard.of(ToolStarted)] == ["1", "2"]
    assert [event.call.id for event in heard.of(ToolFinished)] == ["2", "1"]
    assert transcript.did_something


def test_an_attempt_that_was_given_up_leaves_its_usage_and_nothing_else(transcript: Transcript, heard: Heard) -> None:
    transcript.message("I begin")
    transcript.tool_started("1", "bash")
    transcript.used(Usage(input_tokens=5, cost=0.5))
    transcript.session_id, transcript.diagnostics = "s", "it crashed"
    transcript.gave_up("first", Failed(failure="crashed"), "second")
    assert not transcript.did_something
    transcript.used(Usage(input_tokens=2))
    output = transcript.finish(Answered(), text="done")
    assert (output.text, output.tool_calls, output.session_id, output.diagnostics) == ("done", (), None, "")
    assert output.usage == Usage(input_tokens=7, cost=0.5)
    assert [(attempt.executor, attempt.usage.input_tokens) for attempt in output.attempts] == [("first", 5)]
    assert [(event.before, event.after) for event in heard.of(FellBack)] == [("first", "second")]
    assert [usage.input_tokens for usage in heard.of(Usage)] == [5, 7], "the listener is told of the whole turn"


def test_half_a_sentence_of_a_failed_attempt_is_not_put_before_the_next_ones(
    transcript: Transcript, heard: Heard
) -> None:
    transcript.delta("The key is hunter2-is-")  # held back: it could become a secret
    transcript.gave_up("first", Failed(failure="crashed"), "second")
    heard.clear()
    transcript.delta("Another agent begins. ")
    assert [event.text for event in heard.of(MessageDelta)] == ["Another agent begins. "]
    assert [message.text for message in transcript.finish(Answered()).messages] == ["Another agent begins. "]


def test_what_a_person_should_know_is_told_and_no_message(transcript: Transcript, heard: Heard) -> None:
    transcript.diagnosed("the runtime was restarted")
    assert heard == [Diagnosed("the runtime was restarted")]
    assert transcript.finish(Answered()).messages == ()


class Now:
    """The monotonic clock, moved by hand."""

    def __init__(self) -> None:
        self.time = 1000.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> Now:
    clock = Now()
    monkeypatch.setattr(base, "monotonic", clock)
    return clock


LIMITS = Timeouts(idle=10, iteration=100, tool=60)


def test_silence_ends_the_turn_and_any_sign_of_life_puts_it_off(now: Now) -> None:
    transcript = Transcript()
    assert transcript.expires(LIMITS) == (1010, TimedOut(limit="idle", after=10))
    signs = (
        transcript.alive,
        lambda: transcript.delta("a"),
        lambda: transcript.message("b"),
        lambda: transcript.used(Usage()),
        lambda: transcript.gave_up("x", Failed(failure="crashed"), "x"),
    )
    for number, sign in enumerate(signs, start=1):
        now.time = 1000 + number
        sign()
        assert transcript.expires(LIMITS)[0] == now.time + 10


def test_a_running_tool_is_a_sign_of_life_up_to_its_own_limit(now: Now) -> None:
    transcript = Transcript()
    transcript.tool_started("1", "bash")
    now.time = 1020
    transcript.tool_started("2", "bash")
    assert transcript.expires(LIMITS) == (1060, TimedOut(limit="tool", after=60))
    transcript.tool_finished("1", success=True)
    assert transcript.expires(LIMITS) == (1080, TimedOut(limit="tool", after=60))
    now.time = 1030
    transcript.tool_finished("2", success=True)
    assert transcript.expires(LIMITS) == (1040, TimedOut(limit="idle", after=10))


def test_the_whole_turn_has_an_end_whatever_happens_in_it(now: Now) -> None:
    transcript = Transcript()
    now.time = 1095
    transcript.tool_started("1", "bash")
    assert transcript.expires(LIMITS) == (1100, TimedOut(limit="iteration", after=100))
    transcript.gave_up("x", Failed(failure="crashed"), "y")
    assert transcript.expires(LIMITS) == (1100, TimedOut(limit="iteration", after=100)), (
        "a second try has no second hour"
    )


def turn(**limits: float) -> Turn:
    return Turn(workspace=Path("/"), timeouts=Timeouts(**({"idle": 9, "iteration": 9, "tool": 9} | limits)))


@pytest.mark.parametrize(
    ("limits", "tool", "which"),
    [({"idle": 0.02}, False, "idle"), ({"iteration": 0.02}, True, "iteration"), ({"tool": 0.02}, True, "tool")],
)
async def test_the_watchdog_bites_when_a_time_has_run_out(limits: dict[str, float], tool: bool, which: Any) -> None:
    watched = turn(**limits)
    if tool:
        watched.transcript.tool_started("1", "bash")
    with anyio.fail_after(5):
        assert await watchdog(watched) == TimedOut(limit=which, after=0.02)


async def test_a_tool_that_starts_while_the_watchdog_waits_for_something_else_has_its_own_limit() -> None:
    watched = turn(tool=0.1)

    async def work() -> None:
        await anyio.lowlevel.checkpoint()  # the watchdog has looked and sees an idle agent
        watched.transcript.tool_started("1", "bash")
        await anyio.sleep_forever()

    with anyio.fail_after(5):
        assert await within_time(watched, work) == TimedOut(limit="tool", after=0.1)


async def test_silence_after_a_tool_is_not_given_the_tools_long_limit() -> None:
    watched = turn(idle=0.1)
    watched.transcript.tool_started("1", "bash")

    async def work() -> None:
        await anyio.lowlevel.checkpoint()  # the watchdog has looked and sees a tool at work
        watched.transcript.tool_finished("1", success=True)
        await anyio.sleep_forever()

    with anyio.fail_after(5):
        assert await within_time(watched, work) == TimedOut(limit="idle", after=0.1)


async def test_the_watchdog_does_not_bite_who_gives_signs_of_life() -> None:
    watched = turn(idle=0.1)

    async def work() -> None:
        for _ in range(40):
            watched.transcript.alive()
            await anyio.sleep(0.005)

    assert await within_time(watched, work) is None


async def test_work_that_has_run_out_of_time_is_cancelled() -> None:
    ended = anyio.Event()

    async def work() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()

    with anyio.fail_after(5):
        assert await within_time(turn(idle=0.02), work) == TimedOut(limit="idle", after=0.02)
    assert ended.is_set()


async def test_what_the_work_raises_reaches_the_caller_as_it_is() -> None:
    async def work() -> None:
        raise ConnectionResetError("gone")

    with pytest.raises(ConnectionResetError, match="gone"):
        await within_time(turn(), work)


class Echo(Executor):
    """As short as an executor gets."""

    name: ClassVar[str] = "echo"

    async def execute(self, prompt: Prompt, turn: Turn) -> Output:
        return turn.transcript.finish(Answered(), text=f"I was asked: {prompt.task}")


async def test_the_example_of_the_documentation_works() -> None:
    async with Echo() as executor:
        output = await executor.execute(Prompt(task="sing", text="Sing."), turn())
    assert output.text == "I was asked: sing"
    assert executor.measures == frozenset()


async def test_stop_follows_start_also_a_failed_one() -> None:
    class Fragile(Executor):
        name = "fragile"

        def __init__(self, problem: Exception | None = None) -> None:
            self.problem, self.life = problem, list[str]()

        async def start(self) -> None:
            self.life.append("start")
            if self.problem:
                raise self.problem

        async def stop(self) -> None:
            await anyio.lowlevel.checkpoint()
            self.life.append("stop")

    missing = Fragile(ExecutorUnavailableError("There is no CLI."))
    with pytest.raises(ExecutorUnavailableError):
        async with missing:
            raise AssertionError("never entered")
    assert missing.life == ["start", "stop"]

    cancelled = Fragile()
    with anyio.CancelScope() as scope:
        async with cancelled:
            scope.cancel()
            await anyio.lowlevel.checkpoint()
    assert cancelled.life == ["start", "stop"], "also when it is cancelled"


async def test_an_executor_that_does_nothing_says_so() -> None:
    with pytest.raises(NotImplementedError):
        await Executor().execute(Prompt(task="", text=""), turn())
