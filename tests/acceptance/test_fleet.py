"""A fleet as users run it: tasks from a file, workers that are real processes, one store for both."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ralph.testing import own_environment, run_ralph
from ralph.testing.postgres import postgres_server, postgres_url

__all__ = ["postgres_server", "postgres_url"]

WORKER = Path(__file__).with_name("fleet_worker.py")
SETTINGS = {"executor": {"name": "fleet-scripted"}}


def tasks_in(folder: Path, count: int, **more: Any) -> Path:
    """Write a file of tasks, each with a folder of its own."""
    log = folder / "log"
    tasks: list[dict[str, Any]] = []
    for number in range(count):
        place = folder / f"place{number}"
        place.mkdir()
        text = json.dumps({"iterations": 3, "seconds": 0.05, "log": str(log), **more})
        tasks.append({"name": f"t{number}", "task": text, "folder": str(place)})
    file = folder / "tasks.json"
    common = {"verify": ["grep -q 'part 3' part.txt"], "settings": SETTINGS}
    file.write_text(json.dumps({**common, "tasks": [*tasks[:-1], {**tasks[-1], "after": ["t0"]}]}))
    return file


def ralph(folder: Path, *words: object) -> str:
    ended = run_ralph([*map(str, words)], own_environment(folder), folder)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.long
@pytest.mark.timeout(180)
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_the_same_file_runs_on_sqlite_and_on_postgres(kind: str, tmp_path: Path, request: pytest.FixtureRequest):
    url = str(tmp_path / "ralph.db") if kind == "sqlite" else request.getfixturevalue("postgres_url")
    file = tasks_in(tmp_path, 4)
    assert "Submitted 4 tasks." in ralph(tmp_path, "fleet", "submit", "-f", file, "--store", url)
    worker, env = [sys.executable, WORKER, url, "one", "2", "--until-empty"], own_environment(tmp_path)
    ended = subprocess.run(worker, env=env, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    said = json.loads(ralph(tmp_path, "fleet", "status", "--all", "--json", "--store", url))
    assert said["tasks"] == {"done": 4}, ended.stdout + ended.stderr
    assert [entry["iterations"] for entry in said["listed"]] == [3] * 4
    lines = (tmp_path / "log").read_text().splitlines()
    assert len([line for line in lines if " end " in line]) == 12
    said_of = [line.rsplit(maxsplit=2)[0] for line in lines]
    assert said_of.index("place3 1 start") > said_of.index("place0 3 end"), "the last one waited for the first"
    assert ralph(tmp_path, "fleet", "status", "--all", "--store", url).count("done, verified") == 4
    assert "Completed, verified: EXIT_SIGNAL" in ralph(tmp_path, "fleet", "show", "t1", "--store", url)
    assert "Wrote part 2" in ralph(tmp_path, "fleet", "logs", "t1", "--store", url)
