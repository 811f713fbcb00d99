"""Tasks that stand in a file of the workspace, item by item: a checklist, or a PRD with user stories.

Such a file is the agent's to edit, so it is read as every plan is: bounded, never through a link that leads out of the
workspace, and compared with how it was before the run.
"""

from pathlib import Path

from ralph.errors import UsageError
from ralph.tasks.base import Task
from ralph.types.plan import TaskPlan, read_plan

__all__ = ["plan_task", "prd_task"]


def plan_task(workspace: Path, place: str) -> Task:
    """The task to work off a checklist. Raises `UsageError` where there is none, or nothing is open in it."""
    plan = _open(workspace, place, "checklist")
    return Task(f"Work off the checklist in {plan.path} until every box is ticked.", plan.path)


def prd_task(workspace: Path, place: str) -> Task:
    """The task to implement a PRD's user stories. Raises `UsageError` as `plan_task`, and where it is no JSON file."""
    if not place.casefold().endswith(".json"):
        raise UsageError(f"The PRD {place[:200]!r} is not a JSON file.", "Name one that ends in .json.")
    plan = _open(workspace, place, "PRD")
    text = (
        f'Implement the user stories of {plan.path}, each with its acceptance criteria, until "passes" is true for all '
        "of them. A story passes when its criteria are met and that is checked."
    )
    return Task(text, plan.path)


def _open(workspace: Path, place: str, what: str) -> TaskPlan:
    """The plan in a file, which has something to do."""
    plan = read_plan(workspace, place)
    named = f"The {what} {place[:200]!r}"
    if plan is None:
        raise UsageError(f"{named} does not exist.", "Name a file of the workspace.")
    if plan.problem:
        raise UsageError(f"{named} cannot be used: {plan.problem}.", "Name another file of the workspace, or fix it.")
    if not plan.open:
        raise UsageError(f"{named} has no open items.", "Write down what should be done.")
    return plan
