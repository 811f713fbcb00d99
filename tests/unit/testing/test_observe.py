"""Waiting for files and processes."""

import subprocess
import sys
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from ralph.testing import lives, living, until, wait_until


async def test_it_waits_until_something_holds(tmp_path: Path) -> None:
    file = tmp_path / "there"
    async with anyio.create_task_group() as group:
        group.start_soon(until, file.exists)
        await anyio.lowlevel.checkpoint()
        file.touch()


async def test_it_does_not_wait_for_ever() -> None:
    with pytest.raises(TimeoutError):
        await until(lambda: False, 0.05)
    with pytest.raises(TimeoutError, match=r"within 0\.05 s"):
        wait_until(lambda: "", 0.05)


def test_what_was_waited_for_is_given() -> None:
    answers = iter(["", "", "here"])
    assert wait_until(lambda: next(answers)) == "here"


def test_a_process_lives_until_it_has_ended_whether_anybody_looked_or_not() -> None:
    word = "a-word-of-its-own-4711"
    code = "import sys; print(flush=True); sys.stdin.read()"
    with subprocess.Popen((sys.executable, "-c", code, word), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        process.stdout.readline()
        assert [each.pid for each in living(word)] == [process.pid]
        assert lives(process.pid)
        process.stdin.close()
        wait_until(lambda: not lives(process.pid))  # nobody has asked for its status yet
        assert living(word) == []
    assert not lives(process.pid)
