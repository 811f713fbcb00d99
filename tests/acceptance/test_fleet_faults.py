"""What can happen to a fleet at night, on a real PostgreSQL with workers that are real processes.

Each test prints lost (tasks that did not complete) and doubled (finished iterations that ran again), which are 0.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import psutil
import pytest

from ralph.testing import own_environment, run_ralph, wait_until
from ralph.testing.postgres import own_postgres, postgres_server, postgres_url

__all__ = ["own_postgres", "postgres_server", "postgres_url"]

WORKER = Path(__file__).with_name("fleet_worker.py")
SETTINGS = {"executor": {"name": "fleet-scripted"}}
LEASE = "3"

pytestmark = [pytest.mark.long, pytest.mark.timeout(400)]


class Night:
    """A fleet of one test: tasks, workers and what came of it."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder, self.url, self.log = folder, url, folder / "log"
        self.env = own_environment(folder)
        self.workers: dict[str, subprocess.Popen[str]] = {}
        self.seconds = f"0.3{os.getpid()}{len(str(folder))}"
        """Of each turn: what an agent's process is known by."""
        self.count = self.iterations = 0

    def ralph(self, *words: object) -> str:
        ended = run_ralph(["fleet", *map(str, words), "--store", self.url], self.env, self.folder)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    def submit(self, count: int, iterations: int, **more: Any) -> None:
        tasks: list[dict[str, Any]] = []
        for number in range(self.count, self.count + count):
            (place := self.folder / f"place{number}").mkdir()
            text = json.dumps({"iterations": iterations, "seconds": self.seconds, "log": str(self.log), **more})
            tasks.append({"name": f"t{number}", "task": text, "folder": str(place)})
        file = self.folder / "tasks.json"
        verify = [f"grep -q 'part {iterations}' part.txt"]
        file.write_text(json.dumps({"verify": verify, "settings": SETTINGS, "tasks": tasks}))
        self.count, self.iterations = self.count + count, iterations
        self.ralph("submit", "-f", file)

    def start(self, name: str, url: str = "") -> subprocess.Popen[str]:
        with (self.folder / f"{name}.out").open("a") as out:
            words = [sys.executable, str(WORKER), url or self.url, name, "2", LEASE]
            self.workers[name] = subprocess.Popen(words, env=self.env, stdout=out, stderr=out, text=True)
        return self.workers[name]

    def ended(self, at_least: int = 1) -> bool:
        return self.log.exists() and self.log.read_text().count(" end ") >= at_least

    def status(self) -> dict[str, Any]:
        return json.loads(self.ralph("status", "--all", "--limit", 1000, "--json"))

    def wait(self, *, done: int, seconds: float = 150.0) -> None:
        end = time.monotonic() + seconds
        while (tasks := self.status()["tasks"]).get("done", 0) < done:
            assert time.monotonic() < end, (tasks, self.said())
            time.sleep(0.5)

    def said(self) -> str:
        return "\n".join(f"{path.name}:\n{path.read_text()[-3000:]}" for path in self.folder.glob("*.out"))

    def agents(self) -> list[psutil.Process]:
        every = psutil.process_iter(["cmdline"])
        return [process for process in every if self.seconds in (process.info["cmdline"] or [])]

    def account(self) -> tuple[int, int]:
        """Return the tasks that were lost, and the finished iterations that ran again; at most one in flight may."""
        listed = self.status()["listed"]
        lost = [entry for entry in listed if entry["state"] != "done" or entry["iterations"] != self.iterations]
        started = Counter[tuple[str, str]]()
        latest: dict[str, int] = {}
        doubled = 0
        for line in self.log.read_text().splitlines():
            place, number, what, *_ = line.split()
            if what == "start":
                started[place, number] += 1
                doubled += int(number) < latest.get(place, 0)
                latest[place] = max(latest.get(place, 0), int(number))
        doubled += sum(count > 2 for count in started.values())
        print(f"lost {len(lost)}, doubled {doubled}, run again {sum(count > 1 for count in started.values())}")
        return len(lost), doubled

    def end(self) -> None:
        for worker in self.workers.values():
            if worker.poll() is None:
                worker.send_signal(signal.SIGCONT)
                worker.terminate()
        for worker in self.workers.values():
            try:
                worker.wait(30)
            except subprocess.TimeoutExpired:
                worker.kill()
                worker.wait()


