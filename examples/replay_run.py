"""Replay a stored run: what would have happened with a less patient breaker? No agent runs again.

`uv run python examples/replay_run.py`; `ralph replay --run RUN` does the same from the command line.
"""

import tempfile
from pathlib import Path

import anyio

from ralph import BreakerSettings, CircuitBreaker, Prompt, Runner, RunRecord, Turn
from ralph.pipeline.evaluate import Rules
from ralph.pipeline.replay import Replay, Replayed, recorded_pass, recorded_run
from ralph.settings import Settings
from ralph.store import open_store
from ralph.testing import ScriptedExecutor
from ralph.workspace import open_workspace

DONE = "\n---RALPH_STATUS---\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---"


def finishes(_prompt: Prompt, turn: Turn) -> str:
    (turn.workspace / "bridge.txt").write_text("built")
    return f"All tasks are complete.{DONE}"


REPLIES = ["I looked at the plans.", "I thought about the river.", "I read of other bridges.", finishes]


async def record(folder: Path, store: Path) -> RunRecord:
    runner = Runner(
        executor=ScriptedExecutor(REPLIES),
        workspace=open_workspace(folder),
        store=open_store(str(store)),
        breaker=CircuitBreaker(BreakerSettings(no_progress=5)),
    )
    async with runner:
        return await runner.run("Build a bridge.")


async def replay(store: Path, run_id: str, no_progress: int) -> Replayed:
    """Replay a stored run with a breaker that opens after so many iterations without progress."""
    settings = Settings.model_validate({"breaker": {"no_progress": no_progress}})
    async with open_store(str(store)) as opened:
        run = await opened.run(run_id)
        assert run is not None
        replayed = Replay(Rules.of(settings), run.id, recorded_run(run))
        async for iteration in opened.iterations(run.id):
            replayed.add(recorded_pass(iteration))
    return replayed.result


async def main(folder: Path) -> tuple[RunRecord, Replayed]:
    workspace, store = folder / "project", folder / "runs.db"
    workspace.mkdir()
    run = await record(workspace, store)
    return run, await replay(store, run.id, no_progress=2)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        run, result = anyio.run(main, Path(name))
    print(f"As it was: {run.stop_reason} after {run.iterations} iterations.")
    print(
        f"With less patience: {result.stop_reason} after {len(result.steps)}, {result.saved} saved, {result.cut} cut."
    )
