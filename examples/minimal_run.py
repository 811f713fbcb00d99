"""A whole run without an agent, an account or a network: the first claim of completion is refuted, the second holds.

`uv run python examples/minimal_run.py`
"""

import sys
import tempfile
from pathlib import Path

import anyio

from ralph import Prompt, Runner, RunRecord, Turn
from ralph.testing import ScriptedExecutor
from ralph.verifiers import CommandVerifier
from ralph.workspace import open_workspace

DONE = """Written and checked.

---RALPH_STATUS---
EXIT_SIGNAL: true
STATUS: COMPLETE
REASON: greeting.txt says hello
---END_RALPH_STATUS---
"""
CHECK = "assert open('greeting.txt').read() == 'hello', 'greeting.txt does not say hello'"


def writes(text: str):
    """A turn in which the agent writes the greeting and says that it is done."""

    def turn_of_the_agent(_prompt: Prompt, turn: Turn) -> str:
        (turn.workspace / "greeting.txt").write_text(text)
        return DONE

    return turn_of_the_agent


async def main(folder: Path) -> RunRecord:
    runner = Runner(
        executor=ScriptedExecutor([writes("good bye"), writes("hello")]),
        workspace=open_workspace(folder),
        verify=[CommandVerifier([sys.executable, "-c", CHECK])],
    )
    async with runner:
        return await runner.run("Write a greeting into greeting.txt.")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        record = anyio.run(main, Path(name))
    print(f"{record.stop_reason} after {record.iterations} iterations, verified: {record.verified}")
