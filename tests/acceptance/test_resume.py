"""A run that was killed, stopped or paused goes on, as a person has it go on: with `ralph` from another terminal."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from ralph.testing import ModelRequest, ModelServer, Say, Shell, Step, WriteFile, living, wait_until

DONE = "All done.\n---RALPH_STATUS---\nEXIT_SIGNAL: true\nREASON: written\n---END_RALPH_STATUS---"
WORKING = "More to do.\n---RALPH_STATUS---\nEXIT_SIGNAL: false\nREASON: not yet\n---END_RALPH_STATUS---"

pytestmark = pytest.mark.timeout(120)

Ralph = Callable[..., Any]


@contextmanager
def under_way(environment: Mapping[str, str], *words: str, output: Path) -> Generator["subprocess.Popen[bytes]"]:
    """A `ralph` at work in another terminal, killed at the end where it has not ended."""
    with output.open("wb") as out:
        process = subprocess.Popen(
            (sys.executable, "-m", "ralph", *words),
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait(10)


def against(server: ModelServer, workspace: Path, executor: str = "copilot-cli") -> tuple[str, ...]:
    endpoint = ("--base-url", server.base_url, "--model", "m", "--executor", executor)
    return ("-C", str(workspace), *endpoint, "--verify", "none", "--display", "json")


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "output"


def told(output: Path, kind: str) -> list[dict[str, Any]]:
    lines = output.read_text().splitlines() if output.exists() else []
    events = [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}")]
    return [event for event in events if event["type"] == kind]


def only_run(ralph: Ralph, *where: str) -> dict[str, Any]:
    [run] = json.loads(ralph("runs", "--json", *where).stdout)
    return run


@pytest.mark.parametrize(
    ("executor", "store"),
    [
        pytest.param("copilot-sdk", "sqlite", marks=pytest.mark.long),
        ("copilot-cli", "sqlite"),
        pytest.param("copilot-cli", "postgres", marks=pytest.mark.long),
    ],
)
@pytest.mark.smoke
def test_after_a_kill_the_agent_is_ended_and_nothing_that_was_finished_is_lost(
    ralph: Ralph,
    environment: Mapping[str, str],
    workspace: Path,
    output: Path,
    executor: str,
    store: str,
    request: pytest.FixtureRequest,
) -> None:
    where = ("--store", request.getfixturevalue("postgres_url")) if store == "postgres" else ()
    seconds = f"34{os.getpid()}"
    left: list[psutil.Process] = []
    turns: list[ModelRequest] = []

    def script(request: ModelRequest) -> Step:
        turns.extend([request] if request.asks else [])
        if len(turns) == 1:
            return Say(WORKING) if request.results else WriteFile("one.txt", "1")
        if len(turns) == 2:
            return Shell(f"touch half.txt; sleep {seconds}")
        left.extend(living(seconds))
        return Say(DONE) if request.results else WriteFile("two.txt", "2")

    with ModelServer(script) as server:
        words = (*against(server, workspace, executor), *where)
        with under_way(environment, "run", "Write two files", *words, output=output) as process:
            wait_until(lambda: living(seconds) or process.poll() is not None)
            assert process.returncode is None, output.read_text()
            process.kill()
            process.wait(10)
        if executor == "copilot-cli":  # the SDK's runtime ends itself when Ralph is gone, sooner or later
            assert living(seconds), "what is tested here is what a kill leaves behind"
        run = only_run(ralph, *where)
        resumed = ralph("resume", "-C", str(workspace), "--display", "json", *where)
    assert (run["state"], run["iterations"]) == ("crashed", 1)
    assert resumed.code == 0, resumed.stderr
    assert (resumed.end["stop_reason"], resumed.end["iterations"]) == ("completed", 2)
    ended = [event["type"] for event in resumed.events if event["type"] in {"orphans_ended", "iteration_started"}]
    if executor == "copilot-cli":
        assert any("sleep" in name for name in resumed.of("orphans_ended")[0]["processes"])
        assert ended == ["orphans_ended", "iteration_started"]
    assert not left, "an orphan was alive when the next agent was at work"
    assert "cut off" in server.prompts[-1]
    assert (workspace / "half.txt").exists(), "the tree is kept"
    shown = json.loads(ralph("show", "--json", *where).stdout)
    assert [iteration["number"] for iteration in shown["iterations"]] == [1, 2]


@pytest.mark.long
def test_another_run_in_the_folder_does_not_meet_the_agent_of_one_that_was_killed(
    ralph: Ralph, environment: Mapping[str, str], workspace: Path, output: Path
) -> None:
    seconds = f"36{os.getpid()}"
    with ModelServer([Shell(f"sleep {seconds}"), WriteFile("two.txt", "2"), Say(DONE)]) as server:
        words = against(server, workspace)
        with under_way(environment, "run", "Wait", *words, output=output) as process:
            wait_until(lambda: living(seconds) or process.poll() is not None)
        assert living(seconds)
        ran = ralph("run", "Write", *words)
    assert ran.code == 0, ran.stderr
    assert living(seconds) == []
    assert any("sleep" in name for name in ran.of("orphans_ended")[0]["processes"])


def test_a_run_waits_for_a_person_in_another_terminal_and_hears_what_is_said(
    ralph: Ralph, environment: Mapping[str, str], workspace: Path, output: Path
) -> None:
    gate = workspace.parent / "gate"

    turns: list[ModelRequest] = []

    def script(request: ModelRequest) -> Step:
        turns.extend([request] if request.asks else [])
        number = len(turns)
        if request.results:
            return Say(DONE if number == 3 else WORKING)
        wait = f"while [ ! -e {gate} ]; do sleep 0.05; done" if number == 1 else "true"
        return Shell(f"touch file-{number}; {wait}")

    with ModelServer(script) as server:
        words = ("run", "Go on", "--max-iterations", "2", *against(server, workspace))
        with under_way(environment, *words, output=output) as process:
            wait_until((workspace / "file-1").exists)
            run = only_run(ralph)["id"]
            refused = ralph("resume", run)
            paused = ralph("pause", run)
            assert ralph("tell", run, "Mind the gap.", "--once").code == 0
            assert ralph("tell", run, "Write in English.").code == 0
            assert ralph("extend", run, "--max-iterations", "+1").code == 0
            gate.touch()
            wait_until(lambda: told(output, "paused"))
            state = only_run(ralph)["state"]
            gone_on = ralph("resume", run)
            assert process.wait(40) == 0
        followed = ralph("logs", "-f", run, "--json")
        late = ralph("pause", run)
        again = ralph("resume", run, "--display", "json")
        asked = len(server.prompts)
    assert (refused.code, "is running" in refused.stderr) == (2, True)
    assert "at the end of the current iteration" in paused.stdout
    assert told(output, "paused")[0]["until"] is None
    assert state == "paused"
    assert (gone_on.code, "continues" in gone_on.stdout) == (0, True)
    assert "Mind the gap." not in server.prompts[0]
    assert "> Mind the gap." in server.prompts[1]
    assert "Mind the gap." not in server.prompts[2], "it is said once"
    assert ["> Write in English." in prompt for prompt in server.prompts[:3]] == [False, True, True]
    assert told(output, "extended")[0]["limits"] == {"max_iterations": 3}
    assert told(output, "run_finished")[0]["iterations"] == 3
    assert followed.stdout == output.read_text()
    assert (late.code, "is not running" in late.stderr) == (2, True)
    assert (again.code, again.end["stop_reason"], asked) == (0, "completed", 3)
    assert "completed already" in again.stderr


@pytest.mark.long
def test_a_worktree_is_discarded_after_a_kill_and_what_was_done_in_it_can_be_brought_back(
    ralph: Ralph, environment: Mapping[str, str], workspace: Path, output: Path
) -> None:
    seconds = f"37{os.getpid()}"
    steps = [WriteFile("one.txt", "1"), Shell(f"echo half > half.txt; sleep {seconds}"), WriteFile("two.txt", "2")]
    with ModelServer([*steps, Say(DONE)]) as server:
        words = (*against(server, workspace), "--worktree", "--worktree-end", "discard")
        with under_way(environment, "run", "Write", *words, output=output) as process:
            wait_until(lambda: living(seconds) or process.poll() is not None)
        tree = Path(told(output, "run_started")[0]["workspace"])
        assert (tree / "half.txt").exists()
        resumed = ralph("resume", "-C", str(workspace), "--display", "json")
    assert resumed.code == 0, resumed.stderr
    assert not tree.exists()

    def git(*words: str) -> str:
        return subprocess.run(("git", *words), cwd=workspace, check=True, capture_output=True, text=True).stdout

    assert git("branch", "--list", "ralph/*") == ""
    assert len(git("worktree", "list").splitlines()) == 1
    assert sorted(path.name for path in workspace.iterdir()) == [".git", "README.md"]
    [back] = [line.partition("`git ")[2].partition("`")[0] for line in resumed.stderr.splitlines() if "NAME" in line]
    git(*back.replace("NAME", "saved").split())
    assert git("ls-tree", "--name-only", "saved").split() == ["README.md", "half.txt", "one.txt", "two.txt"]


def test_a_stopped_run_ends_its_agent_and_can_be_resumed(
    ralph: Ralph, environment: Mapping[str, str], workspace: Path, output: Path
) -> None:
    seconds = f"35{os.getpid()}"
    script = [WriteFile("one.txt", "1"), Shell(f"sleep {seconds}"), WriteFile("two.txt", "2"), Say(DONE)]
    with ModelServer(script) as server:
        with under_way(environment, "run", "Write", *against(server, workspace), output=output) as process:
            wait_until(lambda: living(seconds))
            run = only_run(ralph)["id"]
            asked = time.monotonic()
            stopped = ralph("stop", run)
            assert process.wait(20) == 130
            took = time.monotonic() - asked
        assert living(seconds) == []
        resumed = ralph("resume", run, "--display", "json")
    assert (stopped.code, "stopped, after an iteration" in stopped.stdout) == (0, True)
    assert took < 8
    assert told(output, "run_finished")[0]["detail"] == "`ralph stop`"
    assert (resumed.code, resumed.end["iterations"]) == (0, 2)
    assert "cut off" in server.prompts[-1]


@pytest.mark.long
def test_more_iterations_let_a_run_go_on_that_a_limit_has_ended(ralph: Ralph, workspace: Path) -> None:
    with ModelServer([Say(WORKING)] * 3, then=Say(DONE)) as server:
        words = against(server, workspace)
        assert ralph("run", "Go on", "--max-iterations", "1", *words).code == 5
        nothing = ralph("resume", "last", "--display", "json")
        assert ralph("extend", "last", "--max-iterations", "+1").code == 0
        extended = ralph("resume", "last", "--display", "json")
        whole = ralph("resume", "last", "--max-iterations", "3", "--display", "json")
        asked = len(server.prompts)
    assert (nothing.code, nothing.end["iterations"]) == (5, 1)
    assert (extended.code, extended.end["iterations"]) == (5, 2)
    assert (whole.code, whole.end["iterations"]) == (5, 3), "three in all, the one that was added counts among them"
    assert asked == 3


@pytest.fixture
def locker(environment: Mapping[str, str]) -> Callable[[], sqlite3.Connection]:
    """Takes the store's file away from everybody else, as a program that looks at it may do."""

    def lock() -> sqlite3.Connection:
        file = Path(environment["XDG_STATE_HOME"], "ralph", "ralph.db")
        connection = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
        connection.execute("BEGIN IMMEDIATE")
        return connection

    return lock


