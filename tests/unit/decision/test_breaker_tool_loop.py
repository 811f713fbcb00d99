"""When a turn is cut short because its tool calls get nowhere."""

from collections.abc import Iterable
from pathlib import Path

import anyio.lowlevel
import pytest

from ralph.decision.breaker import ToolLoop
from ralph.executors.base import Turn
from ralph.loop.runner import Runner
from ralph.prompt import Prompt
from ralph.testing import ScriptedExecutor
from ralph.types.output import Interrupted, ToolCall
from ralph.workspace import open_workspace


def calls(*said: str, result: str = "No match found", duration: float = 0.1, denied: bool = False) -> list[ToolCall]:
    return [
        ToolCall(id="1", name="edit", arguments=text, result=result, duration=duration, denied=denied) for text in said
    ]


def heard(made: Iterable[ToolCall]) -> list[tuple[int, Interrupted]]:
    """After which calls it is enough, and how it is told."""
    tool_loop = ToolLoop()
    return [(number, lost) for number, call in enumerate(made, 1) if (lost := tool_loop.ended(call)) is not None]


def test_the_same_call_over_and_over_is_enough_at_sixty() -> None:
    [(number, lost)] = heard(calls('{"path": "a"}') * 70)
    assert (number, lost.by) == (60, "circles")
    assert lost.detail == "60 tool calls in a row were the same with the same result: edit a"


def test_of_a_long_call_its_beginning_and_its_end_are_told() -> None:
    [(_, lost)] = heard(calls('{"path": "' + "folder/" * 200 + 'README.md"}') * 60)
    assert lost.detail.endswith("/README.md")
    assert "edit folder/" in lost.detail
    assert len(lost.detail) < 170


def test_a_round_of_three_calls_is_the_same() -> None:
    [(number, lost)] = heard(calls("view", "edit", "test") * 20)
    assert (number, lost.by) == (60, "circles")
    assert "the same 3" in lost.detail


# A shell gives each of its calls a number of its own.
def test_a_running_number_makes_no_result_another() -> None:
    made = [call for number in range(60) for call in calls("true", result=f"<shellId: {number} completed>")]
    assert [lost.by for _, lost in heard(made)] == ["circles"]


@pytest.mark.parametrize(
    "made",
    [
        calls(*(f"{number}" for number in range(200))),
        calls("a", "b", "c", "d") * 50,
        [call for number in range(200) for call in calls("tail log", result=f"step {number} of 900")],
        calls("sleep 30; cat state", duration=30.0) * 200,
        (calls("cat state") + calls("sleep 30", duration=30.0)) * 100,
        calls("") * 200,
        calls("x" * 2_000) * 200,
        calls('{"path": "a", "kind": "update"}', result="") * 200,
        [*calls("a") * 57, *calls("b", "c", "d"), *calls("a") * 56],
    ],
    ids=[
        "different",
        "four",
        "other results",
        "slow",
        "slow between",
        "unknown",
        "cut",
        "no result",
        "something else between",
    ],
)
def test_what_may_lead_somewhere_goes_on(made: list[ToolCall]) -> None:
    assert heard(made) == []


def test_twenty_denials_in_a_row_are_enough() -> None:
    denied = calls("push", denied=True)
    [(number, lost)] = heard(denied * 20)
    assert (number, lost.by, lost.detail) == (20, "denials", "20 tool calls in a row were denied")
    assert heard([*denied * 19, *calls("pull"), *denied * 19]) == []


async def circle(_prompt: Prompt, turn: Turn) -> str:
    for number in range(99):
        turn.transcript.tool_started(str(number), "view", "same.txt")
        turn.transcript.tool_finished(str(number), success=True, result="as it was")
        await anyio.lowlevel.checkpoint()
    return "Never said."


def between(executor: ScriptedExecutor) -> list[str]:
    """What the prompts hold between the task and the contract."""
    return [prompt.text.partition("</task>")[2].partition("End your last")[0] for prompt in executor.prompts]


@pytest.mark.parametrize("known", [True, False])
async def test_the_next_turn_is_told_once_how_the_last_one_ended(tmp_path: Path, known: bool) -> None:
    workspace = open_workspace(tmp_path, state_dir=tmp_path / "state") if known else None
    executor = ScriptedExecutor([circle] * 9)
    async with Runner(executor=executor, workspace=workspace) as runner:
        await runner.run("Look.")
    _, *told = between(executor)
    assert [text.count("The last iteration was") for text in told] == [1] * len(told)
    assert ["another way" in text for text in told] == [True] * (len(told) - 1) + [False]
    assert ["different approach" in text for text in told] == [False] * (len(told) - 1) + [True]


async def test_it_is_told_of_a_turn_with_which_the_run_ended_when_that_is_resumed() -> None:
    executor = ScriptedExecutor([*[circle] * 4, "All is done."])
    async with Runner(executor=executor) as runner:
        record = await runner.run("Look.")
        assert (record.stop_reason, record.iterations) == ("stuck", 4)
        await runner.resume(record.id)
    assert "it was ended before its time" in between(executor)[4]
