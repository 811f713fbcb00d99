"""The conformance suite finds each fault that it is for: one wrong executor a clause."""

import asyncio
import inspect
import os
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import pytest

from ralph.executors.base import Executor, Turn, within_time
from ralph.prompt import Prompt
from ralph.testing import ExecutorConformance
from ralph.types.output import Answered, Failed, Output, Usage


class Right(Executor):
    """Says the same to everything, fails or hangs; the faults below are put into it."""

    name = "right"
    measures = frozenset({"tokens"})
    said = "Nothing remarkable happened."

    def __init__(self, mood: str = "says") -> None:
        self.mood = mood

    async def execute(self, prompt: Prompt, turn: Turn) -> Output:
        turn.transcript.executor = self.name
        if self.mood == "fails":
            return turn.transcript.finish(Failed(failure="crashed", message="it fell over"))
        if self.mood == "hangs" and (timed_out := await within_time(turn, anyio.sleep_forever)):
            return turn.transcript.finish(timed_out)
        turn.transcript.used(Usage(input_tokens=3, output_tokens=2, model_calls=1))
        return turn.transcript.finish(Answered(), text=self.said)


def altered(**changes: Any) -> type[Right]:
    """Gives what the right one gives, but for that."""

    class Altered(Right):
        async def execute(self, prompt: Prompt, turn: Turn) -> Output:
            return (await super().execute(prompt, turn)).model_copy(update=changes)

    Altered.__name__ = f"with {changes}"
    return Altered


class TwoLines(Right):
    name = "right\nor wrong"


class Ambitious(Right):
    measures: Any = frozenset({"tokens", "happiness"})


class Rambling(Right):
    async def check(self) -> str:
        return "scripted 1.0,\nand more of it"


class Silent(Right):
    said = " "


class Vague(Right):
    """Repeats more in its text than the agent said last."""

    async def execute(self, prompt: Prompt, turn: Turn) -> Output:
        output = await super().execute(prompt, turn)
        return output.model_copy(update={"text": f"The agent says: {output.text}"})


class Untold(Right):
    """Makes its output by itself."""

    async def execute(self, prompt: Prompt, turn: Turn) -> Output:
        return Output(text=self.said, messages=({"text": self.said},), executor=self.name)  # type: ignore[arg-type]


class Leaky(Right):
    """Puts what the agent said beside what was masked of it."""

    async def execute(self, prompt: Prompt, turn: Turn) -> Output:
        return (await super().execute(prompt, turn)).model_copy(update={"text": self.said})


class Unmeasured(Right):
    measures = frozenset({"tokens", "cost"})


class Accumulating(Right):
    """Gives each turn everything that was said so far."""

    def __init__(self, mood: str = "says") -> None:
        super().__init__(mood)
        self.messages: tuple[Any, ...] = ()

    async def execute(self, prompt: Prompt, turn: Turn) -> Output:
        output = await super().execute(prompt, turn)
        self.messages += output.messages
        return output.model_copy(update={"messages": self.messages})


class Summing(Right):
    """Counts the usage of all turns."""

    def __init__(self, mood: str = "says") -> None:
        super().__init__(mood)
        self.usage = Usage()

    async def execute(self, prompt: Prompt, turn: Turn) -> Output:
        output = await super().execute(prompt, turn)
        self.usage += output.usage
        return output.model_copy(update={"usage": self.usage})


class Busy(Right):
    """Refuses to look only."""

    async def execute(self, prompt: Prompt, turn: Turn) -> Output:
        if turn.read_only:
            return turn.transcript.finish(Failed(failure="refused", message="I work or I do not"))
        return await super().execute(prompt, turn)


class Careless(Right):
    """Takes the prompt for a format."""

    async def execute(self, prompt: Prompt, turn: Turn) -> Output:
        prompt.text.format()
        return await super().execute(prompt, turn)


class Raising(Right):
    async def execute(self, prompt: Prompt, turn: Turn) -> Output:
        output = await super().execute(prompt, turn)
        if output.failure:
            raise RuntimeError(output.failure.message)
        return output


class Taciturn(Right):
    async def execute(self, prompt: Prompt, turn: Turn) -> Output:
        output = await super().execute(prompt, turn)
        return output.model_copy(update={"outcome": Failed(failure="crashed")}) if output.failure else output


