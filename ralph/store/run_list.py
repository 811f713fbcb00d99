"""A glance at the newest runs of a store in a file, without all that it takes to keep runs: in a fifth of the time."""

import json
import sqlite3
from contextlib import closing
from datetime import MAXYEAR, datetime
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["ListedRun", "listed_runs"]

_VERSION = 2
"""Of the schema that the question below is put to."""

_NEWEST = """
SELECT record, (SELECT max(number) FROM iterations WHERE run_id = id)
FROM runs ORDER BY started_at DESC, id DESC LIMIT ?
"""
_BUSY_TIMEOUT = 3.0


class ListedRun(NamedTuple):
    """What a list says of a run: what the record says under the same names, but `iterations` also before its end."""

    id: str
    task: str
    started_at: datetime
    finished_at: datetime | None
    state: str
    stop_reason: str | None
    verified: bool
    iterations: int
    duration: float


def listed_runs(path: Path, limit: int) -> list[ListedRun] | None:
    """The newest runs, newest first; None where `Store.runs` has to be asked: for what is not quite as usual, and for
    runs that may be at work, which takes a look at the processes.
    """
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=_BUSY_TIMEOUT)) as connection:
            if connection.execute("SELECT version FROM schema_version").fetchone() != (_VERSION,):
                return None
            found = connection.execute(_NEWEST, (limit,)).fetchall()
        return [_listed(json.loads(record), iterations or 0) for record, iterations in found]
    except (sqlite3.Error, ArithmeticError, LookupError, RecursionError, TypeError, ValueError):
        return None


def _listed(record: dict[str, Any], iterations: int) -> ListedRun:
    """Raises one of several errors where the record is not as it should be."""
    if record["state"] != "finished" and (record.get("owner") or record.get("pid")):
        raise ValueError("it may be at work")
    finished = record.get("finished_at")
    reason = record.get("stop_reason")
    started, duration = datetime.fromisoformat(record["started_at"]), float(record.get("duration", 0.0))
    if not (1 < started.year < MAXYEAR and isfinite(duration)):
        raise ValueError("nobody can be told of that")
    return ListedRun(
        id=str(record["id"]),
        task=str(record["task"]),
        started_at=started,
        finished_at=None if finished is None else datetime.fromisoformat(finished),
        state=str(record["state"]),
        stop_reason=None if reason is None else str(reason),
        verified=record.get("verified") is True,
        iterations=int(record.get("iterations", 0)) if finished else iterations,
        duration=duration,
    )
