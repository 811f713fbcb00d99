"""What an append to the durable store costs beside a bare commit of the same rows; prints JSON.

`uv run python tests/benchmarks/store.py [ROUNDS]`. Both go to files of their own beside each other, in turns.
"""

import json
import sqlite3
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from time import perf_counter

import anyio

from ralph.decision import Continue
from ralph.events import Event, MessageReceived
from ralph.output import Completed
from ralph.record import IterationRecord, RunRecord
from ralph.store import open_store

EVENTS = 100
NOW = datetime(2026, 1, 1, tzinfo=UTC)
RUN = RunRecord(id="run", task="measure", workspace="/work", started_at=NOW)


def given(number: int) -> tuple[list[Event], IterationRecord]:
    """What an iteration brings: 100 messages of 300 characters and a record of some kilobytes."""
    first = (number - 1) * EVENTS + 1
    events: list[Event] = [
        MessageReceived(run_id=RUN.id, seq=seq, at=NOW, iteration=number, text="x" * 300)
        for seq in range(first, first + EVENTS)
    ]
    record = IterationRecord(
        run_id=RUN.id,
        number=number,
        started_at=NOW,
        finished_at=NOW,
        text="x" * 2000,
        outcome=Completed(),
        decision=Continue(),
    )
    return events, record


class Bare:
    """A copy of the store's tables under the same pragmas, written to with nothing but the driver."""

    def __init__(self, path: Path, store: Path) -> None:
        self._store = sqlite3.connect(store, isolation_level=None)
        self._copy = sqlite3.connect(path, isolation_level=None)
        for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
            self._copy.execute(f"PRAGMA {pragma}")
        for (statement,) in self._store.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL"):
            self._copy.execute(statement)
        self._copy.executemany("INSERT INTO runs VALUES (?, ?, ?, ?, ?)", self._store.execute("SELECT * FROM runs"))

    def commit(self, number: int) -> float:
        """Copies what the store holds of an iteration; returns the seconds that the writing took."""
        events = self._store.execute(
            "SELECT * FROM events WHERE run_id = ? AND seq > ?", (RUN.id, (number - 1) * EVENTS)
        ).fetchall()
        records = self._store.execute("SELECT * FROM iterations WHERE number = ?", (number,)).fetchall()
        start = perf_counter()
        self._copy.execute("BEGIN IMMEDIATE")
        self._copy.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?)", events)
        self._copy.executemany("INSERT INTO iterations VALUES (?, ?, ?)", records)
        self._copy.execute("COMMIT")
        return perf_counter() - start

    def close(self) -> None:
        self._store.close()
        self._copy.close()


async def measure(folder: Path, rounds: int) -> dict[str, float]:
    path = folder / "store.db"
    appends: list[float] = []
    commits: list[float] = []
    async with open_store(str(path)) as store:
        await store.create(RUN)
        bare = Bare(folder / "bare.db", path)
        for number in range(1, rounds + 1):
            events, record = given(number)
            start = perf_counter()
            await store.append(RUN.id, events, iteration=record)
            appends.append(perf_counter() - start)
            commits.append(bare.commit(number))
        bare.close()
    return {
        "append_ms": round(median(appends) * 1000, 3),
        "append_ratio": round(median(appends) / median(commits), 2),
    }


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        print(json.dumps(anyio.run(measure, Path(temporary), int(sys.argv[1]) if len(sys.argv) > 1 else 500)))
