"""The order of a loop as the documents draw it: execute, save, analyse, the breaker, the decision; and how it ends."""

from pathlib import Path
from typing import Any

import pytest

from ralph.cli.run import exit_code
from ralph.decision.limits import Limits
from ralph.decision.outcomes import StopReason
from ralph.executors.base import Turn
from ralph.hooks import Hooks
from ralph.loop.runner import Runner
from ralph.prompt import Prompt
from ralph.records.events import IterationFinished
from ralph.records.record import RunRecord
from ralph.store import MemoryStore
from ralph.testing import FakeClock, ScriptedExecutor
from ralph.workspace import open_workspace
from ralph.workspace.base import Workspace

DONE = "---RALPH_STATUS---\nEXIT_SIGNAL: true\nREASON: all there\n---END_RALPH_STATUS---"


class Seen(Hooks):
    """Keeps what every iteration's end told, and what lay in the workspace then."""

    def __init__(self, workspace: Path) -> None:
        self.ends: list[IterationFinished] = []
        self.saved: list[str] = []
        self._response = workspace / ".ralph/last-response.md"

    async def on_event(self, event: Any) -> None:
        if isinstance(event, IterationFinished):
            self.ends.append(event)
            self.saved.append(self._response.read_text().strip())


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    (tmp_path / "work").mkdir()
    return open_workspace(tmp_path / "work", state_dir=tmp_path / "state")


def writes(answer: str) -> Any:
    def reply(_prompt: Prompt, turn: Turn) -> str:
        (turn.workspace / f"{turn.iteration}.txt").write_text(answer)
        return answer

    return reply


# covers: S0-10, S0-92, S0-93, S0-96, S0-99, S4-2, S4-32, S4-40, S1-66, S1-67
async def test_an_answer_is_saved_analysed_judged_kept_and_told(workspace: Workspace) -> None:
    seen, store = Seen(workspace.path), MemoryStore()
    told = "I modified 3 files, 12 tests passing, fixed 2 errors."
    executor = ScriptedExecutor([writes(told), writes(f"That is all.\n\n{DONE}")])
    async with Runner(executor=executor, workspace=workspace, store=store, hooks=[seen]) as runner:
        record = await runner.run("Write the parser.")
        kept = [one async for one in store.iterations(record.id)]
    assert "Write the parser." in executor.prompts[0].text
    assert seen.saved == [told, f"That is all.\n\n{DONE}"]
    assert [(end.text, end.analysis, end.breaker, end.decision) for end in seen.ends] == [
        (one.text, one.analysis, one.breaker, one.decision) for one in kept
    ]
    assert kept[0].analysis.work_summary == seen.ends[0].analysis.work_summary
    assert kept[0].analysis.work_summary.endswith("12 tests passing, 2 errors fixed")
    assert kept[1].analysis.metrics.progress is not None
    assert record.stop_reason == "completed"


# covers: S0-95
@pytest.mark.parametrize("most", [1, 3])
async def test_the_loop_counts_from_one_to_its_limit(workspace: Workspace, most: int) -> None:
    turns: list[int] = []

    def reply(_prompt: Prompt, turn: Turn) -> str:
        turns.append(turn.iteration)
        (turn.workspace / f"{turn.iteration}.txt").write_text("x")
        return f"I wrote part {turn.iteration}."

    limits = Limits(max_iterations=most)
    async with Runner(executor=ScriptedExecutor([reply] * 9), workspace=workspace, limits=limits) as runner:
        record = await runner.run("Write.")
    assert turns == list(range(1, most + 1))
    assert record.stop_reason == "limit_reached"


# covers: S0-94, S0-100, S4-41, S4-43, S4-44, K0-17
async def test_a_completion_goes_before_the_breaker_which_goes_before_the_next_loop(workspace: Workspace) -> None:
    idle = ["I read the parser.", "There is a printer too.", "Both are long."]
    async with Runner(executor=ScriptedExecutor(idle), workspace=workspace, clock=FakeClock()) as runner:
        assert (await runner.run("Write.")).stop_reason == "circuit_open"
    finished = [writes("I began."), *idle[:2], f"Both are long.\n\n{DONE}"]
    async with Runner(executor=ScriptedExecutor(finished), workspace=workspace, clock=FakeClock()) as runner:
        record = await runner.run("Write.")
    assert (record.stop_reason, record.iterations) == ("completed", 4), "the third idle iteration says that it is done"


# covers: D-3, K0-17, K1-9
@pytest.mark.parametrize(
    ("reason", "code"),
    [
        ("completed", 0),
        ("error", 1),
        ("stuck", 3),
        ("test_saturation", 3),
        ("circuit_open", 4),
        ("limit_reached", 5),
        ("executor_unavailable", 6),
        ("blocked", 7),
        ("cancelled", 130),
    ],
)
def test_every_end_has_its_exit_code(reason: StopReason, code: int) -> None:
    record = RunRecord(id="r", task="t", started_at=FakeClock().now(), stop_reason=reason)
    assert exit_code(record) == code
