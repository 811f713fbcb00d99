"""The engine of a worker takes up nothing that another worker runs."""

import asyncio
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ralph.errors import UsageError
from ralph.fleet import engine as engine_module
from ralph.fleet.engine import Engine

OTHER = """
import asyncio, sys
from ralph.fleet.engine import Engine

async def step(task, workflow, number):
    print("began", flush=True)
    await asyncio.sleep(3600)

async def main():
    async with Engine(sys.argv[1], "other", step) as engine:
        await engine.start("theirs", "theirs.1")
        await asyncio.sleep(3600)

asyncio.run(main())
"""


async def test_a_starting_worker_leaves_the_workflows_of_others_alone(tmp_path: Path) -> None:
    url, ended, tasks = str(tmp_path / "ralph.db"), asyncio.Event(), list[str]()

    async def step(task: str, workflow: str, number: int) -> dict[str, Any]:
        tasks.append(task)
        if number == 3:
            ended.set()
            return {"ended": "done"}
        return {"wait": 0.1}

    argv = [sys.executable, "-c", OTHER, url]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as other:  # noqa: ASYNC220 - it prints one line
        assert other.stdout
        assert other.stdout.readline() == "began\n"
        try:
            async with Engine(url, "one", step) as engine:
                await engine.start("mine", "mine.1")
                await asyncio.wait_for(ended.wait(), 60)
        finally:
            other.kill()
    assert set(tasks) == {"mine"}
    with sqlite3.connect(tmp_path / "ralph.fleet.db") as connection:
        asked = "SELECT recovery_attempts, queue_name FROM workflow_status WHERE workflow_uuid = 'theirs.1'"
        assert connection.execute(asked).fetchall() == [(1, None)]
    connection.close()


async def test_a_sqlite_that_is_too_old_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def step(task: str, workflow: str, number: int) -> dict[str, Any]:
        raise AssertionError

    monkeypatch.setattr(engine_module, "_ASKS_FOR_FRACTIONS", True)
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 41, 9))
    monkeypatch.setattr(sqlite3, "sqlite_version", "3.41.9")
    with pytest.raises(UsageError, match=r"SQLite 3\.41\.9.*3\.42 or newer.*PostgreSQL"):
        async with Engine(str(tmp_path / "ralph.db"), "one", step):
            pass
