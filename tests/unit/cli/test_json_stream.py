"""`--display json`: on every path the stream begins with `run_started` or an error, and ends with `run_finished`."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ralph.records.events import parse_event

PLUGIN = """
import os, time
from pathlib import Path
import anyio
from ralph import Output
from ralph.errors import ExecutorUnavailableError
from ralph.plugins import Provider, hookimpl
from ralph.testing import ScriptedExecutor

Path("loaded").touch()
time.sleep(float(os.environ.get("SLEEP", "0")))
DONE = "All done.\\n---RALPH_STATUS---\\nEXIT_SIGNAL: true\\nREASON: written\\n---END_RALPH_STATUS---"

class Absent(ScriptedExecutor):
    async def __aenter__(self):
        raise ExecutorUnavailableError("The agent is not there.")

class Deaf(ScriptedExecutor):
    async def execute(self, prompt, turn):
        Path("turning").touch()
        with anyio.CancelScope(shield=True):
            await anyio.sleep(30)
        return Output()

class Busy(ScriptedExecutor):
    async def execute(self, prompt, turn):
        Path("turning").touch()
        for _ in range(20_000):
            time.sleep(0.001)
            await anyio.sleep(0)
        return Output()

class Tidy(ScriptedExecutor):
    async def execute(self, prompt, turn):
        Path("turning").touch()
        try:
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.sleep(1)

class Gated(ScriptedExecutor):
    async def execute(self, prompt, turn):
        Path(f"turn-{turn.iteration}").touch()
        while not Path("go").exists():
            await anyio.sleep(0.02)
        Path("go").unlink()
        return await super().execute(prompt, turn)

@hookimpl
def ralph_executors():
    yield Provider("gated", "waits for a file", lambda context: Gated(["Working."] * 4 + [DONE]))
    yield Provider("busy", "leaves the loop no time", lambda context: Busy([DONE]))
    yield Provider("tidy", "takes a second to end", lambda context: Tidy([DONE]))
    yield Provider("quick", "is done", lambda context: ScriptedExecutor(["x" * 500 + "\\n" + DONE]))
    yield Provider("absent", "cannot start", lambda context: Absent([DONE]))
    yield Provider("deaf", "hears nothing", lambda context: Deaf([DONE]))
"""
ENDS: list[tuple[str, tuple[str, ...], int, str, str]] = [
    ("a flag that does not exist", ("run", "Work.", "--nope"), 2, "usage_error", "error"),
    ("no task", ("run", ""), 2, "usage_error", "error"),
    ("no such folder", ("run", "Work.", "-C", "nowhere"), 2, "usage_error", "error"),
    ("consent refused", ("run", "Work.", "-C", "foreign"), 2, "usage_error", "error"),
    ("no such executor", ("run", "Work.", "--executor", "nobody"), 2, "usage_error", "error"),
    ("a store that is none", ("run", "Work.", "--executor", "quick", "--store", "a.txt"), 2, "usage_error", "error"),
    (
        "an endpoint that is down",
        ("run", "Work.", "--base-url", "http://127.0.0.1:9/v1", "--model", "m"),
        6,
        "usage_error",
        "executor_unavailable",
    ),
    (
        "an executor that cannot start",
        ("run", "Work.", "--executor", "absent"),
        6,
        "run_started",
        "executor_unavailable",
    ),
    ("no such run", ("resume", "nobody"), 2, "usage_error", "error"),
    ("a completion", ("run", "Work.", "--executor", "quick"), 0, "run_started", "completed"),
    ("a run that is completed already", ("resume", "last"), 0, "run_started", "completed"),
]


@pytest.fixture
def plugged(workspace: Path, home: Path) -> Path:
    """A workspace with a plug-in of the user's, a foreign folder in it, and a file that is no store."""
    (workspace / "foreign").mkdir()
    (workspace / "foreign" / "ralph.toml").write_text('verify = ["make"]\n')
    (workspace / "a.txt").write_text("no database\n" * 100)
    (workspace / ".ralph").mkdir()
    (workspace / ".ralph" / "plugin.py").write_text(PLUGIN)
    return workspace


