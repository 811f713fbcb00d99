"""A stored run, replayed: what would have happened with a less patient breaker? No agent is asked again.

`uv run python examples/replay_run.py`; `ralph replay --run RUN` does the same from the command line.
"""

import tempfile
from pathlib import Path

import anyio

from ralph import BreakerSettings, CircuitBreaker, Prompt, Runner, RunRecord, Turn
from ralph.pipeline.replay import Judging, Moves, Pass, Replay, Replayed
from ralph.settings import Settings
from ralph.store import open_store
from ralph.testing import ScriptedExecutor
from ralph.workspace import open_workspace


def finishes(_prompt: Prompt, turn: Turn) -> str:
    (turn.workspace / "bridge.txt").write_text("built")
    return "All tasks are complete."


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
    """What becomes of a run when so many iterations without progress are too many."""
    settings = Settings.model_validate({"breaker": {"no_progress": no_progress}})
    async with open_store(str(store)) as opened:
        run = await opened.run(run_id)
        assert run is not None
        replayed = Replay(Judging.by(settings), run.id, run)
        async for each in opened.iterations(run.id):
            changes = each.changes
            moves = Moves(files=changes.files_changed, commits=changes.commits, fingerprint=changes.fingerprint)
            replayed.hear(Pass(text=each.text, changes=moves, usage=each.usage, at=each.started_at))
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
