"""A fleet as users control it, with workers that are real processes, and with the real Copilot runtime."""

import json
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ralph.cli.demo_story import TASK, Story, make_repository
from ralph.testing import ModelServer, own_environment, run_ralph, wait_until

WORKER = Path(__file__).with_name("fleet_worker.py")

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]


class Queue:
    """A fleet on SQLite with one task that works in a folder."""

    def __init__(self, folder: Path, iterations: int) -> None:
        self.folder, self.store, self.log = folder, str(folder / "ralph.db"), folder / "log"
        self.env = own_environment(folder)
        (place := folder / "place").mkdir()
        (gate := folder / "gate").mkdir()
        asked = {"iterations": iterations, "gate": str(gate), "log": str(self.log)}
        task = {"name": "t", "task": json.dumps(asked), "folder": str(place), "verify": ["true"]}
        file = folder / "tasks.json"
        file.write_text(json.dumps([{**task, "settings": {"executor": {"name": "fleet-scripted"}}}]))
        self.ralph("submit", "-f", file)

    def ralph(self, *words: object) -> str:
        ended = run_ralph(["fleet", *map(str, words), "--store", self.store], self.env, self.folder)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    def shown(self) -> dict[str, Any]:
        return json.loads(self.ralph("show", "t", "--json"))

    def comes_to(self, state: str) -> dict[str, Any]:
        wait_until(lambda: self.shown()["state"] == state, 120)
        return self.shown()

    def count(self, what: str) -> int:
        return self.log.read_text().count(f" {what} ") if self.log.exists() else 0

    def let_end(self, *iterations: int) -> None:
        for number in iterations:
            (self.folder / "gate" / str(number)).touch()

    def let_worker_hear(self) -> None:
        """Wait for two heartbeats: with the first it is told what the user wants."""
        for _ in range(2):
            before = self.seen()
            wait_until(lambda before=before: self.seen() > before, 60)

    def seen(self) -> float:
        return json.loads(self.ralph("status", "--json"))["workers"][0]["seen_at"]

    @contextmanager
    def worker(self) -> Generator[subprocess.Popen[str]]:
        with (self.folder / "worker.out").open("a") as out:
            words = [sys.executable, str(WORKER), self.store, "one", "2", "3"]
            made = subprocess.Popen(words, env=self.env, stdout=out, stderr=out, text=True)
        try:
            yield made
        finally:
            made.terminate()
            made.wait(60)


def test_a_paused_task_continues_its_run_without_doing_an_iteration_again(tmp_path: Path) -> None:
    queue = Queue(tmp_path, iterations=3)
    with queue.worker():
        wait_until(lambda: queue.count("start"), 60)
        assert "pauses at the end of its iteration" in queue.ralph("pause", "t")
        queue.let_worker_hear()
        queue.let_end(1, 2, 3)
        paused = queue.comes_to("paused")
        assert queue.count("start") == queue.count("end") == paused["iterations"] == 1
        assert "is in the queue again" in queue.ralph("resume", "t")
        done = queue.comes_to("done")
    assert (done["iterations"], queue.count("end"), done["run_id"]) == (3, 3, paused["run_id"])


def test_a_pause_is_taken_back_before_the_iteration_ends(tmp_path: Path) -> None:
    queue = Queue(tmp_path, iterations=2)
    with queue.worker():
        wait_until(lambda: queue.count("start"), 60)
        queue.ralph("pause", "t")
        assert "continues" in queue.ralph("resume", "t")
        queue.let_worker_hear()
        queue.let_end(1, 2)
        assert queue.comes_to("done")["iterations"] == 2
    assert "is paused" not in (tmp_path / "worker.out").read_text()


def test_a_task_is_stopped_at_once_resumed_and_retried_with_another_run(tmp_path: Path) -> None:
    queue = Queue(tmp_path, iterations=2)
    with queue.worker():
        queue.let_end(1)
        wait_until(lambda: queue.count("start") == 2, 60)
        assert "is being stopped" in queue.ralph("stop", "t")
        stopped = queue.comes_to("stopped")
        assert queue.count("end") == 1, "the agent's turn was cut"
        queue.let_end(2, 3)
        queue.ralph("resume", "t")
        done = queue.comes_to("done")
        assert (done["run_id"], queue.count("end")) == (stopped["run_id"], 2)
        queue.ralph("retry", "t")
        wait_until(lambda: queue.shown()["run_id"] not in {"", done["run_id"]}, 60)
        assert queue.comes_to("done")["iterations"] == 2
    assert queue.count("end") == 4


def test_a_worker_whose_tasks_failed_ends_with_code_1(tmp_path: Path) -> None:
    (place := tmp_path / "place").mkdir()
    tasks = [{"name": "one", "task": "x", "folder": str(place)}, {"name": "two", "task": "y", "after": ["one"]}]
    (tmp_path / "tasks.json").write_text(json.dumps([{**each, "folder": str(place)} for each in tasks]))
    env, store = own_environment(tmp_path), str(tmp_path / "ralph.db")
    assert run_ralph(["fleet", "submit", "-f", "tasks.json", "--store", store], env, tmp_path).returncode == 0
    place.rmdir()
    worker = run_ralph(["fleet", "worker", "--until-empty", "--store", store], env, tmp_path)
    assert worker.returncode == 1, worker.stdout + worker.stderr
    assert "2 tasks failed or cannot start: one, two." in worker.stdout
    status = " ".join(run_ralph(["fleet", "status", "--store", store], env, tmp_path).stdout.split())
    assert "0 iterations in the last minute; 0 iterations this month." in status


def test_the_demo_through_fleet_submit_on_the_real_copilot_runtime(
    environment: Mapping[str, str], tmp_path: Path
) -> None:
    (place := tmp_path / "demo").mkdir()
    make_repository(place)
    store, killed = str(tmp_path / "ralph.db"), list[int]()
    with ModelServer(Story(killed.append)) as server:
        settings = {"executor": {"base_url": server.base_url, "model": "scripted"}, "limits": {"max_iterations": 10}}
        verify = [f"'{sys.executable}' -B -m unittest --quiet"]
        task = {"name": "demo", "task": TASK, "repository": str(place), "branch": "fixed", "verify": verify}
        (tmp_path / "tasks.json").write_text(json.dumps([{**task, "settings": settings}]))
        assert (
            run_ralph(["fleet", "submit", "-f", "tasks.json", "--store", store], environment, tmp_path).returncode == 0
        )
        words = [sys.executable, "-m", "ralph", "fleet", "worker", "--until-empty", "--store", store]
        worker = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=240, check=False)
    assert worker.returncode == 0, worker.stdout + worker.stderr
    shown = json.loads(run_ralph(["fleet", "show", "demo", "--json", "--store", store], environment, tmp_path).stdout)
    assert (shown["state"], shown["iterations"]) == ("done", 4), shown
    assert killed, "the runtime was killed on the way"
    fixed = subprocess.run(["git", "-C", place, "show", "fixed:stats.py"], capture_output=True, text=True, check=True)
    assert "len(values) // 2" in fixed.stdout
