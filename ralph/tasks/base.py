"""What a source of tasks gives, and which item of a plan is next."""

from dataclasses import dataclass
from typing import Literal

from ralph.types.plan import TaskPlan

__all__ = ["Task", "chosen"]

_SHOWN = 500


@dataclass(frozen=True, slots=True)
class Task:
    """What a run is to do.

    Attributes:
        text: as a person would write it for the agent.
        plan: the path within the workspace of the plan that tells how far it is; None looks for the usual ones.
    """

    text: str
    plan: str | None = None


def chosen(plan: TaskPlan | None, *, by: Literal["agent", "ralph"]) -> list[str]:
    """What the agent is told of the item to work on: nothing where it chooses by itself, or nothing is open."""
    if by == "agent" or plan is None or not plan.open:
        return []
    item = " ".join(plan.open[0].text.split())[:_SHOWN]
    return [f"In this iteration, work on this item of the plan alone, and leave the others as they are:\n> {item}"]
