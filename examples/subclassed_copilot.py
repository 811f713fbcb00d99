"""The Copilot CLI as an executor with other options, another environment, and a failure that only you know.

`uv run python examples/subclassed_copilot.py` runs the real CLI against a scripted model on loopback: it costs nothing.
"""

import tempfile
from pathlib import Path

import anyio

from ralph import Failed, Prompt, Runner, RunRecord, Turn
from ralph.executors import CopilotCLIExecutor, Ending
from ralph.testing import ModelServer, Say, WriteFile
from ralph.workspace import open_workspace

DONE = Say("---RALPH_STATUS---\nEXIT_SIGNAL: true\nREASON: the greeting is written\n---END_RALPH_STATUS---")


class HouseCopilot(CopilotCLIExecutor):
    """Takes no instructions from the files of the workspace, pages nothing, and knows the house's proxy."""

    def command(self, prompt: Prompt, turn: Turn) -> list[str]:
        return [*super().command(prompt, turn), "--no-custom-instructions"]

    def environment(self, turn: Turn) -> dict[str, str]:
        return super().environment(turn) | {"PAGER": "cat"}

    def classify(self, ending: Ending) -> Failed | None:
        if "house proxy: closed at night" in ending.complaint:
            return Failed(failure="rate_limited", message="the proxy is closed", retry_after=3600)
        return super().classify(ending)


async def main(folder: Path, program: Path | None = None) -> RunRecord:
    """The run's record; `program` is the CLI, which is found or fetched where it is not given."""
    async with ModelServer([WriteFile("greeting.txt", "hello"), DONE]) as server:
        executor = HouseCopilot(program, model="m", base_url=server.base_url)
        async with Runner(executor=executor, workspace=open_workspace(folder)) as runner:
            return await runner.run("Write a greeting into greeting.txt.")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        record = anyio.run(main, Path(name))
    print(f"{record.stop_reason} after {record.iterations} iterations by {', '.join(record.executors)}")
