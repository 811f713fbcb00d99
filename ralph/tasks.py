"""Tasks: where the next piece of work comes from.

A task may stand in a file of the workspace, item by item: a checklist, or a PRD with user stories. The agent may edit
such a file, so it is read as every plan is: bounded, never through a link that leads out of the workspace, and compared
with its state before the run.
"""

from dataclasses import dataclass
from pathlib import Path

from ralph.errors import UsageError
from ralph.types.plan import TaskPlan, read_plan


@dataclass(frozen=True, slots=True)
class Task:
    """The work of a run.

    Attributes:
        text: the task as the user would write it for the agent.
        plan: the path in the workspace of the plan that shows how far it is; None looks for the usual ones.
    """

    text: str
    plan: str | None = None


def plan_task(workspace: Path, place: str) -> Task:
    """Return the task to work off a checklist.

    Raises:
        UsageError: there is no checklist, or nothing is open in it.
    """
    plan = _open(workspace, place, "checklist")
    return Task(f"Work off the checklist in {plan.path} until every box is ticked.", plan.path)


def prd_task(workspace: Path, place: str) -> Task:
    """Return the task to implement a PRD's user stories.

    Raises:
        UsageError: as for `plan_task`, or the file is not a JSON file.
    """
    if not place.casefold().endswith(".json"):
        raise UsageError(f"The PRD {place[:200]!r} is not a JSON file.", "Name one that ends in .json.")
    plan = _open(workspace, place, "PRD")
    text = (
        f'Implement the user stories of {plan.path}, each with its acceptance criteria, until "passes" is true for all '
        "of them. A story passes when its criteria are met and that is checked."
    )
    return Task(text, plan.path)


def _open(workspace: Path, place: str, what: str) -> TaskPlan:
    """Return the plan in a file; it has open items."""
    plan = read_plan(workspace, place)
    named = f"The {what} {place[:200]!r}"
    if plan is None:
        raise UsageError(f"{named} does not exist.", "Name a file of the workspace.")
    if plan.problem:
        raise UsageError(f"{named} cannot be used: {plan.problem}.", "Name another file of the workspace, or fix it.")
    if not plan.open:
        raise UsageError(f"{named} has no open items.", "Write down what should be done.")
    return plan