FULL = """
import errno, json, pathlib, subprocess, sys, time
place, log, file, out, *worker = sys.argv[1:]
store = place + "/ralph.db"
ralph = lambda *words: subprocess.run([sys.executable, "-m", "ralph", "fleet", *words, "--store", store],
                                      check=True, capture_output=True, text=True).stdout
ended = lambda: pathlib.Path(log).exists() and pathlib.Path(log).read_text().count(" end ")
status = lambda: json.loads(ralph("status", "--all", "--json"))
ralph("submit", "-f", file)
with open(out, "w") as said:
    start = lambda: subprocess.Popen([*worker[:2], store, *worker[2:]], stdout=said, stderr=said)
    one = start()
    while ended() < 2:
        time.sleep(0.05)
    try:
        with open(place + "/filler", "wb", buffering=0) as filler:
            while True:
                filler.write(bytes(4096))
    except OSError as error:
        assert error.errno == errno.ENOSPC
    time.sleep(8)
    pathlib.Path(place, "filler").unlink()
    ends = time.monotonic() + 120
    while status()["tasks"].keys() - {"done", "failed"} and time.monotonic() < ends:
        if one.poll() is not None:
            one = start()
        time.sleep(0.5)
    one.terminate()
    one.wait(60)
print(json.dumps(status()))
"""


class Wire:
    """A way to the database that can be cut: a socket in a folder of its own, which passes everything on."""

    def __init__(self, folder: Path, database: Path) -> None:
        self._cut = threading.Event()
        self._ends: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._database = str(next(database.glob(".s.PGSQL.*[0-9]")))
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / Path(self._database).name))
        self._listener.listen()
        self._start(self._accept)

    def _start(self, work: Callable[..., None], *given: socket.socket) -> None:
        self._threads.append(threading.Thread(target=work, args=given, daemon=True))
        self._threads[-1].start()

    def _accept(self) -> None:
        with suppress(OSError), self._listener:
            while True:
                near, _ = self._listener.accept()
                if self._cut.is_set():
                    near.close()
                    continue
                far = socket.socket(socket.AF_UNIX)
                far.connect(self._database)
                self._ends += [near, far]
                self._start(self._pass, near, far)
                self._start(self._pass, far, near)

    def _pass(self, source: socket.socket, target: socket.socket) -> None:
        with source:
            with suppress(OSError):
                while data := source.recv(65_536):
                    target.sendall(data)
            _shut(source, target)

    def cut(self) -> None:
        self._cut.set()
        _shut(*self._ends)

    def mend(self) -> None:
        self._cut.clear()

    def close(self) -> None:
        self.cut()
        _shut(self._listener)
        for thread in self._threads:
            thread.join(30)


def _shut(*ends: socket.socket) -> None:
    for end in ends:
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def night(tmp_path: Path, own_postgres: Any) -> Iterator[Night]:
    made = Night(tmp_path, f"{own_postgres.get_uri()}&schema=night")
    try:
        yield made
    finally:
        made.end()


def check(night: Night) -> None:
    assert night.account() == (0, 0), night.said()
    wait_until(lambda: not night.agents(), 30)


def test_a_killed_worker(night: Night) -> None:
    night.submit(6, 4)
    one = night.start("one")
    night.start("two")
    wait_until(lambda: night.ended(4), 60)
    one.kill()
    night.wait(done=6)
    check(night)


def test_a_killed_worker_that_is_restarted_under_its_name(night: Night) -> None:
    night.submit(4, 4)
    night.start("one")
    wait_until(lambda: night.ended(3), 60)
    night.workers["one"].kill()
    night.workers["one"].wait()
    night.start("one")
    night.wait(done=4)
    check(night)


def test_a_worker_that_freezes_past_its_lease_and_thaws(night: Night) -> None:
    night.submit(6, 4)
    one = night.start("one")
    night.start("two")
    wait_until(lambda: night.ended(4), 60)
    one.send_signal(signal.SIGSTOP)
    wait_until(lambda: {each["name"]: each["state"] for each in night.status()["workers"]}["one"] == "lost", 60)
    time.sleep(1)
    one.send_signal(signal.SIGCONT)
    night.wait(done=6)
    check(night)
    assert one.poll() is None, "it goes on with other tasks"


