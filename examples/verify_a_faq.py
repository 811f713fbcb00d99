"""A loop that continues until its FAQ makes every claim: the grounding verifier names what is missing.

`uv run python examples/verify_a_faq.py`; as a command it is `ralph run --verifier grounding:claims=claims.yaml`.
"""

import tempfile
from pathlib import Path

import anyio

from ralph import Prompt, Runner, RunRecord, Turn
from ralph.testing import ScriptedExecutor
from ralph.workspace import open_workspace
from ralph_grounding import GroundingKeys, GroundingSettings, GroundingVerifier


def writes(text: str):
    def turn_of_the_agent(_prompt: Prompt, turn: Turn) -> str:
        (turn.workspace / "FAQ.md").write_text(text)
        return "---RALPH_STATUS---\nEXIT_SIGNAL: true\nREASON: the FAQ is written\n---END_RALPH_STATUS---"

    return turn_of_the_agent


async def main(folder: Path) -> tuple[RunRecord, str]:
    """The run's record, and what the agent was asked in the second iteration."""
    (folder / "claims.yaml").write_text("- The museum opens at nine.\n- A ticket costs 12 euros.\n")
    verifier = GroundingVerifier(GroundingKeys(claims="claims.yaml", file="FAQ.md"), GroundingSettings())
    executor = ScriptedExecutor([writes("It opens at nine."), writes("It opens at nine. A ticket costs 12 euros.")])
    async with Runner(executor=executor, workspace=open_workspace(folder), verify=[verifier]) as runner:
        record = await runner.run("Write a FAQ about the museum.")
    return record, executor.prompts[1].text


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        record, _ = anyio.run(main, Path(name))
    print(f"{record.stop_reason} after {record.iterations} iterations, verified: {record.verified}")