@pytest.mark.parametrize("interrupted", [False, pytest.param(True, marks=pytest.mark.long)])
def test_a_store_that_cannot_be_written_holds_the_run_up_and_loses_nothing(
    ralph: Ralph,
    environment: Mapping[str, str],
    workspace: Path,
    output: Path,
    locker: Callable[[], sqlite3.Connection],
    interrupted: bool,
) -> None:
    locks: list[sqlite3.Connection] = []

    def script(request: ModelRequest) -> Step:
        if not locks:
            locks.append(locker())
        return Say(DONE) if request.results else WriteFile("one.txt", "1")

    with ModelServer(script) as server:
        with under_way(environment, "run", "Write", *against(server, workspace), output=output) as process:
            wait_until(lambda: told(output, "paused") or process.poll() is not None)
            if interrupted:
                process.send_signal(signal.SIGINT)
                process.wait(5)
            locks[0].close()
            code = process.wait(40)
        resumed = ralph("resume", "last", "--display", "json")
    [paused] = told(output, "paused")
    assert (paused["seq"], paused["until"], "locked" in paused["reason"]) == (0, None, True)
    assert told(output, "run_finished")[0]["stop_reason"] == ("error" if interrupted else "completed")
    assert (resumed.code, resumed.end["iterations"]) == (0, 1)
    if interrupted:
        assert code == 1
        assert "Not kept: " in output.read_text().splitlines()[-1]
        assert "ralph resume" in output.read_text().splitlines()[-1]
    else:
        assert (code, len(told(output, "resumed"))) == (0, 1)
        assert "completed already" in resumed.stderr
