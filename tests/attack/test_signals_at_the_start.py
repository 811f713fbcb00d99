"""A signal at any moment of a program's start ends it in order: its exit code says which, and the stream is whole."""

import json
import os
import pty
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import closing, suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ralph.testing import Repository, own_environment

pytestmark = [
    pytest.mark.attack,
    pytest.mark.timeout(400),
    pytest.mark.skipif(sys.platform != "linux", reason="/proc says when the program handles signals"),
]

PLUGIN = """
import anyio
from pathlib import Path
from ralph.plugins import Provider, hookimpl
from ralph.testing import ScriptedExecutor

DONE = "All done.\\n---RALPH_STATUS---\\nEXIT_SIGNAL: true\\nREASON: written\\n---END_RALPH_STATUS---"

class Slow(ScriptedExecutor):
    async def __aenter__(self):
        await anyio.sleep(0.2)
        return await super().__aenter__()

    async def execute(self, prompt, turn):
        await anyio.sleep(0.2)
        return await super().execute(prompt, turn)

@hookimpl
def ralph_executors():
    yield Provider("slow", "takes its time", lambda context: Slow([DONE]))
"""
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
DISPLAYS = ("json", "plain")
MOMENTS = 42
AT_ONCE = 5.0
"""Seconds within which a program ends after a signal."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    repository = Repository.begin(tmp_path / "work")
    repository.write(".ralph/plugin.py", PLUGIN)
    repository.commit()
    return repository.path


class Started:
    """A `ralph run` with its output, and perhaps a terminal at its standard input and error."""

    def __init__(self, folder: Path, display: str, *words: str, terminal: bool = False) -> None:
        self.terminal, other = pty.openpty() if terminal else (-1, subprocess.PIPE)
        command = (sys.executable, "-m", "ralph", "run", "Work.", "--executor", "slow", "--verify", "none", *words)
        self.process = subprocess.Popen(
            (*command, "--display", display),
            cwd=folder,
            env=own_environment(folder.parent),
            stdin=other,
            stdout=subprocess.PIPE,
            stderr=other,
            text=True,
        )
        self.display, self.began = display, time.monotonic()
        if terminal:
            os.close(other)

    def handles_signals(self) -> bool:
        """Return whether the program has got so far; before that, the system ends it."""
        with suppress(OSError):
            status = Path(f"/proc/{self.process.pid}/status").read_text()
            caught = next(line for line in status.splitlines() if line.startswith("SigCgt"))
            return bool(int(caught.split()[1], 16) >> signal.SIGHUP - 1 & 1)
        return False

    def ended_by(self, number: signal.Signals) -> Counter[str]:
        """Send a signal; return what was wrong with the end, and how it ended."""
        sent = time.monotonic()
        self.process.send_signal(number)
        try:
            out, err = self.process.communicate(timeout=40)
        finally:
            self.process.kill()
        if self.terminal >= 0:
            with suppress(OSError):
                err = os.read(self.terminal, 100_000).decode(errors="replace")
            os.close(self.terminal)
        code = self.process.returncode
        found = Counter({"completed" if code == 0 else number.name: 1})
        found["wrong exit code"] += code not in {0, 128 + number, -number}
        found["traceback"] += "Traceback" in (err or "") + out
        found["too late"] += time.monotonic() - sent > AT_ONCE
        if self.display == "json":
            kinds = [json.loads(line)["type"] for line in out.splitlines()]
            whole = kinds[:1] in (["run_started"], ["usage_error"]) and kinds[-1] == "run_finished"
            found["broken stream"] += not whole or kinds.count("run_finished") != 1 or not out.startswith("{")
            found["killed"] += code == -number and not whole
        else:
            found["killed"] += code == -number and "Completed" not in out
        if any(found[fault] for fault in FAULTS):
            print(f"{number.name} on {self.display}: {code}, after {sent - self.began:.2f} s\n{err}\n{out}")
        return found


FAULTS = ("wrong exit code", "traceback", "too late", "broken stream", "killed")


def test_it_ends_in_order_at_any_moment(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def started(display: str) -> tuple[Started, float]:
        run = Started(folder, display, "--trust")
        _wait(run.handles_signals)
        return run, time.monotonic()

    took = 0.0
    for _ in range(2):  # the second one finds everything compiled
        run, began = started("json")
        assert run.process.communicate(timeout=60)[0]
        took = time.monotonic() - began
    chance, sums = Random(14), Counter[str]()
    for number in range(MOMENTS):
        run, began = started(DISPLAYS[number % 2])
        time.sleep(max(0.0, chance.uniform(0.0, took * 0.95) - (time.monotonic() - began)))
        sums += run.ended_by(SIGNALS[number % 3])
    with capsys.disabled():
        print(f"\n{MOMENTS} signals at random moments: {dict(sums)}")
    assert not any(sums[fault] for fault in FAULTS), sums
    assert sum(sums[number.name] for number in SIGNALS) > MOMENTS / 2


@pytest.fixture
def silent() -> Generator[tuple[int, list[socket.socket]]]:
    """A port that accepts connections and never answers, and the connections."""
    taken: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def take() -> None:
            with suppress(OSError):
                while True:
                    taken.append(server.accept()[0])

        threading.Thread(target=take, daemon=True).start()
        yield server.getsockname()[1], taken
    for connection in taken:
        connection.close()


def test_it_ends_in_order_while_it_waits(
    folder: Path, silent: tuple[int, list[socket.socket]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """For the user's consent, for a store that another process has locked, for a server that never answers."""
    port, taken = silent
    locked, url = tmp_path / "locked.db", f"postgresql://u@127.0.0.1:{port}/d?connect_timeout=60"
    every = [(number, display) for number in SIGNALS for display in DISPLAYS]
    sums = Counter[str]()
    for number, display in every:
        asked, said = Started(folder, display, terminal=True), bytearray()
        while b"[y/N]" not in said:
            said += os.read(asked.terminal, 10_000)
        sums += asked.ended_by(number)
    with closing(sqlite3.connect(locked, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        for number, display in every:
            waits = Started(folder, display, "--trust", "--store", str(locked))
            _wait(lambda waits=waits: str(locked) in _files(waits.process.pid))
            sums += waits.ended_by(number)
    for number, display in every:
        before = len(taken)
        connects = Started(folder, display, "--trust", "--store", url)
        _wait(lambda before=before: len(taken) > before)
        sums += connects.ended_by(number)
    with capsys.disabled():
        print(f"\n18 signals while it waits: {dict(sums)}")
    assert not any(sums[fault] for fault in FAULTS), sums
    assert [sums[number.name] for number in SIGNALS] == [6, 6, 6]


def _files(pid: int) -> set[str]:
    found: set[str] = set()
    for name in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):
            found.add(str(name.readlink()))
    return found


def _wait(there: Callable[[], Any]) -> None:
    deadline = time.monotonic() + 40
    while not there():
        assert time.monotonic() < deadline
        time.sleep(0.002)
