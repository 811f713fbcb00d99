"""What is asked of a run while an iteration goes on counts from the end of that iteration on."""

from datetime import UTC, datetime

import anyio

import ralph.loop.lease
from ralph.decision.limits import Limits
from ralph.executors.base import Turn
from ralph.loop.runner import Runner
from ralph.prompt import Prompt
from ralph.store import MemoryStore
from ralph.testing import ScriptedExecutor
from ralph.types.output import Output
from ralph.types.requests import Request

WORKING = "More to do.\n---RALPH_STATUS---\nEXIT_SIGNAL: false\nREASON: not yet\n---END_RALPH_STATUS---"


async def test_what_is_asked_just_before_the_end_of_an_iteration_counts_for_the_next(monkeypatch):
    monkeypatch.setattr(ralph.loop.lease, "_BEAT", 30)
    store = MemoryStore()

    class Asked(ScriptedExecutor):
        async def execute(self, prompt: Prompt, turn: Turn) -> Output:
            if turn.iteration == 1:
                [run] = await store.runs()
                await store.ask(run.id, Request(at=datetime.now(UTC), kind="tell", text="Mind the gap."))
                await store.ask(run.id, Request(at=datetime.now(UTC), kind="extend", limits={"max_iterations": 1}))
                await anyio.sleep(0.1)
            return await super().execute(prompt, turn)

    executor = Asked([WORKING] * 3)
    async with Runner(executor=executor, store=store, limits=Limits(max_iterations=2)) as runner:
        record = await runner.run("Work.")
    assert record.iterations == 3
    assert ["Mind the gap." in prompt.text for prompt in executor.prompts] == [False, True, True]