class Endless(Right):
    """Has no watchdog."""

    async def execute(self, prompt: Prompt, turn: Turn) -> Output:
        if self.mood == "hangs":
            await asyncio.sleep(30)
        return await super().execute(prompt, turn)


class Stubborn(Right):
    """Takes a cancellation for the end of the turn."""

    async def execute(self, prompt: Prompt, turn: Turn) -> Output:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(30)
        return turn.transcript.finish(Answered(), text=self.said)


class Untidy(Right):
    """Leaves a process behind."""

    children: list[asyncio.subprocess.Process] = []  # noqa: RUF012 - for the test to end them

    async def execute(self, prompt: Prompt, turn: Turn) -> Output:
        child = await asyncio.create_subprocess_exec(sys.executable, "-S", "-c", "import time; time.sleep(60)")
        self.children.append(child)
        return await super().execute(prompt, turn)


class Once(Right):
    started = False

    async def start(self) -> None:
        self.started = True

    async def stop(self) -> None:
        assert self.started
        self.started = False


class Wanderer(Right):
    async def execute(self, prompt: Prompt, turn: Turn) -> Output:
        os.chdir(turn.workspace)
        return await super().execute(prompt, turn)


class Announcing(Right):
    async def start(self) -> None:
        os.environ["RALPH_TEST_ANNOUNCED"] = "yes"


WRONG: list[tuple[str, type[Right]]] = [
    ("test_it_has_a_name_that_fits_a_line", TwoLines),
    ("test_what_it_finds_here_is_told_in_a_line", Rambling),
    ("test_what_it_measures_is_something_that_can_be_limited", Ambitious),
    ("test_a_turn_gives_what_the_agent_said", Silent),
    ("test_a_turn_gives_what_the_agent_said", altered(outcome=Failed(failure="crashed"))),
    ("test_a_turn_gives_what_the_agent_said", Vague),
    ("test_a_turn_gives_what_the_agent_said", Untold),
    ("test_a_secret_is_masked", Leaky),
    ("test_a_turn_gives_what_the_agent_said", Unmeasured),
    ("test_turns_do_not_mix", Accumulating),
    ("test_turns_do_not_mix", Summing),
    ("test_a_turn_that_only_looks_and_one_with_a_hostile_prompt_are_turns", Busy),
    ("test_a_turn_that_only_looks_and_one_with_a_hostile_prompt_are_turns", Careless),
    ("test_an_agents_failure_is_a_value_that_says_why", Raising),
    ("test_an_agents_failure_is_a_value_that_says_why", Taciturn),
    ("test_a_turn_that_runs_out_of_time_is_ended", Endless),
    ("test_a_cancelled_turn_ends_and_lets_the_cancellation_go_on", Stubborn),
    ("test_nothing_runs_when_it_is_stopped", Untidy),
    ("test_it_can_be_stopped_at_any_time", Once),
    ("test_it_leaves_the_process_as_it_was", Wanderer),
    ("test_it_leaves_the_process_as_it_was", Announcing),
]

CLAUSES = [name for name in dir(ExecutorConformance) if name.startswith("test_")]


class Impatient(ExecutorConformance):
    pace = 0.05
    patience = 0.2


@pytest.fixture
def asked(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str, type[Right]], Awaitable[None]]:
    """Puts one clause to an executor."""
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    monkeypatch.setenv("RALPH_TEST_ANNOUNCED", "no")

    async def ask(clause: str, kind: type[Right]) -> None:
        given = {"executor": kind(), "failing": kind("fails"), "hanging": kind("hangs"), "tmp_path": tmp_path}
        test = getattr(Impatient(), clause)
        await test(**{name: given[name] for name in inspect.signature(test).parameters})

    return ask


@pytest.mark.parametrize("clause", CLAUSES)
async def test_a_right_one_passes(asked: Callable[[str, type[Right]], Awaitable[None]], clause: str) -> None:
    await asked(clause, Right)


@pytest.mark.parametrize(("clause", "wrong"), WRONG)
async def test_a_wrong_one_is_found(
    asked: Callable[[str, type[Right]], Awaitable[None]], clause: str, wrong: type[Right]
) -> None:
    try:
        with pytest.raises((AssertionError, RuntimeError, LookupError)):
            await asked(clause, wrong)
    finally:
        for child in Untidy.children:
            child.kill()
            await child.wait()
        Untidy.children.clear()


def test_every_clause_has_a_wrong_one() -> None:
    assert {clause for clause, _ in WRONG} == set(CLAUSES)
