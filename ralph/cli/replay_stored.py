"""A run of our own store as recorded passes: what was measured then counts, what was said is judged anew."""

from ralph.pipeline.replay import Moves, Pass
from ralph.records.record import IterationRecord, PlanCount, RunRecord
from ralph.types import evolve
from ralph.types.plan import PlanItem, TaskPlan

__all__ = ["as_pass", "as_recorded"]


def as_recorded(run: RunRecord) -> RunRecord:
    """What a replay is told of a run before its first pass: of its plan the number of boxes, as later ones are."""
    count = PlanCount.of(run.plan)
    return evolve(run, plan=None if count is None else _boxes(count), breaker=None)


def as_pass(run: RunRecord, record: IterationRecord, *, resumed: bool = False) -> Pass:
    """An iteration as a pass of its run. No tool call is no knowledge: not every executor tells of them.

    Args:
        resumed: the run had ended before it.
    """
    changes, plan = record.changes, record.plan
    if plan is None and run.plan is not None:
        plan = PlanCount(done=0, total=0)  # it is gone
    return Pass(
        text=record.text,
        outcome=record.outcome,
        tools=record.tool_calls or None,
        denials=record.denials,
        changes=Moves(files=changes.files_changed, commits=changes.commits, fingerprint=changes.fingerprint)
        if changes.known
        else None,
        plan=None if plan is None else _boxes(plan),
        usage=record.usage,
        duration=record.duration,
        at=record.started_at,
        verification=record.verification,
        left=record.fingerprint,
        resumed=resumed,
    )


def _boxes(count: PlanCount) -> TaskPlan:
    """A plan of so many boxes, ticked from the first one on."""
    numbers = range(1, count.total + 1)
    return TaskPlan(items=tuple(PlanItem(text=f"box {number}", ticked=number <= count.done) for number in numbers))
