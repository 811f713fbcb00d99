import os
from pathlib import Path
from time import monotonic

import anyio
import pytest

from ralph.executors.copilot.log import logged_retry_after

FAILED = (
    "2026-11-21T02:11:59.704Z [WARNING] [rust:model_events::producer] Model provider request failed "
    '{"stage":"inference","http_status":%s,"failure_kind":"http_error"%s}\n'
)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "process-1-2.log"


def write(log: Path, *lines: str) -> Path:
    log.write_text("".join(lines))
    return log.parent


def link(at: Path, to: Path) -> None:
    at.symlink_to(to)


def limited(fields: str = "") -> str:
    return FAILED % (429, fields)


async def test_the_latest_rate_limit_counts(log: Path):
    lines = limited(',"retry_after_ms":1000'), limited(',"retry_after_ms":2500'), FAILED % (500, ',"retry_after_ms":9')
    assert await logged_retry_after(write(log, "noise\n", *lines, "more\n")) == 2.5


async def test_a_limit_without_a_time_needs_no_patience(log: Path):
    folder = write(log, limited())
    began = monotonic()
    assert await logged_retry_after(folder, patience=30) is None
    assert monotonic() - began < 10


async def test_a_line_that_comes_late_is_waited_for(log: Path):
    async def later() -> None:
        await anyio.lowlevel.checkpoint()
        write(log, limited(',"retry_after_ms":4000'))

    async with anyio.create_task_group() as group:
        group.start_soon(later)
        assert await logged_retry_after(log.parent, patience=30) == 4.0


@pytest.mark.parametrize("text", ["", "{", FAILED % ('"429"', ""), "Model provider request failed {broken\n" * 1_000])
async def test_without_such_a_line_there_is_no_time(log: Path, text: str):
    assert await logged_retry_after(write(log, text), patience=0.01) is None


@pytest.mark.parametrize("wait", ['"soon"', "-5", "null", "1e400"])
async def test_an_odd_time_is_none(log: Path, wait: str):
    assert await logged_retry_after(write(log, limited(f',"retry_after_ms":{wait}'))) is None


async def test_pipes_and_links_in_its_place_are_not_read(tmp_path: Path):
    os.mkfifo(tmp_path / "a.log")
    write(tmp_path / "real", limited(',"retry_after_ms":1000'))
    link(tmp_path / "b.log", tmp_path / "real")
    assert await logged_retry_after(tmp_path, patience=0.01) is None
    assert await logged_retry_after(tmp_path / "gone", patience=0.01) is None
