"""The single retry that a bare executor gets, as one under the fallback does."""

from pathlib import Path
from typing import Any

import pytest

from ralph.errors import UsageError
from ralph.executors.base import Executor, Transcript, Turn
from ralph.executors.execute import execute
from ralph.executors.fallback import FallbackExecutor
from ralph.prompt import Prompt
from ralph.testing import ScriptedExecutor
from ralph.types.output import Answered, Failed, Output, Timeouts

UNAVAILABLE = Failed(failure="unavailable", status=503)


class Bare(Executor):
    """Does these things, one a try."""

    name = "bare"

    def __init__(self, *does: object) -> None:
        self.does, self.prompts = list(does), list[str]()

    async def execute(self, prompt: Prompt, turn: Turn) -> Any:
        self.prompts.append(prompt.text)
        what = self.does.pop(0)
        if isinstance(what, Exception):
            raise what
        if isinstance(what, Failed):
            turn.transcript.tool_started(str(len(self.prompts)), "bash")
            return turn.transcript.finish(what)
        return turn.transcript.finish(Answered(), text=what) if isinstance(what, str) else what


def turn(iteration: float = 3_600.0) -> Turn:
    return Turn(workspace=Path.cwd(), transcript=Transcript(), timeouts=Timeouts(iteration=iteration))


@pytest.mark.parametrize(
    ("does", "asked", "ends", "tried"),
    [
        ((UNAVAILABLE, "Done."), 2, "completed", ["unavailable"]),
        ((ValueError("boom"), "Done."), 2, "completed", ["crashed"]),
        ((None, "Done."), 2, "completed", ["crashed"]),
        ((UsageError("no folder"), UsageError("no folder")), 2, "failed", ["unavailable"]),
        ((UNAVAILABLE, UNAVAILABLE, "Done."), 2, "failed", ["unavailable"]),
        ((Failed(failure="auth"), "Done."), 1, "failed", []),
        ((Failed(failure="rate_limited"), "Done."), 1, "failed", []),
    ],
)
async def test_a_failure_that_may_pass_is_tried_once_more(
    does: tuple[object, ...], asked: int, ends: str, tried: list[str]
) -> None:
    executor = Bare(*does)
    output = await execute(executor, Prompt(text="Work.", task="Work.", iteration=1), turn())
    assert (len(executor.prompts), output.outcome.kind) == (asked, ends)
    assert [attempt.outcome.failure for attempt in output.attempts if isinstance(attempt.outcome, Failed)] == tried
    assert output.executor == "bare"
    told = ["may be half-changed" in prompt for prompt in executor.prompts]
    assert told == [False, isinstance(does[0], Failed)][:asked], "only the first try of a Failed has used a tool"


async def test_near_the_end_of_its_time_nothing_is_tried_again() -> None:
    executor = Bare(UNAVAILABLE, "Done.")
    output = await execute(executor, Prompt(text="Work.", task="Work.", iteration=1), turn(iteration=1e-9))
    assert (len(executor.prompts), output.failure) == (1, UNAVAILABLE)


async def test_what_retries_by_itself_is_not_retried() -> None:
    scripted = ScriptedExecutor([UNAVAILABLE, "Done."])
    assert (await execute(scripted, Prompt(text="Work.", task="Work.", iteration=1), turn())).failure == UNAVAILABLE


async def test_under_the_fallback_what_raises_is_tried_again_and_then_left() -> None:
    """It was a crash of the whole fallback, so that the second executor never had its turn."""

    async def no_pause(_seconds: float) -> None: ...

    first, second = Bare(ValueError("boom"), ValueError("boom")), Bare("Done.")
    second.name = "second"  # type: ignore[misc] - as another class would have it
    output: Output = await execute(
        FallbackExecutor(first, second, sleep=no_pause), Prompt(text="Work.", task="Work.", iteration=1), turn()
    )
    assert (len(first.prompts), output.text, output.executor) == (2, "Done.", "second")