def test_the_database_is_restarted(night: Night, own_postgres: Any) -> None:
    night.submit(6, 5)
    night.start("one")
    night.start("two")
    wait_until(lambda: night.ended(4), 60)
    own_postgres.stop()
    time.sleep(8)
    own_postgres.start()
    night.wait(done=6, seconds=240)
    check(night)


def test_a_worker_is_cut_off_from_the_database_for_longer_than_its_lease(night: Night, own_postgres: Any) -> None:
    night.submit(6, 5)
    night.start("one")
    wait_until(lambda: night.ended(3), 60)
    own_postgres.stop()
    wait_until(lambda: "gives up its" in night.said(), 90)
    wait_until(lambda: not night.agents(), 30)
    own_postgres.start()
    night.wait(done=6, seconds=240)
    check(night)


def test_one_worker_alone_is_cut_off_from_the_database(night: Night, own_postgres: Any) -> None:
    """The others take its tasks; it comes back once it can."""
    database = parse_qs(urlsplit(own_postgres.get_uri()).query)["host"][0]
    with tempfile.TemporaryDirectory(prefix="ralph-wire-") as place, closing(Wire(Path(place), Path(database))) as wire:
        night.submit(6, 5)
        one = night.start("one", night.url.replace(database, place))
        wait_until(lambda: night.ended(2), 90)
        night.start("two")
        wire.cut()
        wait_until(lambda: "gives up its" in (night.folder / "one.out").read_text(), 90)
        night.wait(done=6, seconds=240)
        check(night)
        wire.mend()
        states = lambda: {each["name"]: each["state"] for each in night.status()["workers"]}  # noqa: E731
        wait_until(lambda: states() == {"one": "working", "two": "working"}, 90)
        assert one.poll() is None
        night.submit(2, 5)
        night.wait(done=8)
        check(night)


def test_a_task_that_kills_its_workers_is_set_aside(night: Night) -> None:
    night.submit(1, 3, kills=2)
    for _ in range(3):
        night.start("one").wait(90)
    night.start("one")
    state = lambda: night.status()["listed"][0]  # noqa: E731
    wait_until(lambda: state()["state"] == "set_aside", 60)
    assert "3 workers in a row were lost" in state()["reason"]
    assert night.log.read_text().count(" 2 start ") == 3
    wait_until(lambda: not night.agents(), 30)


def test_a_worker_that_is_asked_to_leave_returns_its_tasks(night: Night) -> None:
    night.submit(4, 4)
    one = night.start("one")
    wait_until(lambda: night.ended(2), 60)
    one.terminate()
    assert one.wait(60) == 0, night.said()
    said = night.status()
    assert set(said["tasks"]) <= {"queued", "done"}
    starts = night.log.read_text().count(" start ")
    assert night.log.read_text().count(" end ") == starts, "what was in flight has ended"
    assert night.agents() == []
    night.start("two")
    night.wait(done=4)
    assert night.log.read_text().count(" start ") == 16, "no iteration was done again"
    check(night)


@pytest.mark.skipif(not shutil.which("bwrap"), reason="bubblewrap makes the small disk")
def test_the_disk_of_a_store_on_sqlite_is_full_for_a_while(tmp_path: Path) -> None:
    night = Night(tmp_path, str(tmp_path / "submitted.db"))
    night.submit(4, 5)
    (small := tmp_path / "small").mkdir()
    within = ("bwrap", "--dev-bind", "/", "/", "--size", "30000000", "--tmpfs", str(small), "--die-with-parent")
    words = [sys.executable, "-c", FULL, small, night.log, tmp_path / "tasks.json", tmp_path / "one.out"]
    argv = [*within, *map(str, words), sys.executable, str(WORKER), "one", "2", LEASE]
    ended = subprocess.run(argv, env=night.env, capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, (ended.stderr, night.said())
    said = json.loads(ended.stdout)
    assert said["tasks"] == {"done": 4}, (said["listed"], night.said())
    night.status = lambda: said  # its store is gone
    check(night)
    assert "Traceback" not in night.said()
