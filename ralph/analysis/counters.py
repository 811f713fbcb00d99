"""What a status block counts: the files and tasks of the iteration, as some prompts ask for them."""

from pydantic import JsonValue

from ralph.status import Status, StatusReport
from ralph.system.text import pattern

__all__ = ["reports_change"]

_COUNTERS = (
    *("FILES_MODIFIED", "FILES_CHANGED", "FILES_CREATED", "FILES_EDITED", "COMMITS", "COMMITS_MADE"),
    *("TASKS_COMPLETED_THIS_LOOP", "TASKS_COMPLETED_THIS_ITERATION", "TASKS_DONE_THIS_LOOP"),
)
"""Counters of one iteration; "TASKS_COMPLETED" by itself counts those of the whole run."""
_NUMBER = pattern(r"\s{0,9}(\d{1,9})")


def reports_change(status: Status) -> bool | None:
    """Whether the block counts anything that was changed or completed; None where it has no such counter.

    It is a weak word, for where the workspace is unknown: the agent may count what it likes.
    """
    if not isinstance(status, StatusReport):
        return None
    counts = [_count(status.fields[name]) for name in _COUNTERS if name in status.fields]
    known = [count for count in counts if count is not None]
    return any(known) if known else None


def _count(value: JsonValue) -> int | None:
    if isinstance(value, list | dict):
        return len(value)
    if isinstance(value, int | float):
        return int(value > 0)
    match = _NUMBER.match(value) if isinstance(value, str) else None
    if match:
        return int(match[1])
    return 0 if isinstance(value, str) and value.strip().lower() in {"none", "nothing", "无", "無"} else None
