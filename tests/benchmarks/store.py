"""What the durable store costs, beside a bare commit and in whole commands; prints JSON.

`uv run python tests/benchmarks/store.py [ROUNDS]`: how many appends are measured. An append of an iteration with a
hundred events and a bare commit of the same rows and bytes go to files of their own beside each other, in turns. Then
a run of 10,000 iterations is opened and folded, `ralph runs` lists a store of 10,000 runs, and `ralph show` prints a
run with a transcript of 200 MB; the commands are measured whole, from their start to their end.
"""

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from time import perf_counter

import anyio
from sqlalchemy import Connection

from ralph.decision.outcomes import Continue
from ralph.records.events import Event, MessageReceived
from ralph.records.record import IterationRecord, RunRecord
from ralph.settings import Settings
from ralph.store import open_store
from ralph.store.database import SqliteFile
from ralph.store.sql import SqlStore
from ralph.types.output import Answered, Changes

EVENTS = 100
MANY = 10_000
TRANSCRIPT = 200_000_000
NOW = datetime(2026, 1, 1, tzinfo=UTC)
RUN = RunRecord(id="run", task="measure", workspace="/work", started_at=NOW)


def events(number: int, count: int = EVENTS, size: int = 300) -> list[Event]:
    """The messages of an iteration."""
    first = (number - 1) * count + 1
    return [
        MessageReceived(run_id=RUN.id, seq=seq, at=NOW, iteration=number, text="x" * size)
        for seq in range(first, first + count)
    ]


def iteration(number: int, size: int = 2000) -> IterationRecord:
    return IterationRecord(
        run_id=RUN.id,
        number=number,
        started_at=NOW,
        finished_at=NOW,
        text="x" * size,
        executor="copilot",
        session_id=f"session-{number}",
        outcome=Answered(),
        changes=Changes(files=("parser.py",), fingerprint=f"{number:040x}"),
        fingerprint=f"{number:040x}",
        decision=Continue(),
    )


class Hasty(SqliteFile):
    """Waits for no disk: for what only has to be there before something is measured."""

    def connect(self) -> Connection:
        connection = super().connect()
        with connection.begin():
            connection.exec_driver_sql("PRAGMA synchronous = OFF")
        return connection


class Bare:
    """A copy of the store's tables under the same pragmas, written to with nothing but the driver."""

    def __init__(self, path: Path, store: Path) -> None:
        self._store = sqlite3.connect(store, isolation_level=None)
        self._copy = sqlite3.connect(path, isolation_level=None)
        for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
            self._copy.execute(f"PRAGMA {pragma}")
        for (statement,) in self._store.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL"):
            self._copy.execute(statement)
        self._copy.executemany("INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?)", self._store.execute("SELECT * FROM runs"))

    def commit(self, number: int) -> float:
        """Copies what the store holds of an iteration; returns the seconds that the writing took."""
        said = self._store.execute("SELECT * FROM events WHERE seq > ?", ((number - 1) * EVENTS,)).fetchall()
        records = self._store.execute("SELECT * FROM iterations WHERE number = ?", (number,)).fetchall()
        traces = self._store.execute("SELECT * FROM traces WHERE number = ?", (number,)).fetchall()
        start = perf_counter()
        self._copy.execute("BEGIN IMMEDIATE")
        self._copy.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", said)
        self._copy.executemany("INSERT INTO iterations VALUES (?, ?, ?, ?)", records)
        self._copy.executemany("INSERT INTO traces VALUES (?, ?, ?, ?)", traces)
        self._copy.execute("COMMIT")
        return perf_counter() - start

    def close(self) -> None:
        self._store.close()
        self._copy.close()


async def appending(folder: Path, rounds: int) -> dict[str, float]:
    path = folder / "store.db"
    appends: list[float] = []
    commits: list[float] = []
    async with open_store(str(path)) as store:
        await store.create(RUN, owner="me")
        bare = Bare(folder / "bare.db", path)
        for number in range(1, rounds + 1):
            said, record = events(number), iteration(number)
            start = perf_counter()
            await store.append(RUN.id, said, iteration=record, owner="me")
            appends.append(perf_counter() - start)
            commits.append(bare.commit(number))
        bare.close()
    return {
        "append_ms": round(median(appends) * 1000, 3),
        "bare_commit_ms": round(median(commits) * 1000, 3),
        "append_ratio": round(median(appends) / median(commits), 2),
    }


async def folding(folder: Path) -> float:
    """Seconds to open a store and find out where a run of many iterations is."""
    path = folder / "fold.db"
    async with SqlStore(Hasty(path)) as store:
        await store.create(RUN)
        for number in range(1, MANY + 1):
            await store.append(RUN.id, (), iteration=iteration(number))
    start = perf_counter()
    async with open_store(str(path)) as store:
        run = await store.run(RUN.id)
        assert run is not None
        assert (await store.state(run)).number == MANY
    return perf_counter() - start


async def many_runs(folder: Path) -> str:
    path = folder / "runs.db"
    settings = Settings().model_dump(mode="json")
    async with SqlStore(Hasty(path)) as store:
        for number in range(MANY):
            facts = {"id": f"run-{number:05}", "started_at": NOW + timedelta(minutes=number), "settings": settings}
            await store.create(RUN.model_copy(update=facts))
    return str(path)


async def long_transcript(folder: Path) -> str:
    """Half of it are the agent's messages, half its answers."""
    path = folder / "long.db"
    async with SqlStore(Hasty(path)) as store:
        await store.create(RUN)
        for number in range(1, 201):
            size = TRANSCRIPT // 200 // 2
            await store.append(RUN.id, events(number, 50, size // 50), iteration=iteration(number, size))
    return str(path)


def ralph(*words: str) -> tuple[float, float]:
    """The seconds that a command takes, and the megabytes that it has in memory at most."""
    start = perf_counter()
    process = subprocess.Popen((sys.executable, "-m", "ralph", *words), stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, words
    return perf_counter() - start, used.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6


async def measure(folder: Path, rounds: int) -> dict[str, float]:
    found = await appending(folder, rounds)
    found["fold_10k_s"] = round(await folding(folder), 3)
    runs, long = await many_runs(folder), await long_transcript(folder)
    found["runs_10k_s"] = round(median(ralph("runs", "--store", runs)[0] for _ in range(5)), 3)
    found["version_s"] = round(median(ralph("--version")[0] for _ in range(5)), 3)
    ways = (("show", RUN.id), ("show", RUN.id, "--json"))
    found["show_200mb_peak_mb"] = round(max(ralph(*words, "--store", long)[1] for words in ways), 1)
    return found


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        print(json.dumps(anyio.run(measure, Path(temporary), int(sys.argv[1]) if len(sys.argv) > 1 else 500)))
