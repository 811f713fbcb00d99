"""The `ralph` program at the edges: terminals, pipes, signals, stores, consent."""

import json
import os
import pty
import re
import select
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anyio
import psutil
import pytest

from ralph.store import open_store
from ralph.testing import Hang, ModelServer, Say, Shell, WriteFile

LONG = pytest.mark.long
RALPH = (sys.executable, "-m", "ralph")
DONE = "All done.\n---RALPH_STATUS---\nEXIT_SIGNAL: true\nREASON: written\n---END_RALPH_STATUS---"
REVIEWED = Say(
    "It is there.\n---RALPH_STATUS---\nEXIT_SIGNAL: true\nREASON: I read it\n---END_RALPH_STATUS---", pace=0.2
)
CREATES = (WriteFile("hello.txt", "hello\n"), Say(DONE), REVIEWED)

pytestmark = pytest.mark.timeout(90)


def _to(server: ModelServer, workspace: Path, display: str = "json") -> tuple[str, ...]:
    return ("-C", str(workspace), "--base-url", server.base_url, "--model", "m", "--display", display)


def _on_terminal(environment: Mapping[str, str], *words: str, within: float = 40) -> tuple[int, str]:
    """Runs the program on a terminal of 100 × 30; returns its exit code and what it wrote there."""
    ours, theirs = pty.openpty()
    env = {**environment, "TERM": "xterm-256color", "COLUMNS": "100", "LINES": "30"}
    env.pop("CI", None)
    process = subprocess.Popen((*RALPH, *words), env=env, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown, deadline = b"", time.monotonic() + within
    while time.monotonic() < deadline and select.select([ours], [], [], deadline - time.monotonic())[0]:
        try:
            shown += os.read(ours, 65_536)
        except OSError:  # the other side is closed
            break
    os.close(ours)
    process.kill() if time.monotonic() >= deadline else None
    return process.wait(10), shown.decode()


def test_a_terminal_shows_a_panel_while_it_works_and_a_summary_at_the_end(
    environment: Mapping[str, str], workspace: Path
) -> None:
    with ModelServer([Shell("sleep 1"), *CREATES]) as server:
        code, shown = _on_terminal(environment, "run", "Create hello.txt", *_to(server, workspace, "auto"))
    assert code == 0, shown
    drawn = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown)
    assert "1 of 50" in drawn
    assert "breaker closed" in drawn
    assert "$ sleep 1" in drawn
    assert "verifying: review" in drawn
    assert "Completed, verified" in shown
    assert "a fresh review confirmed" in " ".join(shown.split())
    assert "\x1b[?25l" in shown
    assert shown.rindex("\x1b[?25h") > shown.rindex("\x1b[?25l"), "the cursor is shown again"
    assert "ralph show " in shown


def test_consent_is_asked_for_at_a_terminal_showing_what_it_is_for(
    environment: Mapping[str, str], workspace: Path, ralph: Callable[..., Any]
) -> None:
    (workspace / "ralph.toml").write_text("verify = ['test -f hello.txt']\n")
    ours, theirs = pty.openpty()
    with ModelServer(list(CREATES)) as server:
        process = subprocess.Popen(
            (*RALPH, "run", "Create hello.txt", *_to(server, workspace, "plain")),
            env=environment,
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=theirs,
        )
        os.close(theirs)
        asked = b""
        while b"[y/N]" not in asked:
            assert select.select([ours], [], [], 20)[0], asked
            asked += os.read(ours, 4_096)
        os.write(ours, b"y\n")
        out, _ = process.communicate(timeout=40)
        os.close(ours)
        assert process.returncode == 0
        assert "test -f hello.txt" in asked.decode()
        assert "`test -f hello.txt` failed before and passes now" in out.decode()
    assert json.loads(ralph("config", "show", "-C", str(workspace), "--json").stdout)["untrusted"] == []


