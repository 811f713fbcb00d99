"""The plan that a run is told to go by, looked at before anything is spent."""

import sys
from pathlib import Path

from ralph.errors import UsageError
from ralph.types.plan import read_plan

__all__ = ["look_at_plan"]


def look_at_plan(workspace: Path, name: str | None) -> None:
    """Tells of a named plan that is not there: it counts from when the agent has written it.

    Raises:
        UsageError: there is something, but no plan can be read from it.
    """
    if name is None:
        return
    plan = read_plan(workspace, name)
    named = f"The plan {name[:200]!r}"
    if plan is None:
        sys.stderr.write(f"ralph: {named} is not in the workspace yet; it counts once it is there.\n")
    elif plan.problem and not plan.items:
        raise UsageError(f"{named} cannot be used: {plan.problem}.", "Name a file of the workspace, or leave it out.")
