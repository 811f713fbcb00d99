"""Tasks that are submitted again and again, by the clock of the database in UTC."""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from ralph.errors import UsageError
from ralph.fleet.fleet import Fleet
from ralph.fleet.mirror import require_startable
from ralph.fleet.records import Occurrence
from ralph.fleet.tables import Tables
from ralph.fleet.task import NAME, Task, missing_extra
from ralph.types import evolve

_LONGEST = 60
"""Characters of a task's name in a schedule: the schedule's name and a number are added."""


def next_time(cron: str, after: float) -> float:
    """Return when a schedule is due after a time, both in seconds since 1970.

    Raises:
        UsageError: it is not a cron expression of five fields.
    """
    try:
        from croniter import croniter
    except ImportError:
        raise missing_extra("A schedule needs the package croniter") from None
    try:
        five = " ".join(cron.split(maxsplit=5)[:5]) if len(cron.split()) == 5 else ""
        return float(croniter(five, datetime.fromtimestamp(after, UTC)).get_next(float))
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"{cron[:80]!r} is not a schedule.", "Write minute, hour, day, month and weekday, as in '0 2 * * 1-5'."
        ) from error


async def add_schedule(fleet: Fleet, name: str, cron: str, tasks: list[Task]) -> float:
    """Add a schedule, or replace the one of that name; return when it is due first."""
    require_startable(tasks)
    if not re.fullmatch(NAME, name):
        raise UsageError(f"{name[:80]!r} is not the name of a schedule.", "Use letters, digits, dots and dashes.")
    if long := next((task.name for task in tasks if len(task.name or "") > _LONGEST), None):
        raise UsageError(
            f"The name {long!r} is too long for a task of a schedule, which adds its own name and a number.",
            f"Give it a name of at most {_LONGEST} characters.",
        )
    due = next_time(cron, await fleet.do(Tables.now))
    body = json.dumps([task.model_dump(mode="json", exclude_defaults=True) for task in tasks])
    await fleet.do(Tables.schedule, name, cron, due, body)
    return due


async def submit_due(fleet: Fleet, note: Callable[[str], None] = lambda _: None) -> list[str]:
    """Submit the tasks of the schedules that are due; return their ids. What was due several times is submitted once.

    Each schedule is submitted by one worker only. One that cannot be submitted now stays due; `note` is called with
    the reason each time.
    """
    now, submitted = await fleet.do(Tables.now), list[str]()
    for each in await fleet.schedules():
        if each["due"] > now:
            continue
        occurrence = Occurrence(each["name"], each["due"], next_time(each["cron"], now))
        try:
            submitted += await fleet.submit(_numbered(each), occurrence)
        except (UsageError, ValueError) as error:
            said = str(error) if isinstance(error, UsageError) else "its tasks need another release of Ralph."
            note(f"The schedule {each['name']} cannot be submitted yet: {said}")
    return submitted


def _numbered(schedule: dict[str, Any]) -> list[Task]:
    """Return the tasks with names of their own for each time: an earlier one may still be running."""
    tasks = [Task.model_validate(body) for body in json.loads(schedule["body"])]
    own = {task.name for task in tasks if task.name}

    def renamed(name: str) -> str:
        room = _LONGEST + 8 - len(name)  # the task's own name is whole: it tells it from the schedule's others
        return f"{schedule['name'][:room]}.{name}.{schedule['count'] + 1}" if name in own else name

    return [
        evolve(task, name=task.name and renamed(task.name), after=tuple(renamed(name) for name in task.after))
        for task in tasks
    ]


async def remove_schedule(fleet: Fleet, name: str) -> None:
    """Remove a schedule.

    Raises:
        UsageError: no schedule has this name.
    """
    if not await fleet.do(Tables.unschedule, name):
        raise UsageError(f"There is no schedule {name[:80]!r}.", "`ralph fleet schedule` lists them.")
