"""Faults that a night brings, put into whole runs on the real Copilot runtime."""

import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from ralph.testing import Call, ModelRequest, ModelServer, Say, Shell, Step, Use, WriteFile, living, wait_until

REVIEWED = Say("It is there.\n---RALPH_STATUS---\nEXIT_SIGNAL: true\nREASON: I read it\n---END_RALPH_STATUS---")
DONE = "All done.\n---RALPH_STATUS---\nEXIT_SIGNAL: true\nREASON: written\n---END_RALPH_STATUS---"

LONG = pytest.mark.long
EXECUTORS = pytest.mark.parametrize("executor", ["copilot-sdk", pytest.param("copilot-cli", marks=LONG)])

pytestmark = pytest.mark.timeout(90)


def belongs_to_nobody(process: psutil.Process) -> bool:
    """Whether its parent has ended, or it has ended itself."""
    try:
        return "copilot" not in " ".join((process.parent() or process).cmdline())
    except psutil.Error:
        return True


@contextmanager
def begun(environment: Mapping[str, str], *words: str, before: str = "") -> Generator["subprocess.Popen[bytes]"]:
    """A `ralph run` under way, in a group of its own as in a terminal; killed at the end where it has not ended."""
    process = subprocess.Popen(
        (*before.split(), sys.executable, "-m", "ralph", "run", *words),
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait(10)


def against(server: ModelServer, workspace: Path) -> tuple[str, ...]:
    return ("-C", str(workspace), "--base-url", server.base_url, "--model", "m", "--display", "json")


@pytest.mark.long
@EXECUTORS
def test_a_limit_on_tokens_ends_a_turn_that_would_not_end(
    ralph: Callable[..., Any], workspace: Path, executor: str
) -> None:
    endless = Use((Shell("true"),), text="Once more.")
    with ModelServer([], then=endless) as server:
        ran = ralph("run", "Go on", "--executor", executor, "--max-tokens", "60000", *against(server, workspace))
        asked = len(server.requests)
    assert ran.code == 5, ran.stderr
    assert ran.end["stop_reason"] == "limit_reached"
    assert ran.end["detail"].startswith("max_tokens")
    assert ran.end["iterations"] == 1
    assert asked < 40, "some twelve thousand tokens a call: five calls and what comes until they are told of"


@pytest.mark.long
@pytest.mark.parametrize(("before", "code"), [("env --default-signal=HUP", 129), ("nohup", 0)])
def test_a_closed_terminal_ends_the_run_and_its_agent_but_not_under_nohup(
    environment: Mapping[str, str], workspace: Path, before: str, code: int
) -> None:
    """Whether the tests themselves run under nohup makes no difference."""
    seconds = f"33{os.getpid()}{code}"
    with (
        ModelServer([Shell(f"sleep {seconds}"), WriteFile("hello.txt", "hello"), Say(DONE), REVIEWED]) as server,
        begun(environment, "Wait", "--executor", "copilot-cli", *against(server, workspace), before=before) as process,
    ):
        wait_until(lambda: living(seconds))
        process.send_signal(signal.SIGHUP)
        if code == 0:
            living(seconds)[0].kill()
        assert process.wait(30) == code
    assert living(seconds) == []


def test_a_second_ctrl_c_leaves_nothing_of_a_shell_that_heeds_none(
    environment: Mapping[str, str], workspace: Path
) -> None:
    seconds = f"32{os.getpid()}"
    stubborn = Shell(f"trap '' INT TERM; sleep {seconds}; sleep {seconds}")
    with (
        ModelServer([stubborn]) as server,
        begun(environment, "Sleep", "--executor", "copilot-sdk", *against(server, workspace)) as process,
    ):
        wait_until(lambda: living(seconds))
        shell = living(seconds)[0].parent()
        assert shell
        os.killpg(process.pid, signal.SIGINT)  # the runtime gets it, too, and leaves its shell to nobody
        wait_until(lambda: belongs_to_nobody(shell))
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(10) == 130
    assert living(seconds) == []


@pytest.mark.long
def test_a_store_that_is_taken_away_ends_the_run_with_what_to_do(
    ralph: Callable[..., Any], workspace: Path, environment: Mapping[str, str]
) -> None:
    def script(request: ModelRequest) -> Step:
        if request.results:
            return Say(DONE)
        shutil.rmtree(environment["XDG_STATE_HOME"])
        return WriteFile("hello.txt", "hello")

    with ModelServer(script) as server:
        ran = ralph("run", "Create hello.txt", "--verify", "none", *against(server, workspace))
    assert ran.code == 1
    assert ran.end["stop_reason"] == "error"
    assert "removed or replaced" in ran.stderr
    assert ran.stderr.count("\n") == 1
    assert not ran.of("iteration_finished"), "what is shown is kept"


@pytest.mark.long
def test_an_agent_that_takes_its_own_folder_away_ends_the_run_with_that_reason(
    ralph: Callable[..., Any], workspace: Path
) -> None:
    with ModelServer([Shell('rm -rf "$PWD"'), Say("I tidied up.")]) as server:
        ran = ralph("run", "Tidy up", "--permission", "approve-all", *against(server, workspace))
        asked = len(server.requests)
    assert ran.code == 6, ran.stderr
    assert (ran.end["stop_reason"], ran.end["iterations"]) == ("executor_unavailable", 1)
    assert f"{workspace} no longer exists" in ran.end["detail"]
    assert asked == 2
    assert "Traceback" not in ran.stderr
    resumed = ralph("resume", ran.end["run_id"])
    assert (resumed.code, resumed.stderr.count("\n")) == (2, 1)
    assert str(workspace) in resumed.stderr


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&- <&-"])
@pytest.mark.long
def test_closed_standard_streams_change_nothing(environment: Mapping[str, str], workspace: Path, closed: str) -> None:
    with ModelServer([WriteFile("hello.txt", "hello"), Say(DONE), REVIEWED]) as server:
        words = shlex.join((sys.executable, "-m", "ralph", "run", "Create hello.txt", *against(server, workspace)))
        ended = subprocess.run(
            ("/bin/sh", "-c", f"{words} {closed}"), env=environment, capture_output=True, timeout=50, check=False
        )
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr == b""
    assert (workspace / "hello.txt").exists()


@pytest.mark.long
@EXECUTORS
def test_an_agent_that_asks_for_nothing_but_what_it_is_denied_is_stopped(
    ralph: Callable[..., Any], workspace: Path, executor: str
) -> None:
    with ModelServer([], then=Shell("git push origin main")) as server:
        ran = ralph("run", "Publish it", "--executor", executor, *against(server, workspace))
        asked, told = len(server.requests), server.prompts[-1]
    assert ran.code == 4, ran.stderr
    assert ran.end["stop_reason"] == "circuit_open"
    assert [event["outcome"].get("by") for event in ran.of("iteration_finished")] == ["denials", "denials"]
    assert asked < 60, "some twenty in each of two turns"
    assert "Do not try them again" in told


@EXECUTORS
@pytest.mark.long
def test_an_agent_that_makes_the_same_call_over_and_over_is_stopped(
    ralph: Callable[..., Any], workspace: Path, executor: str
) -> None:
    view = Call("view", {"path": str(workspace / "README.md")})
    with ModelServer([], then=view) as server:
        ran = ralph("run", "Read it", "--executor", executor, *against(server, workspace))
        asked, told = len(server.requests), server.prompts
    assert ran.code == 4, ran.stderr
    assert ran.end["stop_reason"] == "circuit_open"
    assert [event["outcome"].get("by") for event in ran.of("iteration_finished")] == ["circles"] * 3
    assert asked < 220, "some sixty in each of three turns"
    assert "That leads nowhere" in told[1]
    assert "try a different approach" in told[-1], "and not both in one prompt"
    assert "That leads nowhere" not in told[-1]
    assert "README.md" in ran.end["detail"]


@pytest.mark.long
@pytest.mark.timeout(240)
@EXECUTORS
def test_a_run_with_a_time_waits_for_a_service_that_is_down_from_the_start(
    environment: Mapping[str, str], workspace: Path, tmp_path: Path, executor: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as reserved:
        port = reserved.getsockname()[1]
    told, bounds = tmp_path / "told", ("--max-duration", "200s", "--verify", "none", "--display", "json")
    agent = ("--executor", executor, "--base-url", f"http://127.0.0.1:{port}/v1", "--model", "m")
    words = (sys.executable, "-m", "ralph", "run", "Work", "-C", str(workspace), *agent, *bounds)
    with (
        told.open("w") as out,
        subprocess.Popen(words, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out) as process,
    ):
        wait_until(lambda: '"iteration_started"' in told.read_text(), 100)
        with ModelServer([WriteFile("new", "x"), Say(DONE)], port=port):
            code = process.wait(200)
    assert "refuses the connection. The run waits for it" in told.read_text()
    assert code == 0