def whole(out: str) -> list[dict[str, Any]]:
    """The events of a stream that keeps its promise."""
    events = [json.loads(line) for line in out.splitlines()]
    assert events[0]["type"] in {"run_started", "usage_error"}
    assert events[-1]["type"] == "run_finished"
    assert [event["type"] for event in events].count("run_finished") == 1
    parse_event(out.splitlines()[-1])
    return events


def test_the_stream_is_whole_however_the_program_ends(
    ralph: Callable[..., Any], plugged: Path, subtests: pytest.Subtests, monkeypatch: pytest.MonkeyPatch
) -> None:
    ralph("run", "Work.", "--executor", "quick", "--trust", "--verify", "none", "--store", "memory:")
    for name, words, code, first, reason in ENDS:
        with subtests.test(name):
            checks = ("--verify", "none") if words[0] == "run" and words[2:3] != ("-C",) else ()
            ended = ralph(*words, *checks, "--display", "json")
            assert ended.code == code, ended.err
            events = whole(ended.out)
            assert (events[0]["type"], events[-1]["stop_reason"]) == (first, reason)
            if first == "usage_error":
                assert events[0]["exit_code"] == code
                assert events[0]["message"] in ended.err
                assert events[-1]["detail"] == events[0]["message"]
    monkeypatch.setenv("RALPH_DISPLAY", "json")
    assert whole(ralph("run", "Work.", "--nope").out)
    assert ralph("runs", "--nope").out == ""
    assert ralph("run", "Work.", "--nope", "--display=plain").out == ""


