"""Runs on the real Copilot runtime are killed at random moments, again and again, and each time resumed."""

import json
import os
import secrets
import signal
import socket
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ralph.testing import ModelRequest, ModelServer, Say, Step, WriteFile

KILLS = 20
MORE, DONE = (
    f"Part {{}} is written.\n---RALPH_STATUS---\nEXIT_SIGNAL: {signal}\nREASON: as said\n---END_RALPH_STATUS---"
    for signal in ("false", "true")
)

pytestmark = [pytest.mark.attack, pytest.mark.timeout(400)]


class Begun:
    """A `ralph` whose output goes to a file, forked from a process that has its modules loaded."""

    def __init__(self, calls: socket.socket, words: list[str], mark: str, folder: Path, **environment: str) -> None:
        self.mark, self._out = mark, folder.parent / f"out-{mark}"
        order = {"words": words, "environment": {**environment, "RANDOM_KILLS": mark}, "folder": str(folder)}
        reading, writing = os.pipe()
        self._answer = os.fdopen(reading, "rb")
        with self._out.open("wb") as out, Path(os.devnull).open("rb") as nothing:
            given = [nothing.fileno(), out.fileno(), os.open(f"{self._out}.err", os.O_CREAT | os.O_WRONLY), writing]
            socket.send_fds(calls, [json.dumps(order).encode()], given)
        os.close(writing)
        os.close(given[2])
        self.pid = int(self._answer.readline())

    def events(self) -> list[dict[str, Any]]:
        """Return what it has published so far, without a line that it has not finished."""
        return [json.loads(line) for line in self._out.read_bytes().split(b"\n")[:-1]]

    def has_published(self, count: int) -> bool:
        """Wait for some events; return False if the program ends before."""
        deadline = time.monotonic() + 60
        while len(seen := self.events()) < count:
            if seen and seen[-1]["type"] == "run_finished":
                return False
            assert time.monotonic() < deadline, self.errors()
            time.sleep(0.002)
        return True

    def errors(self) -> str:
        return Path(f"{self._out}.err").read_text()

    def end(self) -> int:
        """Wait for its end; return its exit code."""
        with self._answer:
            return int(self._answer.readline())


def left(marks: list[str]) -> list[str]:
    """Return the programs that still run of those that were started under these marks."""
    found: list[str] = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            environment = (process / "environ").read_bytes().split(b"\0")
            if any(f"RANDOM_KILLS={mark}".encode() in environment for mark in marks):
                found.append((process / "cmdline").read_bytes().decode()[:100])
        except OSError:
            continue
    return found


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="only there the environment of others can be read")
@pytest.mark.parametrize("store", ["sqlite", "postgres"])
def test_a_kill_of_a_run_on_the_real_runtime_loses_nothing(
    store: str,
    environment: Mapping[str, str],
    warm: Any,
    workspace: Path,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    capsys: pytest.CaptureFixture[str],
) -> None:
    url = str(tmp_path / "runs.db") if store == "sqlite" else request.getfixturevalue("postgres_url")
    chance, last, token = Random(14), False, secrets.token_hex(4)

    def answer(asked: ModelRequest) -> Step:
        if asked.asks:
            return WriteFile(f"part-{asked.number}.txt", "written\n")
        return Say((DONE if last else MORE).format(asked.number))

    def begin(number: int, *words: str) -> Begun:
        shown = [*words, *(() if words[0] == "logs" else ("--display", "json")), "--store", url]
        return Begun(warm._calls, shown, f"{token}-{number}", workspace, **environment)

    sums, victims = Counter[str](), list[Begun]()
    began = time.monotonic()
    with ModelServer(answer) as server:
        to = ("--base-url", server.base_url, "--model", "m", "--verify", "none", "--max-iterations", "999")
        for number in range(KILLS):
            victim = begin(number, *(("resume", "last") if victims else ("run", "Write the parts.", *to)))
            assert victim.has_published(chance.randint(1, 14)), victim.errors()
            time.sleep(chance.uniform(0.0, 0.1))
            if any(event["type"] == "iteration_started" for event in victim.events()):
                sums["orphans"] += len(left([each.mark for each in victims]))
            os.kill(victim.pid, signal.SIGKILL)
            sums["killed"] += victim.end() == -signal.SIGKILL
            victims.append(victim)
        last = True
        final = begin(KILLS, "resume", "last")
        assert final.end() == 0, final.errors()
    took = time.monotonic() - began
    kept = begin(KILLS + 1, "logs", "--json")
    assert kept.end() == 0
    events, marks = kept.events(), [each.mark for each in (*victims, final)]
    names = {(event["seq"], event["type"], event["iteration"]) for event in events}
    published = [event for each in (*victims, final) for event in each.events() if event["seq"]]
    sums["lost"] = sum((event["seq"], event["type"], event["iteration"]) not in names for event in published)
    finished, begun, most = 0, set[int](), 0
    for event in events:
        number = event.get("iteration", 0)
        if event["type"] == "iteration_started":
            assert number == finished + 1, "none is left out, and none that was finished begins again"
            most = max(most, number)
            sums["repeated"] += number in begun
            begun.add(number)
        elif event["type"] == "iteration_finished":
            finished = number
    deadline = time.monotonic() + 10
    while (still := left(marks)) and time.monotonic() < deadline:
        time.sleep(0.05)
    sums["orphans"] += len(still)
    with capsys.disabled():
        print(f"\nrandom kills on the real runtime, {store}: {dict(sums)}, {finished} iterations in {took:.0f} s")
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert (sums["killed"], sums["lost"], sums["orphans"]) == (KILLS, 0, 0)
    assert sums["repeated"] <= KILLS
    assert finished == most > 1
