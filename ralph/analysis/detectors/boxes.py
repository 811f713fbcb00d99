"""Checklists: the task plan's, and the reply's own."""

from collections.abc import Iterable

from ralph.analysis.signals import AGAINST, Reply, Signal
from ralph.system.text import pattern
from ralph.types.plan import TaskPlan, parse_plan

__all__ = ["detect_boxes"]

_BOXES = ("[ ]", "[x]", "[X]")
_SETTLED = pattern(
    r"\b(?:out of scope|not in scope|not applicable|n/a|won't (?:do|fix)|wontfix|obsolete|superseded|no longer needed"
    r"|declined|fuera de alcance|no aplica|entfällt|nicht nötig|hors périmètre|sans objet)(?!\w)"
    r"|超出范围|超出範圍|不在范围|不在範圍|不适用|不適用|无需处理|無需處理"
)
"""What says behind an open box that nobody is going to tick it."""


def detect_boxes(reply: Reply) -> Iterable[Signal]:
    """How many boxes are ticked, in the plan and in the reply; open ones of the reply contradict a claim."""
    plan = reply.context.plan
    if plan is not None:
        yield _share("plan_boxes", plan, "the plan")
    text = reply.reading.unfenced
    if "[" not in text or not any(map(text.__contains__, _BOXES)):
        return
    boxes = parse_plan(text)
    if boxes.total:
        yield _share("reply_boxes", boxes, "the reply")
    count = sum(not _SETTLED.search(item.text.lower()) for item in boxes.open)
    if count:
        why = "1 box of the reply is open." if count == 1 else f"{count} boxes of the reply are open."
        yield Signal("open_boxes", weight=AGAINST, why=why, amount=count)


def _share(kind: str, plan: TaskPlan, whose: str) -> Signal:
    return Signal(
        kind, weight=plan.score, amount=plan.score, why=f"{plan.done} of {plan.total} boxes of {whose} are ticked."
    )
