"""How soon the terminal app shows a large store and a long run, from the start of its process."""

import fcntl
import os
import pty
import select
import struct
import sys
import termios
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from ralph.records.record import RunRecord
from ralph.settings import Settings
from ralph.store import MemoryStore
from ralph.store.database import SqliteFile
from ralph.store.sql import SqlStore

Tui = Callable[..., Any]
Make = Callable[..., Awaitable[None]]

RUNS = 10_000
ROUNDS = 7
NOW = datetime(2026, 1, 1, tzinfo=UTC)


class Hasty(SqliteFile):
    """Waits for no disk."""

    def connect(self) -> Connection:
        connection = super().connect()
        with connection.begin():
            connection.exec_driver_sql("PRAGMA synchronous = OFF")
        return connection


def first_paint(path: Path, text: bytes) -> float:
    """Return the seconds from the start of `ralph watch` until a text is on a terminal of 160×50 characters."""
    start = time.perf_counter()
    pid, terminal = pty.fork()
    if not pid:
        os.environ.update(TERM="xterm-256color", COLORTERM="truecolor", LINES="50", COLUMNS="160")
        os.execv(sys.executable, (sys.executable, "-m", "ralph", "watch", "--store", str(path)))
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 160, 0, 0))
    seen, took = b"", 0.0
    while not took:
        assert select.select([terminal], [], [], 20)[0], seen[-2_000:]
        seen += os.read(terminal, 65_536)
        took = time.perf_counter() - start if text in seen else 0.0
    os.write(terminal, b"q")
    try:
        while os.read(terminal, 65_536):
            pass
    except OSError:  # the terminal of a process that has ended
        pass
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    os.close(terminal)
    return took


@pytest.mark.alone
@pytest.mark.timeout(120)
async def test_a_store_of_10_000_runs_is_on_the_screen_within_a_second(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    settings = Settings().model_dump(mode="json")
    async with SqlStore(Hasty(path)) as store:
        for number in range(RUNS):
            started = NOW + timedelta(minutes=number)
            await store.create(
                RunRecord(id=f"run-{number:05}", task="measure", started_at=started, settings=settings, pid=os.getpid())
            )
    took = [first_paint(path, b"run-09999") for _ in range(ROUNDS)]
    assert min(took) <= 1.0, took  # a machine that is busy can only spoil it


async def test_a_long_run_opens_with_its_end(tui: Tui, make: Make) -> None:
    store = MemoryStore()
    await make(store, "long", 120, running=True)
    reads: list[int] = []
    once = store.iteration

    async def counted(run_id: str, number: int) -> Any:
        reads.append(number)
        return await once(run_id, number)

    store.iteration = counted  # pyright: ignore[reportAttributeAccessIssue]
    async with tui(run="long", store=store) as app:
        assert min(reads) > 60
        assert "it. 121/20" in app.text
        assert "$12.00/$5.00" in app.text  # of the whole run, not of the part that was read
        await app.press("end", "2")
        await app.shows("→      1  progress")
        await app.shows("edit src/stats.py")
        await app.press("5")
        await app.shows("iterations 1 to 120")
