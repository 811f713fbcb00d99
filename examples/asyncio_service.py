"""Ralph inside an asyncio service: jobs come from a queue, several run at a time, and all end with the service.

`uv run python examples/asyncio_service.py`
"""

import asyncio
import tempfile
from pathlib import Path

from ralph import Limits, Prompt, Runner, RunRecord, Turn
from ralph.store import open_store
from ralph.testing import ScriptedExecutor
from ralph.workspace import open_workspace

DONE = "---RALPH_STATUS---\nEXIT_SIGNAL: true\nREASON: it is written\n---END_RALPH_STATUS---"


async def agent(prompt: Prompt, turn: Turn) -> str:
    """Stands for an agent that takes its time."""
    await asyncio.sleep(0)
    (turn.workspace / "answer.txt").write_text(prompt.task)
    return DONE


class Service:
    """Works on tasks, each in a folder of its own; all runs are kept in one store.

    A worker that is cancelled ends its agent's turn, stores what there was, and lets the cancellation continue: the run
    can be resumed by `Runner.resume`.
    """

    def __init__(self, home: Path, workers: int = 2) -> None:
        self._home, self._workers = home, workers
        self._jobs: asyncio.Queue[str] = asyncio.Queue()
        self.records: list[RunRecord] = []

    def submit(self, task: str) -> None:
        self._jobs.put_nowait(task)

    async def serve(self) -> None:
        """Works until it is cancelled."""
        async with asyncio.TaskGroup() as group:
            for _ in range(self._workers):
                group.create_task(self._work())

    async def drained(self) -> None:
        """Waits until everything that was submitted is done."""
        await self._jobs.join()

    async def _work(self) -> None:
        while True:
            task = await self._jobs.get()
            try:
                self.records.append(await self._run(task))
            finally:
                self._jobs.task_done()

    async def _run(self, task: str) -> RunRecord:
        folder = Path(tempfile.mkdtemp(dir=self._home))
        runner = Runner(
            executor=ScriptedExecutor([agent]),  # CopilotSDKExecutor() for a real one
            workspace=open_workspace(folder),
            store=open_store(str(self._home / "runs.db")),
            limits=Limits(max_iterations=5),
        )
        async with runner:
            return await runner.run(task)


async def main(home: Path) -> list[RunRecord]:
    service = Service(home)
    serving = asyncio.create_task(service.serve())
    for number in range(1, 5):
        service.submit(f"Answer question {number}.")
    await service.drained()
    serving.cancel()
    await asyncio.wait({serving})
    return service.records


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        for record in asyncio.run(main(Path(name))):
            print(f"{record.task} {record.stop_reason}")