@pytest.mark.long
def test_untrusted_settings_end_a_run_unless_trusted_and_none_takes_the_verifier_away(
    ralph: Callable[..., Any], workspace: Path
) -> None:
    (workspace / "ralph.toml").write_text("verify = ['test -f hello.txt']\n")
    with ModelServer(list(CREATES)) as server:
        refused = ralph("run", "Create hello.txt", *_to(server, workspace))
        assert (refused.code, refused.events[0]["type"], refused.end["stop_reason"]) == (2, "usage_error", "error")
        assert "sets verify" in refused.stderr
        assert server.requests == ()
        assert ralph("run", "Create hello.txt", "--trust", *_to(server, workspace)).end["verified"] is True
    with ModelServer([Say(DONE), Say(DONE)]) as server:
        ran = ralph("run", "Create hello.txt", "--verify", "none", *_to(server, workspace))
        assert (ran.code, ran.end["verified"]) == (0, False)


@pytest.mark.long
def test_the_task_from_standard_input(ralph: Callable[..., Any], workspace: Path) -> None:
    with ModelServer(list(CREATES)) as server:
        ran = ralph("run", "-", *_to(server, workspace), stdin="Create hello.txt, 測試\n")
    assert ran.code == 0, ran.stderr
    assert ran.of("run_started")[0]["task"].strip() == "Create hello.txt, 測試"
    assert "測試" in server.prompts[0]


@pytest.mark.long
def test_a_second_signal_ends_it_at_once(environment: Mapping[str, str], workspace: Path) -> None:
    with ModelServer([Shell("trap '' TERM; sleep 30"), Hang()]) as server:
        process = subprocess.Popen(
            (*RALPH, "run", "Wait", *_to(server, workspace)), env=environment, stdout=subprocess.PIPE, text=True
        )
        try:
            assert process.stdout
            while '"tool_started"' not in (line := process.stdout.readline()):
                assert line, "it ended before the tool began"
            children = psutil.Process(process.pid).children(recursive=True)
            process.send_signal(signal.SIGINT)
            process.send_signal(signal.SIGINT)
            began = time.monotonic()
            process.communicate(timeout=15)
        finally:
            process.kill()
        assert time.monotonic() - began < 3
        assert process.returncode in {130, -signal.SIGINT}
    assert children
    assert psutil.wait_procs(children, timeout=3)[1] == []


