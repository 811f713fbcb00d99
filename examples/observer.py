"""An observer that keeps a diary, and one that has a veto.

`uv run python examples/observer.py`
"""

import tempfile
from pathlib import Path

import anyio

from ralph import Hooks, Prompt, Runner, RunRecord, Turn, Veto
from ralph.hooks import CompletionDue
from ralph.records.events import IterationFinished, RunFinished
from ralph.testing import ScriptedExecutor
from ralph.workspace import open_workspace

DONE = "\n---RALPH_STATUS---\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---"


class Diary(Hooks):
    """A diary of events that are already durable; if it is slow or fails, the run continues without it."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    async def on_iteration_finished(self, event: IterationFinished) -> None:
        self.lines.append(f"{event.iteration}: {event.decision.kind}: {event.decision.reason}")

    async def on_run_finished(self, event: RunFinished) -> None:
        self.lines.append(f"the end: {event.stop_reason}")


class Changelog(Hooks):
    """A veto against a completion without a changelog."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "CHANGELOG.md"

    async def before_completion(self, due: CompletionDue) -> Veto | None:
        return None if self._path.exists() else Veto(reason="Write down in CHANGELOG.md what has changed.")


def writes(name: str):
    def turn_of_the_agent(_prompt: Prompt, turn: Turn) -> str:
        (turn.workspace / name).write_text("The parser reads commas.")
        return f"All tasks are complete.{DONE}"

    return turn_of_the_agent


async def main(folder: Path) -> tuple[RunRecord, list[str]]:
    """The run's record and the diary's lines."""
    diary, executor = Diary(), ScriptedExecutor([writes("parser.py"), writes("CHANGELOG.md")])
    async with Runner(executor=executor, workspace=open_workspace(folder), hooks=[diary, Changelog(folder)]) as runner:
        return await runner.run("Teach the parser commas."), diary.lines


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        _, lines = anyio.run(main, Path(name))
    print("\n".join(lines))
