"""Tasks of a fleet in a repository: workers prepare copies, save the work, and push the result."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ralph.testing import Repository, own_environment, run_ralph

WORKER = Path(__file__).with_name("fleet_worker.py")
PATIENCE = 90.0

pytestmark = [pytest.mark.long, pytest.mark.timeout(240)]


@pytest.fixture
def source(tmp_path: Path) -> Repository:
    repository = Repository.begin(tmp_path / "source")
    repository.write("a.txt", "one\n")
    repository.commit("begin")
    return repository


def submit(source: Repository, folder: Path, store: str, **asked: object) -> None:
    text = json.dumps({"iterations": 3, "log": str(folder / "log"), **asked})
    place: dict[str, object] = {"repository": str(source.path), "branch": "result"}
    task = {
        **place,
        "task": text,
        "name": "t",
        "verify": ["grep -q 'part 3' part.txt"],
        "settings": {"executor": {"name": "fleet-scripted"}},
    }
    file = folder / "tasks.json"
    file.write_text(json.dumps({"tasks": [task]}))
    ended = run_ralph(["fleet", "submit", "-f", str(file), "--store", store], own_environment(folder), folder)
    assert ended.returncode == 0, ended.stderr


def shown(folder: Path, store: str) -> dict[str, Any]:
    ended = run_ralph(["fleet", "show", "t", "--json", "--store", store], own_environment(folder), folder)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


@contextmanager
def worker(folder: Path, store: str, name: str, *within: str) -> Generator["subprocess.Popen[str]"]:
    argv = [*within, sys.executable, str(WORKER), store, name, "1", "3", "--until-empty"]
    env = own_environment(folder)
    with (folder / f"{name}.out").open("w") as out, subprocess.Popen(argv, env=env, stdout=out, stderr=out) as made:
        try:
            yield made  # pyright: ignore[reportReturnType]
        finally:
            made.kill()


def until_in(path: Path, text: str) -> None:
    ends = time.monotonic() + PATIENCE
    while not path.exists() or text not in path.read_text():
        assert time.monotonic() < ends, f"{text!r} does not come"
        time.sleep(0.02)


def subjects(source: Repository) -> list[str]:
    return source.git("log", "--format=%s", "result").split("\n")


def test_the_result_is_pushed_with_a_commit_for_each_iteration(source: Repository, tmp_path: Path) -> None:
    store = str(tmp_path / "ralph.db")
    submit(source, tmp_path, store)
    with worker(tmp_path, store, "one") as made:
        assert made.wait(PATIENCE) == 0, (tmp_path / "one.out").read_text()
    said = run_ralph(["fleet", "show", "t", "--store", store], own_environment(tmp_path), tmp_path)
    assert "pushed to result" in " ".join(said.stdout.split()), said.stdout + (tmp_path / "one.out").read_text()
    assert source.git("show", "result:part.txt") == "part 3"
    assert len(subjects(source)) == 4
    assert subjects(source)[1:] == ["Iteration 2", "Iteration 1", "begin"]
    assert source.git("status", "--porcelain") == ""


def test_what_a_repository_has_elsewhere_is_named_when_the_run_begins(source: Repository, tmp_path: Path) -> None:
    store = str(tmp_path / "ralph.db")
    source.write(".gitattributes", "*.bin filter=lfs\n")
    source.commit("large files")
    submit(source, tmp_path, store)
    with worker(tmp_path, store, "one") as made:
        assert made.wait(PATIENCE) == 0, (tmp_path / "one.out").read_text()
    logs = run_ralph(["fleet", "logs", "t", "--store", store], own_environment(tmp_path), tmp_path).stdout
    begun, _, rest = " ".join(logs.split()).partition("without the files of git-lfs")
    assert "The agent works" in begun, logs
    assert "Wrote part 1" not in begun, logs
    assert "Wrote part 1" in rest, logs
    assert "worked without the files of git-lfs" in shown(tmp_path, store)["reason"]


def test_the_next_task_begins_while_a_result_is_delivered(
    source: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLEET_DELIVERS_AFTER", "other 1 start")
    store, log = str(tmp_path / "ralph.db"), tmp_path / "log"
    submit(source, tmp_path, store)
    (other := tmp_path / "other").mkdir()
    asked, settings = {"iterations": 1, "log": str(log)}, {"executor": {"name": "fleet-scripted"}}
    following = {"task": json.dumps(asked), "folder": str(other), "verify": ["true"], "settings": settings}
    (tmp_path / "next.json").write_text(json.dumps([following]))
    more = ["fleet", "submit", "-f", str(tmp_path / "next.json"), "--store", store]
    assert run_ralph(more, own_environment(tmp_path), tmp_path).returncode == 0
    with worker(tmp_path, store, "one") as made:
        assert made.wait(PATIENCE) == 0, (tmp_path / "one.out").read_text()
    assert "pushed to result" in shown(tmp_path, store)["reason"]


def test_another_worker_continues_the_work_of_a_killed_one(source: Repository, tmp_path: Path) -> None:
    store, log = str(tmp_path / "ralph.db"), tmp_path / "log"
    submit(source, tmp_path, store, seconds=1.5)
    with worker(tmp_path, store, "one") as made:
        until_in(log, "source 2 start")
        made.kill()
    with worker(tmp_path, store, "two") as made:
        assert made.wait(PATIENCE) == 0, (tmp_path / "two.out").read_text()
    lines = [line.rsplit(" ", 2)[0] for line in log.read_text().splitlines()]
    assert lines.count("source 1 start") == 1
    assert lines.count("source 2 start") == 2
    assert lines.count("source 3 end") == 1
    assert source.git("show", "result:part.txt") == "part 3"
    assert subjects(source)[1:] == ["Iteration 2", "Iteration 1", "begin"], (tmp_path / "two.out").read_text()
    assert list(tmp_path.rglob("checkouts/*")) == [], "both copies are removed"


def test_the_files_of_a_worker_that_is_killed_before_the_delivery_are_in_the_result(
    source: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = str(tmp_path / "ralph.db")
    submit(source, tmp_path, store)
    monkeypatch.setenv("FLEET_KILLED_BEFORE", str(tmp_path / "killed"))
    with worker(tmp_path, store, "one") as made:
        assert made.wait(PATIENCE) == -signal.SIGKILL
    with worker(tmp_path, store, "two") as made:
        assert made.wait(PATIENCE) == 0, (tmp_path / "two.out").read_text()
    assert source.git("show", "result:part.txt") == "part 3"
    said = shown(tmp_path, store)
    assert (said["state"], said["iterations"], round(said["cost"], 6)) == ("done", 3, 0.003), said


def test_files_that_were_lost_with_a_worker_fail_the_task(
    source: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = str(tmp_path / "ralph.db")
    submit(source, tmp_path, store)
    monkeypatch.setenv("FLEET_KILLED_BEFORE", str(tmp_path / "killed"))
    with worker(tmp_path, store, "one") as made:
        assert made.wait(PATIENCE) == -signal.SIGKILL
    source.git("branch", "-D", "result")
    for mirror in tmp_path.rglob("fleet/mirrors"):
        shutil.rmtree(mirror)
    with worker(tmp_path, store, "two") as made:
        assert made.wait(PATIENCE) == 0, (tmp_path / "two.out").read_text()
    said = shown(tmp_path, store)
    assert (said["state"], said["iterations"], round(said["cost"], 6)) == ("failed", 3, 0.003), said
    assert "The files of iteration 3 were lost" in said["reason"]
    assert "`ralph fleet retry t`" in said["reason"]


@pytest.mark.skipif(not shutil.which("bwrap"), reason="bubblewrap makes the small disk")
def test_a_full_disk_fails_the_task_with_the_reason_and_a_retry_with_room_completes_it(
    source: Repository, tmp_path: Path
) -> None:
    (source.path / "large").write_bytes(os.urandom(6_000_000))
    source.commit("a large file")
    store, state = str(tmp_path / "ralph.db"), tmp_path / "state"
    submit(source, tmp_path, store)
    state.mkdir()
    small = ("bwrap", "--dev-bind", "/", "/", "--size", "4000000", "--tmpfs", str(state), "--die-with-parent")
    with worker(tmp_path, store, "one", *small) as made:
        assert made.wait(PATIENCE) == 0, (tmp_path / "one.out").read_text()
    said = shown(tmp_path, store)
    assert (said["state"], said["iterations"]) == ("failed", 0), said
    assert "No space left on device" in said["reason"], said
    assert "Traceback" not in (tmp_path / "one.out").read_text()
    env = own_environment(tmp_path)
    assert run_ralph(["fleet", "retry", "t", "--store", store], env, tmp_path).returncode == 0
    with worker(tmp_path, store, "two") as made:
        assert made.wait(PATIENCE) == 0, (tmp_path / "two.out").read_text()
    assert shown(tmp_path, store)["state"] == "done"
    assert source.git("show", "result:part.txt") == "part 3"
    assert [line.split()[1] for line in (tmp_path / "log").read_text().splitlines() if " end " in line] == [*"123"]


@pytest.mark.skipif(not shutil.which("bwrap"), reason="bubblewrap makes the small disk")
def test_an_agent_that_fills_the_disk_loses_no_iteration_that_finished(source: Repository, tmp_path: Path) -> None:
    store, state = str(tmp_path / "ralph.db"), tmp_path / "state"
    submit(source, tmp_path, store, fills=2)
    state.mkdir()
    small = ("bwrap", "--dev-bind", "/", "/", "--size", "9000000", "--tmpfs", str(state), "--die-with-parent")
    with worker(tmp_path, store, "one", *small) as made:
        assert made.wait(PATIENCE) == 0, (tmp_path / "one.out").read_text()
    said = shown(tmp_path, store)
    assert said["state"] == "failed", said
    assert "Check the disk of the worker" in said["reason"], said
    assert "Traceback" not in (tmp_path / "one.out").read_text()
    assert source.git("show", "result:part.txt") == "part 1", "what was finished before is at the source"
    with worker(tmp_path, store, "two") as made:
        assert run_ralph(["fleet", "retry", "t", "--store", store], own_environment(tmp_path), tmp_path).returncode == 0
        assert made.wait(PATIENCE) == 0, (tmp_path / "two.out").read_text()
    assert shown(tmp_path, store)["state"] == "done"
