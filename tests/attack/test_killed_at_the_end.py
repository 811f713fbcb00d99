"""Ralph is killed just after it has stored the end of a run, before it ends the agent's own processes."""

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from ralph.testing import Repository, own_environment, run_ralph

pytestmark = [pytest.mark.attack, pytest.mark.timeout(120)]

PLUGIN = """
import os, signal, subprocess
from ralph import Answered, Executor, Hooks
from ralph.plugins import Provider, hookimpl
from ralph.system.process_tree import marked, new_marker


class Lingering(Executor):
    name = "lingering"

    async def start(self):
        if "KILL" not in os.environ:
            return
        nowhere = {name: subprocess.DEVNULL for name in ("stdin", "stdout", "stderr")}
        subprocess.Popen(["sleep", "LONG"], env=marked(os.environ, new_marker()), start_new_session=True, **nowhere)

    async def execute(self, prompt, turn):
        return turn.transcript.finish(Answered(), text="Done.")


class Killed(Hooks):
    async def on_run_finished(self, event):
        os.kill(os.getpid(), signal.SIGKILL)


@hookimpl
def ralph_executors():
    yield Provider("lingering", "leaves a process", lambda context: Lingering())


@hookimpl
def ralph_observers():
    yield Killed() if "KILL" in os.environ else Hooks()
"""


def sleeping(long: str) -> list[psutil.Process]:
    found: list[psutil.Process] = []
    for process in psutil.process_iter():
        try:
            if process.cmdline() == ["sleep", long] and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found


@pytest.mark.parametrize("command", ["show", "breaker", "run"])
def test_the_next_command_ends_what_is_left(tmp_path: Path, command: str) -> None:
    repository, long = Repository.begin(tmp_path / "work"), f"1{os.getpid()}.{len(command)}"
    repository.commit()
    repository.write(".ralph/plugin.py", PLUGIN.replace("LONG", long))
    environment = own_environment(tmp_path)
    run = ("run", "Do it.", "--executor", "lingering", "--trust", "--max-iterations", "1", "--verify", "none")
    killed = subprocess.run(
        (sys.executable, "-m", "ralph", *run),
        cwd=repository.path,
        env={**environment, "KILL": "1"},
        capture_output=True,
        timeout=50,
        check=False,
    )
    assert killed.returncode == -9
    (left,) = sleeping(long)
    after = run_ralph(run if command == "run" else (command,), environment, repository.path)
    assert after.returncode in {0, 5}, after.stderr
    ended = "what the dead process left running" if command == "run" else "Ended what a killed Ralph had left running"
    assert f"{ended}: {left.pid} sleep" in (after.stdout if command == "run" else after.stderr)
    assert sleeping(long) == []
