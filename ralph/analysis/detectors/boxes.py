"""Checklists: the task plan's, and the reply's own."""

from collections.abc import Iterable

from ralph.analysis.signals import AGAINST, Reply, Signal
from ralph.plan import TaskPlan, parse_plan

__all__ = ["detect_boxes"]


def detect_boxes(reply: Reply) -> Iterable[Signal]:
    """How many boxes are ticked, in the plan and in the reply; open ones of the reply contradict a claim."""
    plan = reply.context.plan
    if plan is not None:
        yield _share("plan_boxes", plan, "the plan")
    if "[" not in reply.reading.unfenced:
        return
    boxes = parse_plan(reply.reading.unfenced)
    if boxes.total:
        yield _share("reply_boxes", boxes, "the reply")
    if boxes.open:
        why = (
            "1 box of the reply is open." if len(boxes.open) == 1 else f"{len(boxes.open)} boxes of the reply are open."
        )
        yield Signal("open_boxes", weight=AGAINST, why=why, amount=len(boxes.open))


def _share(kind: str, plan: TaskPlan, whose: str) -> Signal:
    return Signal(
        kind, weight=plan.score, amount=plan.score, why=f"{plan.done} of {plan.total} boxes of {whose} are ticked."
    )
