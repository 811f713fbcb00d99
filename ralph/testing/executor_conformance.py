"""Tests that every executor must pass, to be inherited. They need pytest with pytest-asyncio.

```
class TestMyExecutor(ExecutorConformance):
    @pytest.fixture
    def executor(self):
        return MyExecutor("an agent that says the same to everything")

    @pytest.fixture
    def failing(self):
        return MyExecutor("an agent that fails")

    @pytest.fixture
    def hanging(self):
        return MyExecutor("an agent that never ends its turn")
```

For a real agent, `ModelServer` is a model that answers, fails and hangs as scripted.
"""

import asyncio
import os
import re
from pathlib import Path
from typing import get_args

import pytest

from ralph.executors.base import BOUNDS, Executor, Quantity, Transcript, Turn, TurnEvent
from ralph.prompt import Prompt
from ralph.system.secrets import Redactor
from ralph.testing.observe import running
from ralph.types.output import Answered, Failed, Message, Output, TimedOut, Timeouts

_NAMED, _TOLD = 100, 2_000
_PROMPT = Prompt(text="Do the work, é.", task="work")
_HOSTILE = "-p --help @file \x1b]0;x\x07 \u202e`$(id)` %s {0} \"' \\\n完成\n" * 500
_PATIENT = Timeouts(idle=30, iteration=40, tool=30)
_SECRET = 6
"""Characters of the shortest secret that is masked."""