@pytest.mark.long
def test_who_reads_only_the_first_line_does_not_end_the_run(
    environment: Mapping[str, str], workspace: Path, ralph: Callable[..., Any]
) -> None:
    with ModelServer(list(CREATES)) as server:
        process = subprocess.Popen(
            (*RALPH, "run", "Create hello.txt", *_to(server, workspace)),
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout
        assert "run_started" in process.stdout.readline()
        process.stdout.close()
        assert process.wait(40) == 0
        assert process.stderr
        assert process.stderr.read() == ""
        process.stderr.close()
    assert json.loads(ralph("show", "--json").stdout)["run"]["stop_reason"] == "completed"


async def _end_of_a_run(place: Path) -> None:
    with anyio.fail_after(40):
        async with open_store(str(place)) as store:
            while "finished" not in {run.state for run in await store.runs()}:  # noqa: ASYNC110 - nothing tells
                await anyio.sleep(0.1)


@pytest.mark.long
def test_who_does_not_read_at_all_does_not_hold_the_run_up(
    environment: Mapping[str, str], workspace: Path, tmp_path: Path
) -> None:
    place = tmp_path / "runs.db"
    long = Say(f"{'long ' * 40_000}\n{DONE}", chunk=10_000)
    with ModelServer([WriteFile("hello.txt", "hello\n"), long, REVIEWED]) as server:
        process = subprocess.Popen(
            (*RALPH, "run", "Create hello.txt", "--store", str(place), *_to(server, workspace)),
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        anyio.run(_end_of_a_run, place)
        assert process.poll() is None
        out, _ = process.communicate(timeout=20)
    assert process.returncode == 0
    assert json.loads(out.splitlines()[-1])["type"] == "run_finished"


def test_a_reader_that_goes_away_is_no_error(
    environment: Mapping[str, str], ralph: Callable[..., Any], workspace: Path
) -> None:
    assert ralph("runs").code == 0
    command = f"set -o pipefail; {sys.executable} -m ralph config show --json | head -1"
    done = subprocess.run(["bash", "-c", command], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "{\n", "")
    reading, gone = os.pipe()
    os.close(reading)
    for words in (("--help",), ("analyze", "README.md")):
        done = subprocess.run(
            (*RALPH, *words), env=environment, stdout=gone, stderr=subprocess.PIPE, check=False, cwd=workspace
        )
        assert (done.returncode, done.stderr) == (0, b"")
    os.close(gone)


async def _make_store(place: Path) -> None:
    async with open_store(str(place)):
        pass


@pytest.mark.long
def test_a_store_and_a_log_in_the_workspace_are_nobodys_work(
    environment: Mapping[str, str], ralph: Callable[..., Any], workspace: Path
) -> None:
    idle = Say("I looked around; more to do.\n---RALPH_STATUS---\nEXIT_SIGNAL: false\n---END_RALPH_STATUS---")
    more = ("--verify", "none", "--store", "runs.db", "--commit", "iteration", "--max-iterations", "6")
    for key in ("user.name", "user.email"):
        subprocess.run(("git", "config", key, "somebody"), cwd=workspace, check=True)
    with ModelServer(then=idle) as server, (workspace / "night.log").open("w") as log:
        words = (*RALPH, "run", "Create hello.txt", *_to(server, workspace, "plain"), *more)
        ended = subprocess.run(words, env=environment, cwd=workspace, stdout=log, stderr=log, timeout=60, check=False)
    assert ended.returncode == 3, (workspace / "night.log").read_text()
    committed = subprocess.run(["git", "log", "--format=%s"], cwd=workspace, capture_output=True, text=True, check=True)
    assert committed.stdout == "start\n"
    store = str(workspace / "runs.db")
    (workspace / "hello.txt").write_text("a person's\n")
    assert ralph("rollback", "last", "--to", "0", "--force", "--store", store).code == 0
    assert "stuck" in ralph("runs", "--store", store).stdout
    assert "Stopped" in (workspace / "night.log").read_text()


class TestStores:
    def test_a_busy_one(self, ralph: Callable[..., Any], workspace: Path, tmp_path: Path) -> None:
        place = tmp_path / "runs.db"
        anyio.run(_make_store, place)
        with ModelServer(list(CREATES)) as server, sqlite3.connect(place, isolation_level=None) as other:
            other.execute("BEGIN EXCLUSIVE")
            ran = ralph("run", "x", "--store", str(place), *_to(server, workspace))
            other.execute("ROLLBACK")
            assert server.requests == ()
        other.close()
        assert ran.code == 2
        assert str(place) in ran.stderr
        assert "locked" in ran.stderr
        assert ran.stderr.count("\n") == 1

    @pytest.mark.parametrize(
        "place", ["/dev/null", pytest.param("/dev/null/runs.db", marks=LONG), pytest.param("/proc/runs.db", marks=LONG)]
    )
    def test_one_that_cannot_be_written(self, ralph: Callable[..., Any], workspace: Path, place: str) -> None:
        with ModelServer(list(CREATES)) as server:
            ran = ralph("run", "x", "--store", place, *_to(server, workspace))
            assert server.requests == ()
        assert ran.code == 2
        assert place in ran.stderr
        assert ran.stderr.count("\n") == 1

    @pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may write anywhere")
    def test_a_read_only_one(self, ralph: Callable[..., Any], workspace: Path, tmp_path: Path) -> None:
        place = tmp_path / "runs.db"
        anyio.run(_make_store, place)
        place.chmod(0o400)
        with ModelServer(list(CREATES)) as server:
            ran = ralph("run", "x", "--store", str(place), *_to(server, workspace))
        assert ran.code == 2
        assert "cannot be written" in ran.stderr


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--base-url", "http://127.0.0.1:1/v1", "--model", "m"), 6, "127.0.0.1:1 refuses the connection"),
        pytest.param(("--executor", "copilot-cil"), 2, "Did you mean 'copilot-cli'?", marks=LONG),
        pytest.param(("--verify", "pytest | tee log"), 2, "--verify-shell", marks=LONG),
        (("--verify", "no-such-program-anywhere"), 2, "cannot start"),
    ],
)
def test_bad_input_is_one_paragraph_before_anything_is_spent(
    ralph: Callable[..., Any], workspace: Path, words: tuple[str, ...], code: int, said: str
) -> None:
    ran = ralph("run", "x", "-C", str(workspace), *words)
    assert (ran.code, ran.stdout) == (code, "")
    assert said in ran.stderr
    assert ran.stderr.count("\n") == 1
    assert ran.stderr.startswith("ralph: ")


