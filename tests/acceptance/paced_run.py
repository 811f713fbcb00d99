"""A run with a scripted agent that takes its time, in a process of its own: `python paced_run.py FOLDER SECONDS`.

Each turn sends ten messages and a tool call, SECONDS apart. The run ends when the file `done` is in the workspace.
"""

import sys
from pathlib import Path

import anyio

from ralph import Runner
from ralph.decision.limits import Limits
from ralph.executors.base import Turn
from ralph.prompt import Prompt
from ralph.store import open_store
from ralph.testing import ScriptedExecutor
from ralph.types.output import Answered, Output, Usage
from ralph.workspace import open_workspace

DONE = "---RALPH_STATUS---\nEXIT_SIGNAL: true\nREASON: all there\n---END_RALPH_STATUS---\n"


async def whole(folder: Path, pace: float) -> None:
    workspace = folder / "workspace"
    turns = 0

    async def answer(prompt: Prompt, turn: Turn) -> Output:
        nonlocal turns
        turns += 1
        done = await anyio.Path(workspace / "done").exists()
        for number in range(10):
            turn.transcript.message(f"Step **{turns}.{number}** of the work.", 1)
            turn.transcript.tool_started(f"{turns}.{number}", "bash", '{"command": "make part"}')
            await anyio.sleep(pace)
            turn.transcript.tool_finished(f"{turns}.{number}", success=number != 3, result="<b>made</b>")
        await anyio.Path(workspace / "part.py").write_text(f"part = {turns}\n")
        turn.transcript.used(Usage(input_tokens=1000 * turns, output_tokens=50, cost=0.01 * turns))
        text = f"Everything is written. The task is complete.\n\n{DONE}" if done else f"Wrote part {turns}; tests fail."
        return turn.transcript.finish(Answered(), text=text)

    executor = ScriptedExecutor(then=answer, measures=("tokens", "cost"))
    limits = Limits(max_iterations=400, max_cost=900.0)
    store = open_store(str(folder / "runs.db"))
    async with Runner(executor=executor, store=store, workspace=open_workspace(workspace), limits=limits) as runner:
        await runner.run("Write all parts of the shop, one after the other.")


if __name__ == "__main__":
    anyio.run(whole, Path(sys.argv[1]), float(sys.argv[2]))