@pytest.mark.asyncio
class ExecutorConformance:
    """The tests of an executor. Inherit it and provide three: one that answers, one that fails, one that hangs."""

    pace: float = 0.5
    """Seconds after which the agent is running, so that its turn can be interrupted."""

    patience: float = 10.0
    """Seconds in which an interrupted turn ends, with all processes."""

    @pytest.fixture
    def executor(self) -> Executor:
        """Provide one with an agent that always gives the same answer, of some words; not yet entered."""
        raise NotImplementedError

    @pytest.fixture
    def failing(self) -> Executor:
        """Provide one with an agent that fails in every turn; not yet entered."""
        raise NotImplementedError

    @pytest.fixture
    def hanging(self) -> Executor:
        """Provide one with an agent that never ends a turn by itself; not yet entered."""
        raise NotImplementedError

    async def test_it_has_a_name_that_fits_a_line(self, executor: Executor) -> None:
        assert executor.name.strip()
        assert executor.name.isprintable()
        assert len(executor.name) <= _NAMED

    async def test_what_it_finds_here_is_told_in_a_line(self, executor: Executor) -> None:
        found = await executor.check()
        assert found == "" or found.isprintable()

    async def test_what_it_measures_is_something_that_can_be_limited(self, executor: Executor) -> None:
        assert set(executor.measures) <= set(get_args(Quantity))
        assert executor.confines <= BOUNDS

    async def test_a_turn_gives_what_the_agent_said(self, executor: Executor, tmp_path: Path) -> None:
        seen: list[TurnEvent] = []
        async with executor:
            output = await executor.execute(_PROMPT, _turn(tmp_path, Transcript(seen.append)))
        assert isinstance(output, Output)
        assert output.outcome == Answered()
        assert output.text.strip()
        assert output.messages[-1] == Message(text=output.text), "the text is the last message"
        told = tuple(event for event in seen if isinstance(event, Message))
        assert told == output.messages, "each message is told as it comes"
        unmeasured = [name for name in executor.measures if getattr(output.usage, name) is None]
        assert unmeasured == [], "what it measures is filled in"

    async def test_a_secret_is_masked(self, executor: Executor, tmp_path: Path) -> None:
        seen: list[TurnEvent] = []
        async with executor:
            said = (await executor.execute(_PROMPT, _turn(tmp_path))).text
            secret = max(re.findall(r"\S+", said), key=len)
            assert len(secret) >= _SECRET, f"the agent has to say a word of {_SECRET} letters"
            transcript = Transcript(seen.append, Redactor([secret]))
            output = await executor.execute(_PROMPT, _turn(tmp_path, transcript))
        assert secret not in output.text
        assert secret not in "".join(message.text for message in output.messages)
        assert secret not in "".join(event.text for event in seen if isinstance(event, Message))

    async def test_turns_do_not_mix(self, executor: Executor, tmp_path: Path) -> None:
        async with executor:
            first = await executor.execute(_PROMPT, _turn(tmp_path))
            second = await executor.execute(_PROMPT, _turn(tmp_path, iteration=2))
        assert len(second.messages) == len(first.messages)
        assert (second.usage.model_calls or 0) <= (first.usage.model_calls or 0)

    async def test_a_turn_that_only_looks_and_one_with_a_hostile_prompt_are_turns(
        self, executor: Executor, tmp_path: Path
    ) -> None:
        async with executor:
            looked = await executor.execute(_PROMPT, _turn(tmp_path, read_only=True))
            output = await executor.execute(Prompt(text=_HOSTILE, task=_HOSTILE), _turn(tmp_path))
        assert looked.outcome == Answered()
        assert looked.text.strip()
        assert output.outcome == Answered()

    async def test_an_agents_failure_is_a_value_that_says_why(self, failing: Executor, tmp_path: Path) -> None:
        async with failing:
            output = await failing.execute(_PROMPT, _turn(tmp_path))
        assert isinstance(output.outcome, Failed)
        assert output.outcome.message.strip()
        assert len(output.outcome.message) <= _TOLD

    async def test_a_turn_that_runs_out_of_time_is_ended(self, hanging: Executor, tmp_path: Path) -> None:
        async with hanging:
            asked = asyncio.ensure_future(hanging.execute(_PROMPT, _turn(tmp_path, limit=self.pace)))
            await _ended(asked, self.pace + self.patience)
        assert asked.result().outcome == TimedOut(limit="iteration", after=self.pace)

    async def test_a_cancelled_turn_ends_and_lets_the_cancellation_go_on(
        self, hanging: Executor, tmp_path: Path
    ) -> None:
        async with hanging:
            asked = asyncio.ensure_future(hanging.execute(_PROMPT, _turn(tmp_path)))
            await asyncio.wait({asked}, timeout=self.pace)
            asked.cancel()
            await _ended(asked, self.patience)
        assert asked.cancelled()

    async def test_nothing_runs_when_it_is_stopped(self, executor: Executor, hanging: Executor, tmp_path: Path) -> None:
        before = running()
        async with executor:
            await executor.execute(_PROMPT, _turn(tmp_path))
        async with hanging:
            await hanging.execute(_PROMPT, _turn(tmp_path, limit=self.pace))
        assert running() - before == set()

    async def test_it_can_be_stopped_at_any_time(self, executor: Executor, tmp_path: Path) -> None:
        await executor.stop()
        async with executor:
            await executor.execute(_PROMPT, _turn(tmp_path))
            await executor.stop()
        await executor.stop()

    async def test_it_leaves_the_process_as_it_was(self, executor: Executor, tmp_path: Path) -> None:
        folder, variables = os.getcwd(), dict(os.environ)  # noqa: PTH109 - what the process has
        async with executor:
            await executor.execute(_PROMPT, _turn(tmp_path))
            assert os.getcwd() == folder  # noqa: PTH109
            assert dict(os.environ) == variables


def _turn(
    folder: Path,
    transcript: Transcript | None = None,
    *,
    iteration: int = 1,
    limit: float = _PATIENT.iteration,
    read_only: bool = False,
) -> Turn:
    timeouts = Timeouts(idle=_PATIENT.idle, iteration=limit, tool=_PATIENT.tool)
    return Turn(folder, iteration, timeouts, transcript or Transcript(), read_only=read_only)


async def _ended(asked: "asyncio.Future[Output]", within: float) -> None:
    """Wait for a turn's end, and assert that it comes in time; an endless turn is left alone."""
    await asyncio.wait({asked}, timeout=within)
    assert asked.done(), f"it continues for more than {within:g} s"
