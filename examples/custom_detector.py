"""A custom detector: coverage below 80 % speaks against every claim that the work is done.

`uv run python examples/custom_detector.py`
"""

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import anyio

from ralph import Prompt, Runner, RunRecord, Turn
from ralph.analysis import Reply, ResponseAnalyzer, Signal
from ralph.testing import ScriptedExecutor
from ralph.workspace import open_workspace

COVERAGE = re.compile(r"coverage:? (\d{1,3})%")

DONE = "\n---RALPH_STATUS---\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---"


def detect_coverage(reply: Reply) -> Iterator[Signal]:
    for found in COVERAGE.finditer(reply.reading.prose):
        if int(found[1]) < 80:
            yield Signal("coverage", "low", *found.span(), weight=-50, why=f"Coverage is only {found[1]} %.")


def covers(percent: int):
    """A turn in which the agent writes tests, claims to be done, and names the coverage."""

    def turn_of_the_agent(_prompt: Prompt, turn: Turn) -> str:
        (turn.workspace / "tests.txt").write_text(f"enough for {percent} %")
        return f"All tasks are complete, and all tests pass. Coverage: {percent}%.{DONE}"

    return turn_of_the_agent


async def main(folder: Path) -> RunRecord:
    runner = Runner(
        executor=ScriptedExecutor([covers(62), covers(85)]),
        workspace=open_workspace(folder),
        analyzer=ResponseAnalyzer(detectors=[detect_coverage]),
    )
    async with runner:
        return await runner.run("Write the missing tests.")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        record = anyio.run(main, Path(name))
    print(f"{record.stop_reason} after {record.iterations} iterations")