def test_a_run_that_continues_in_another_process_is_followed(
    ralph: Callable[..., Any], plugged: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The owner, which has ended the run by the time that it is followed, is not this process."""
    assert ralph("run", "Work.", "--executor", "absent", "--trust", "--verify", "none").code == 6

    def paused(_: object) -> str:
        return "paused"

    monkeypatch.setattr("ralph.cli.resume.run_state", paused)
    ended = ralph("resume", "last", "--display", "json")
    assert ended.code == 6
    events = whole(ended.out)
    assert (events[0]["type"], events[-1]["stop_reason"]) == ("run_started", "executor_unavailable")


def started(words: tuple[str, ...], folder: Path, out: Path, *, limit: str = "unlimited", slow: str = "0") -> Any:
    if words[0] != "resume":
        words = ("run", "Work.", *words, "--verify", "none")
    ralph = (sys.executable, "-m", "ralph", *words, "--display", "json")
    command = ("sh", "-c", f'ulimit -f {limit}; exec "$0" "$@"', *ralph)
    with out.open("wb") as file:
        return subprocess.Popen(command, cwd=folder, env={**os.environ, "SLEEP": slow}, stdout=file, stderr=-1)


def appears(file: Path) -> None:
    deadline = time.monotonic() + 40
    while not file.exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.long
@pytest.mark.timeout(120)
def test_a_run_that_is_paused_in_another_process_is_followed(
    ralph: Callable[..., Any], plugged: Path, tmp_path: Path
) -> None:
    """Until that one ends it, until a signal ends the follower alone, or until that process is killed."""
    streams = [tmp_path / f"out-{number}" for number in range(5)]
    owner = started(("--executor", "gated", "--trust"), plugged, streams[0])

    def pause(turn: int) -> None:
        appears(plugged / f"turn-{turn}")
        assert ralph("pause", "last").code == 0
        time.sleep(0.7)  # the owner looks twice a second
        (plugged / "go").touch()
        deadline = time.monotonic() + 40
        while streams[0].read_text().count('"type": "paused"') < turn:
            assert time.monotonic() < deadline
            time.sleep(0.02)

    def follow(turn: int) -> Any:
        follower = started(("resume", "last"), plugged, streams[turn])
        appears(plugged / f"turn-{turn + 1}")
        return follower

    try:
        pause(1)
        for turn, number in ((1, signal.SIGINT), (2, signal.SIGTERM)):
            follower = follow(turn)
            follower.send_signal(number)
            follower.communicate(timeout=40)
            assert follower.returncode == 128 + number
            assert whole(streams[turn].read_text())[-1]["stop_reason"] == "cancelled"
            assert owner.poll() is None
            pause(turn + 1)
        ended = ralph("resume", "last", "--display", "plain")
        assert (ended.code, ended.out.endswith(f"continues, in process {owner.pid}.\n")) == (0, True)
        pause(4)
        follower = follow(4)
        (plugged / "go").touch()
        follower.communicate(timeout=40)
        events = whole(streams[4].read_text())
        assert (follower.returncode, events[-1]["stop_reason"]) == (0, "completed")
        assert {"paused", "resumed", "iteration_finished"} <= {event["type"] for event in events}
        owner.communicate(timeout=40)
        assert owner.returncode == 0
        for mark in plugged.glob("turn-*"):
            mark.unlink()
        streams[0].unlink()
        owner = started(("--executor", "gated", "--trust"), plugged, streams[0])
        pause(1)
        follower = follow(1)
        owner.kill()
        _, told = follower.communicate(timeout=40)
        events = whole(streams[1].read_text())
        assert (follower.returncode, events[-1]["stop_reason"]) == (2, "error")
        assert b"is gone" in told
    finally:
        owner.kill()
        owner.communicate()


@pytest.mark.parametrize(
    ("mark", "executor", "slow", "number", "times", "first"),
    [
        ("loaded", "quick", "30", signal.SIGTERM, 1, "usage_error"),
        ("loaded", "quick", "30", signal.SIGINT, 1, "usage_error"),
        ("turning", "busy", "0", signal.SIGHUP, 1, "run_started"),
        ("turning", "deaf", "0", signal.SIGTERM, 2, "run_started"),
    ],
)
def test_a_signal_ends_the_stream_too(
    plugged: Path, tmp_path: Path, mark: str, executor: str, slow: str, number: int, times: int, first: str
) -> None:
    process = started(("--executor", executor, "--trust"), plugged, tmp_path / "out", slow=slow)
    try:
        appears(plugged / mark)
        for _ in range(times):
            process.send_signal(number)
            time.sleep(0.5)
        _, said = process.communicate(timeout=40)
    finally:
        process.kill()
    assert process.returncode == 128 + number
    assert (b"before a run began: the agent was not started." in said) is (first == "usage_error")
    events = whole((tmp_path / "out").read_text())
    assert (events[0]["type"], events[-1]["stop_reason"]) == (first, "cancelled")


def test_a_terminal_that_is_closed_ends_the_run_in_order(
    ralph: Callable[..., Any], plugged: Path, tmp_path: Path
) -> None:
    """The kernel and the shell each send SIGHUP then."""
    process = started(("--executor", "tidy", "--trust"), plugged, tmp_path / "out")
    try:
        appears(plugged / "turning")
        process.send_signal(signal.SIGHUP)
        time.sleep(0.05)
        process.send_signal(signal.SIGHUP)
        process.communicate(timeout=40)
    finally:
        process.kill()
    assert process.returncode == 129
    assert json.loads(ralph("show", "last", "--json").out)["run"]["state"] == "finished"


def test_on_a_full_disk_the_last_line_takes_the_place_of_others(plugged: Path, tmp_path: Path) -> None:
    """A limit on the size of files stands for the full disk: writing fails in the middle of a line, as there."""
    full = tmp_path / "out"
    process = started(
        ("--executor", "quick", "--trust", "--store", "memory:"),
        plugged,
        full,
        limit="8",
    )
    _, errors = process.communicate(timeout=40)
    assert (process.returncode, full.stat().st_size <= 8192) == (1, True)
    events = whole(full.read_text())
    assert events[-1]["stop_reason"] == "completed"
    assert b"There is no room for the output" in errors


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_where_nothing_can_be_written_the_exit_code_says_so(plugged: Path) -> None:
    process = started(("--executor", "quick", "--trust"), plugged, Path("/dev/full"))
    _, errors = process.communicate(timeout=40)
    assert process.returncode == 1
    assert b"There is no room for the output" in errors
