"""A custom verifier: no claim of completion holds while a file still says TO DO.

`uv run python examples/custom_verifier.py`
"""

import tempfile
from pathlib import Path

import anyio

from ralph import Prompt, Runner, RunRecord, Turn
from ralph.testing import ScriptedExecutor
from ralph.types.verification import Verdict
from ralph.verifiers import Subject, Verifier
from ralph.workspace import open_workspace


class NothingToDo(Verifier):
    """Judges each claim of completion; its output becomes feedback for the agent."""

    name = "nothing to do"

    async def verify(self, subject: Subject) -> Verdict:
        left = sorted(path.name for path in subject.workspace.glob("*.txt") if "TO DO" in path.read_text())
        if not left:
            return Verdict(verifier=self.name, passed=True)
        output = f"There is still something to do in {', '.join(left)}."
        return Verdict(verifier=self.name, passed=False, output=output, signature="something to do")


def writes(text: str):
    def turn_of_the_agent(_prompt: Prompt, turn: Turn) -> str:
        (turn.workspace / "chapter.txt").write_text(text)
        return "---RALPH_STATUS---\nEXIT_SIGNAL: true\nREASON: the chapter is written\n---END_RALPH_STATUS---"

    return turn_of_the_agent


async def main(folder: Path) -> tuple[RunRecord, str]:
    """The run's record, and what the agent was asked in the second iteration."""
    (folder / "chapter.txt").write_text("TO DO")  # a check that passes before the run would prove nothing
    executor = ScriptedExecutor([writes("Call me Ishmael. TO DO"), writes("Call me Ishmael.")])
    async with Runner(executor=executor, workspace=open_workspace(folder), verify=[NothingToDo()]) as runner:
        record = await runner.run("Write the first chapter.")
    return record, executor.prompts[1].text


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        record, _ = anyio.run(main, Path(name))
    print(f"{record.stop_reason} after {record.iterations} iterations, verified: {record.verified}")
