"""A fast list of the newest runs in a SQLite file: a fifth of the time of a whole store."""

import json
import sqlite3
from contextlib import closing
from datetime import MAXYEAR, datetime
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple, cast

_VERSION = 3
"""The schema's version that the query fits."""

_NEWEST = """
SELECT record, (SELECT max(number) FROM iterations WHERE run_id = id)
FROM runs ORDER BY started_at DESC, id DESC LIMIT ?
"""
_BUSY_TIMEOUT = 3.0


class ListedRun(NamedTuple):
    """A run in a list, with the record's field names.

    Attributes:
        state: of a run that is not finished, "crashed" if it has no process, else as stored: the process may be gone.
        iterations: also counts those of an unfinished run.
        cost: in US dollars; None if it was not measured.
        denials: denied tool calls, once it has ended.
    """

    id: str
    task: str
    started_at: datetime
    finished_at: datetime | None
    state: str
    stop_reason: str | None
    verified: bool
    already_green: bool
    iterations: int
    duration: float
    workspace: str | None
    tokens: int | None
    cost: float | None
    denials: int


def listed_runs(path: Path, limit: int, *, active: bool = False) -> list[ListedRun] | None:
    """Return the newest runs, newest first; None if `Store.runs` is required.

    That is so for unusual stores and, unless `active`, for runs that may be running, which requires a look at the
    processes.
    """
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=_BUSY_TIMEOUT)) as connection:
            if connection.execute("SELECT version FROM schema_version").fetchone() != (_VERSION,):
                return None
            found = connection.execute(_NEWEST, (limit,)).fetchall()
        listed = [_listed(json.loads(record), iterations or 0) for record, iterations in found]
    except (sqlite3.Error, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        return None
    return listed if active or all(run.state in {"finished", "crashed"} for run in listed) else None


def _listed(record: dict[str, Any], iterations: int) -> ListedRun:
    """Convert a record. Raises one of several errors if it is malformed."""
    finished = record.get("finished_at")
    reason = record.get("stop_reason")
    started, duration = datetime.fromisoformat(record["started_at"]), float(record.get("duration", 0.0))
    if not (1 < started.year < MAXYEAR and isfinite(duration)):
        raise ValueError("the times are out of range")
    state, usage = str(record["state"]), cast("dict[str, Any]", record.get("usage") or {})
    has_process = record.get("owner") or record.get("pid")
    counts = [count for side in ("input", "output") if (count := usage.get(f"{side}_tokens")) is not None]
    return ListedRun(
        id=str(record["id"]),
        task=str(record["task"]),
        started_at=started,
        finished_at=None if finished is None else datetime.fromisoformat(finished),
        state=state if has_process or state == "finished" else "crashed",
        stop_reason=None if reason is None else str(reason),
        verified=record.get("verified") is True,
        already_green=record.get("already_green") is True,
        iterations=int(record.get("iterations", 0)) if finished else iterations,
        duration=duration,
        workspace=None if record.get("workspace") is None else str(record["workspace"]),
        tokens=sum(map(int, counts)) if counts else None,
        cost=None if usage.get("cost") is None else float(usage["cost"]),
        denials=int(record.get("denials", 0)),
    )