@pytest.mark.long
def test_where_the_real_cli_is_a_run_can_work(ralph: Callable[..., Any], workspace: Path) -> None:
    ran = ralph("doctor", "-C", str(workspace), "--json")
    assert ran.code == 0, ran.stdout
    findings = {finding["name"]: finding for finding in json.loads(ran.stdout)["findings"]}
    for name in ("copilot", "github-copilot-sdk", "store", "workspace"):
        assert findings[name]["ok"], findings[name]


def _on_a_full_disk(environment: Mapping[str, str], *words: str) -> tuple[int, str]:
    """Runs the program where its output finds no room; returns its exit code and the one line on standard error."""
    with Path("/dev/full").open("w") as full:
        command = ("env", "-u", "PYTHONUNBUFFERED", *RALPH, *words)
        ended = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=full, stderr=-1, check=False)
    assert ended.stderr.startswith(b"ralph: There is no room for the output: No space left on device. Free some space")
    assert ended.stderr.count(b"\n") == 1
    return ended.returncode, ended.stderr.decode()


always_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")


@always_full
@pytest.mark.parametrize("words", [("runs", "--json"), pytest.param(("analyze", "--json"), marks=LONG), ("--help",)])
def test_a_full_disk_is_no_fault_of_ralphs(environment: Mapping[str, str], words: tuple[str, ...]) -> None:
    assert _on_a_full_disk(environment, *words)[0] == 1


@always_full
@pytest.mark.parametrize("display", ["json", "plain"])
@pytest.mark.long
def test_a_run_whose_output_finds_no_room_is_kept_whole_and_does_not_end_with_0(
    environment: Mapping[str, str], ralph: Callable[..., Any], workspace: Path, tmp_path: Path, display: str
) -> None:
    store = ("--store", str(tmp_path / "runs.db"))
    with ModelServer(list(CREATES)) as server:
        code, told = _on_a_full_disk(environment, "run", "Create hello.txt", *store, *_to(server, workspace, display))
    assert code == 1
    assert told.endswith(f"Free some space; `ralph logs {' '.join(store)}` shows the whole run.\n")
    assert ralph("logs", "--json", *store).end["stop_reason"] == "completed"
    assert _on_a_full_disk(environment, "logs", "--any", *(["--json"] if display == "json" else []), *store)[0] == 1


def test_without_unicode_what_ralph_says_itself_is_spelt_out(ralph: Callable[..., Any]) -> None:
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    ran = ralph("analyze", "--explain-decision", stdin="All tasks are complete.", **plain)
    assert ran.code == 0
    assert "?" not in ran.stdout
    assert '"All tasks are complete"' in ran.stdout
    assert " x 0.35 = " in ran.stdout


@pytest.mark.parametrize(
    "words",
    [("runs",), *(pytest.param(words, marks=LONG) for words in (("show",), ("resume",), ("run", "Create hello.txt")))],
)
def test_a_current_folder_that_was_taken_away_is_no_fault_of_ralphs(
    environment: Mapping[str, str], tmp_path: Path, words: tuple[str, ...]
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    command = ("/bin/sh", "-c", 'rmdir "$PWD" && exec "$@"', "sh", *RALPH, *words)
    ended = subprocess.run(command, cwd=gone, env=environment, capture_output=True, text=True, timeout=50, check=False)
    assert (ended.returncode, ended.stderr.count("\n")) == (2, 1), ended.stderr
    assert "fault" not in ended.stderr
