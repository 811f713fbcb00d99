"""A custom status field and completion keyword, and an observer that sees what the agent put into the field.

`uv run python examples/extra_fields.py`
"""

import tempfile
from pathlib import Path

import anyio

from ralph import Hooks, Keyword, Prompt, Runner, RunRecord, StatusField, Turn
from ralph.records.events import IterationFinished
from ralph.testing import ScriptedExecutor
from ralph.workspace import open_workspace

TESTS = StatusField("TESTS_PASSING", int, "how many tests pass now", example=12)
SHIPPED = Keyword(text="ready for the harbour", weight="very_high")

ANSWERS = [
    "---RALPH_STATUS---\nEXIT_SIGNAL: false\nTESTS_PASSING: 3\nREASON: two are left\n---END_RALPH_STATUS---",
    "All is ready for the harbour.\n---RALPH_STATUS---\nSTATUS: COMPLETE\nTESTS_PASSING: 5\n---END_RALPH_STATUS---",
]


class Board(Hooks):
    """Notes the typed value of each iteration."""

    def __init__(self) -> None:
        self.passing: list[int] = []

    async def on_iteration_finished(self, event: IterationFinished) -> None:
        if (passing := TESTS.read(event.fields)) is not None:
            self.passing.append(passing)


def works(number: int):
    """A turn in which the agent changes a file, so that the run has something to show."""

    def turn_of_the_agent(_prompt: Prompt, turn: Turn) -> str:
        (turn.workspace / "work.txt").write_text(f"part {number}")
        return ANSWERS[number]

    return turn_of_the_agent


async def main(folder: Path) -> tuple[RunRecord, Board, str]:
    """The run's record, what the observer saw, and what the agent was asked for."""
    board, executor = Board(), ScriptedExecutor([works(0), works(1)])
    runner = Runner(
        executor=executor,
        workspace=open_workspace(folder),
        status_fields=[TESTS],
        keywords=[SHIPPED],
        hooks=[board],
    )
    async with runner:
        record = await runner.run("Make the tests pass.")
    return record, board, executor.prompts[0].text


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        record, board, prompt = anyio.run(main, Path(name))
    print(next(line for line in prompt.splitlines() if line.startswith("TESTS_PASSING (")))
    print(f"{record.stop_reason}: {record.detail}; tests passing: {board.passing}")
