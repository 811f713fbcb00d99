"""`ralph replay` as a person runs it: lines, another tool's logs, a run of our own, on a terminal and in a pipe."""

import json
import os
import pty
import re
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest

from ralph.testing import ModelServer, Say, WriteFile

RALPH = (sys.executable, "-m", "ralph")
DONE = "All done.\n---RALPH_STATUS---\nEXIT_SIGNAL: true\nREASON: written\n---END_RALPH_STATUS---"
WORKING = "More to do.\n---RALPH_STATUS---\nEXIT_SIGNAL: false\nREASON: half of it\n---END_RALPH_STATUS---"


def passes(*runs: str, idle: int = 4) -> Iterator[str]:
    """Of each run a pass that works, some that change nothing, and one that works again."""
    for number in range(idle + 2):
        useful = number in {0, idle + 1}
        for run in runs:
            yield json.dumps({
                "run": run,
                "text": f"Wrote part {number}." if useful else f"I have looked at file number {number}.",
                "changes": {"files": int(useful), "commits": 0},
                "cost": 0.25,
            })


def test_each_run_is_answered_in_a_line_and_a_broken_line_by_its_number(ralph: Callable[..., Any]) -> None:
    ended = ralph("replay", "--jsonl", stdin="\n".join([*passes("a", "b"), "{broken"]))
    assert (ended.code, ended.stderr) == (0, "")
    broken, first, second = map(json.loads, ended.stdout.splitlines())
    assert broken["line"] == 13
    assert (first["run"], second["run"]) == ("a", "b")
    assert (first["stopped_at"], first["stop_reason"]) == (3, "circuit_open")
    assert first["saved"]["passes"] == 2
    assert first["saved"]["cost"] == 0.5
    assert first["cut"] == {"passes": 1, "unknown": 0}


def test_what_would_be_with_another_threshold(ralph: Callable[..., Any]) -> None:
    ended = ralph("replay", "--set", "breaker.no_progress=2", stdin="\n".join(passes("night")))
    assert ended.code == 0
    assert "stops after pass 3 of 6: circuit open" in ended.stdout
    assert "stops after pass 4 of 6: circuit open" in ended.stdout
    mistaken = ralph("replay", "--set", "breaker.no_progres=2", stdin="")
    assert mistaken.code == 2
    assert "Did you mean 'no_progress'?" in mistaken.stderr
    assert "Traceback" not in mistaken.stderr


def test_a_folder_of_claude_codes_outputs(ralph: Callable[..., Any], tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "ralph.log").write_text("[2026-01-02 03:00:00] loop started\n")
    for minute, text in enumerate([WORKING, WORKING, DONE, "Everything is done already.", "Nothing to do."]):
        result = {"type": "result", "subtype": "success", "is_error": False, "result": text, "num_turns": 9}
        name = f"claude_output_2026-01-02_03-{minute:02}-00.log"
        (logs / name).write_text(json.dumps({**result, "total_cost_usd": 0.5, "duration_ms": 30_000}))
    ended = ralph("replay", "--from-logs", str(logs), "--json")
    (answer,) = json.loads(ended.stdout)
    assert (answer["run"], answer["passes"]) == ("logs", 5)
    assert (answer["stopped_at"], answer["stop_reason"]) == (2, "completed")
    assert answer["saved"] == {"passes": 2, "cost": 1.0, "unknown_costs": 0}


@pytest.mark.long
def test_a_run_of_our_own_ends_in_its_replay_as_it_has_ended(ralph: Callable[..., Any], workspace: Path) -> None:
    with ModelServer([WriteFile("one.txt", "1\n"), Say(WORKING), WriteFile("two.txt", "2\n"), Say(DONE)]) as server:
        where = ("-C", str(workspace), "--base-url", server.base_url, "--model", "m", "--display", "none")
        assert ralph("run", "Write two files.", "--verify", "none", *where).code == 0
    (answer,) = json.loads(ralph("replay", "--run", "last", "--json").stdout)
    assert (answer["stopped_at"], answer["stop_reason"]) == (1, "completed")
    assert [step["progressed"] for step in answer["decisions"]] == [True, True]
    (limited,) = json.loads(ralph("replay", "--run", "last", "--json", "--set", "limits.max_iterations=1").stdout)
    assert (limited["stopped_at"], limited["stop_reason"], limited["cut"]["passes"]) == (0, "limit_reached", 1)


def test_a_terminal_of_eighty_columns_is_enough(environment: Mapping[str, str], tmp_path: Path) -> None:
    (tmp_path / "passes.jsonl").write_text("\n".join(passes("first-night", "second-night")))
    ours, theirs = pty.openpty()
    env = {**environment, "TERM": "xterm-256color", "COLUMNS": "80", "LINES": "30"}
    process = subprocess.Popen(
        (*RALPH, "replay", "passes.jsonl", "--set", "breaker.no_progress=2"),
        env=env,
        cwd=tmp_path,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            shown += os.read(ours, 65_536)
        except OSError:  # the other side is closed
            break
    os.close(ours)
    assert process.wait(30) == 0
    lines = re.sub(r"\x1b\[[0-9;]*m|\r", "", shown.decode()).split("\n")
    assert max(map(len, lines)) <= 80
    assert any(line.startswith("✗ second-night  stops after pass 3 of 6: circuit open") for line in lines)
    assert any(line.startswith("2 runs, 12 passes, $3.00") for line in lines)


def test_nothing_to_replay_at_a_terminal_is_a_mistake_and_not_a_wait(environment: Mapping[str, str]) -> None:
    ours, theirs = pty.openpty()
    ended = subprocess.run(
        (*RALPH, "replay"), env=environment, stdin=theirs, capture_output=True, text=True, timeout=30, check=False
    )
    os.close(theirs)
    os.close(ours)
    assert ended.returncode == 2
    assert "nothing to replay" in ended.stderr


@pytest.mark.timeout(120)
@pytest.mark.long
def test_a_hundred_thousand_passes_take_seconds_and_little_memory(environment: Mapping[str, str]) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with subprocess.Popen(
        (*RALPH, "replay", "--jsonl"), env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for line in passes("long", idle=100_000):
            process.stdin.write(f"{line}\n")
        held = psutil.Process(process.pid).memory_info().rss
        process.stdin.close()
        answer = json.loads(process.stdout.read())
    assert process.returncode == 0
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 30
    assert held < 200 * 1024**2
    assert (answer["passes"], answer["stopped_at"], answer["cut"]["passes"]) == (100_002, 3, 1)
