"""`ralph run` on the real Copilot runtime; only the model is scripted."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest

from ralph.testing import Fail, Hang, ModelRequest, ModelServer, Say, Shell, Stall, Step, Use, WriteFile

DONE = "All done.\n---RALPH_STATUS---\nEXIT_SIGNAL: true\nREASON: written\n---END_RALPH_STATUS---"
REVIEWED = Say("It is there.\n---RALPH_STATUS---\nEXIT_SIGNAL: true\nREASON: I read it\n---END_RALPH_STATUS---")
CREATES = (WriteFile("hello.txt", "hello\n"), Say(DONE), REVIEWED)

LONG = pytest.mark.long

pytestmark = pytest.mark.timeout(90)


def against(server: ModelServer, workspace: Path) -> tuple[str, ...]:
    return ("-C", str(workspace), "--base-url", server.base_url, "--model", "m", "--display", "json")


def marked(text: str) -> list[psutil.Process]:
    """Processes, dead ones left out, whose command line holds a text."""
    found: list[psutil.Process] = []
    for process in psutil.process_iter():
        try:
            alive = process.status() != psutil.STATUS_ZOMBIE
            if alive and any(text in word for word in process.cmdline()):
                found.append(process)
        except psutil.Error:
            continue
    return found


@pytest.mark.parametrize(
    "executor", ["copilot", pytest.param("copilot-sdk", marks=LONG), pytest.param("copilot-cli", marks=LONG)]
)
@pytest.mark.smoke
def test_a_file_asked_for_is_there(ralph: Callable[..., Any], workspace: Path, executor: str) -> None:
    with ModelServer(list(CREATES)) as server:
        ran = ralph("run", "Create hello.txt", "--executor", executor, *against(server, workspace))
    assert ran.code == 0, ran.stderr
    assert (workspace / "hello.txt").read_text() == "hello\n"
    assert ran.end["stop_reason"] == "completed"
    assert ran.end["verified"] is True
    assert ran.end["detail"].endswith("a fresh review confirmed")
    kinds = [event["type"] for event in ran.events]
    assert kinds[0] == "run_started"
    assert {"iteration_started", "message_received", "tool_started", "tool_finished"} <= set(kinds)
    assert [event["seq"] for event in ran.events] == list(range(1, len(kinds) + 1))


@pytest.mark.long
def test_a_registered_status_field_stands_in_the_prompt_that_the_model_receives(
    ralph: Callable[..., Any], workspace: Path
) -> None:
    (workspace / "ralph.toml").write_text(
        '[[status_fields]]\nname = "RISK"\ntype = "int"\ndescription = "from 0 to 9"\nexample = "4"\n'
    )
    answer = DONE.replace("REASON", "RISK: 7\nREASON")
    with ModelServer([CREATES[0], Say(answer), REVIEWED]) as server:
        ran = ralph("run", "Create hello.txt", *against(server, workspace))
        prompt = server.prompts[0]
    assert ran.code == 0, ran.stderr
    assert "RISK: 4" in prompt
    assert "RISK (int): from 0 to 9" in prompt
    assert ran.of("iteration_finished")[0]["fields"] == {"RISK": 7}


def test_a_killed_runtime_leaves_no_orphan_and_the_run_completes(ralph: Callable[..., Any], workspace: Path) -> None:
    marker = f"30{os.getpid()}"
    killed: list[int] = []

    def kill_when_it_sleeps() -> None:
        deadline = time.monotonic() + 30
        while not (sleeping := marked(marker)):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        parents = sleeping[0].parents()
        runtime = next(parent for parent in parents if "copilot" in parent.name())
        runtime.kill()
        killed.append(runtime.pid)

    def script(request: ModelRequest) -> Step:
        if not killed and not request.results:
            threading.Thread(target=kill_when_it_sleeps, daemon=True).start()
            return Shell(f"sleep {marker}")
        if request.prompt.startswith("You review"):
            return REVIEWED
        return CREATES[1] if request.results else CREATES[0]

    with ModelServer(script) as server:
        ran = ralph("run", "Create hello.txt", *against(server, workspace))
    assert killed
    assert ran.code == 0, ran.stderr
    assert ran.end["stop_reason"] == "completed"
    assert ran.of("executor_fell_back")
    assert marked(f"sleep {marker}") == []
    assert (workspace / "hello.txt").exists()


@pytest.mark.long
def test_a_rate_limit_is_a_pause_as_long_as_the_endpoint_says(ralph: Callable[..., Any], workspace: Path) -> None:
    with ModelServer([Fail(429, retry_after=2), *CREATES]) as server:
        ran = ralph("run", "Create hello.txt", *against(server, workspace))
    assert ran.code == 0, ran.stderr
    (pause,) = ran.of("paused")
    (resumed,) = ran.of("resumed")
    assert "rate limited" in pause["reason"]
    assert resumed["at"] >= pause["until"]
    assert ran.end["duration"] < 20, "the runtime's own retries are not waited for"
    assert ran.of("iteration_finished")[-1]["breaker"]["state"] == "closed"


@pytest.mark.long
def test_a_key_that_is_not_accepted_ends_the_run_with_what_to_do(ralph: Callable[..., Any], workspace: Path) -> None:
    with ModelServer([Fail(401)] * 20) as server:
        ran = ralph("run", "Create hello.txt", *against(server, workspace))
    assert ran.code == 6
    assert ran.end["stop_reason"] == "executor_unavailable"
    assert "401" in ran.end["detail"]
    assert ran.end["iterations"] == 1


@pytest.mark.parametrize("step", [pytest.param(Hang(), id="hang"), pytest.param(Stall("I begin to"), id="stall")])
@pytest.mark.long
def test_a_silent_model_is_ended_by_the_watchdog(ralph: Callable[..., Any], workspace: Path, step: Step) -> None:
    with ModelServer([step, *CREATES]) as server:
        ran = ralph("run", "Create hello.txt", "--idle-timeout", "2s", *against(server, workspace))
    assert ran.code == 0, ran.stderr
    first = ran.of("iteration_finished")[0]
    assert first["outcome"]["kind"] == "timed_out"
    assert first["outcome"]["limit"] == "idle"
    assert ran.end["iterations"] == 2


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), pytest.param(signal.SIGINT, 130, marks=LONG)])
def test_a_signal_ends_the_turn_within_seconds_and_keeps_what_there_was(
    environment: Mapping[str, str], workspace: Path, ralph: Callable[..., Any], number: int, code: int
) -> None:
    marker = f"31{os.getpid()}"
    script = [Use((Shell(f"sleep {marker}"),), text="I begin with a long command.")]
    with ModelServer(script) as server:
        process = subprocess.Popen(
            (sys.executable, "-m", "ralph", "run", "Sleep", *against(server, workspace)),
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            deadline = time.monotonic() + 40
            while not marked(f"sleep {marker}") and not marked(marker) and time.monotonic() < deadline:
                time.sleep(0.05)
            began = psutil.Process(process.pid)
            family = began.children(recursive=True)
            assert family
            sent = time.monotonic()
            process.send_signal(number)
            out, _ = process.communicate(timeout=15)
        finally:
            process.kill()
        took = time.monotonic() - sent
    assert process.returncode == code
    assert took < 5
    _, alive = psutil.wait_procs(family, timeout=1)
    assert alive == []
    assert marked(marker) == []
    assert '"stop_reason":"cancelled"' in out.replace(" ", "")
    shown = ralph("show", "last", "--json")
    assert "I begin with a long command." in shown.stdout


HOSTILE = {
    "deletes .ralph": "rm -rf .ralph",
    "cleans": "git clean -qfdx",
    "plants a link": "rm -rf .ralph; ln -s {outside} .ralph",
    "plants a file link": "mkdir -p .ralph; ln -sf {outside}/victim .ralph/last-response.md",
    "plants a fifo": "rm -rf .ralph; mkfifo .ralph",
    "breaks git": "rm -rf .git",
}


@pytest.mark.long
@pytest.mark.parametrize("command", HOSTILE.values(), ids=HOSTILE)
def test_what_the_agent_does_to_its_folder_loses_nothing_and_writes_nothing_outside(
    ralph: Callable[..., Any], workspace: Path, tmp_path: Path, command: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "victim").write_text("untouched")
    first = Say("I tidied up.")
    steps = [Shell(command.format(outside=outside)), first, *CREATES]
    with ModelServer(steps) as server:
        ran = ralph("run", "Create hello.txt", "--permission", "approve-all", *against(server, workspace))
    assert ran.code == 0, ran.stderr
    assert ran.end["iterations"] == 2
    assert sorted(path.name for path in outside.iterdir()) == ["victim"]
    assert (outside / "victim").read_text() == "untouched"
    shown = ralph("show", "last", "--json")
    assert "I tidied up." in shown.stdout


def test_a_second_run_in_the_same_folder_is_refused(
    environment: Mapping[str, str], workspace: Path, ralph: Callable[..., Any]
) -> None:
    with ModelServer([Hang()]) as server, running(environment, server, workspace) as first:
        assert first.stdout
        first.stdout.readline()
        ran = ralph("run", "Another", *against(server, workspace))
        first.send_signal(signal.SIGTERM)
        first.communicate(timeout=15)
    assert ran.code == 2
    assert "in use by run" in ran.stderr
    assert "Traceback" not in ran.stderr


class running:  # noqa: N801 - reads as a phrase in `with`
    """A `ralph run` in the background, ended at the end."""

    def __init__(self, environment: Mapping[str, str], server: ModelServer, workspace: Path) -> None:
        self.process = subprocess.Popen(
            (sys.executable, "-m", "ralph", "run", "Wait", *against(server, workspace)),
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> "subprocess.Popen[str]":
        return self.process

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait(10)
        for stream in (self.process.stdout, self.process.stderr):
            if stream:
                stream.close()
