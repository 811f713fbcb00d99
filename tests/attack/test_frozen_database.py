"""A PostgreSQL server freezes in the middle of a run: every process of it is stopped, and every connection lives on."""

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from ralph.testing import Repository, own_environment

pytestmark = [pytest.mark.attack, pytest.mark.timeout(120)]

PLUGIN = """
import time
from pathlib import Path
from ralph import Answered, Executor
from ralph.plugins import Provider, hookimpl


class Slow(Executor):
    name = "slow"

    async def execute(self, prompt, turn):
        (turn.workspace / "began").touch()
        while not (turn.workspace / "go").exists():
            time.sleep(0.01)
        return turn.transcript.finish(Answered(), text="Working.")


@hookimpl
def ralph_executors():
    yield Provider("slow", "waits for a file", lambda context: Slow())
"""


def freezer(server: Any) -> Callable[[signal.Signals], None]:
    """Return a function that sends a signal to every process of the server."""
    postmaster = psutil.Process(int((Path(server.pgdata) / "postmaster.pid").read_text().split()[0]))

    def send(number: signal.Signals) -> None:
        for process in (postmaster, *postmaster.children(recursive=True)):
            process.send_signal(number)

    return send


@pytest.mark.parametrize("then", ["thaws", "Ctrl-C"])
def test_it_is_a_pause_within_five_seconds(own_postgres: Any, tmp_path: Path, then: str) -> None:
    repository = Repository.begin(tmp_path / "work")
    repository.commit()
    repository.write(".ralph/plugin.py", PLUGIN)
    send = freezer(own_postgres)
    words = ("run", "Do it.", "--executor", "slow", "--trust", "--max-iterations", "1", "--verify", "none")
    command = (sys.executable, "-m", "ralph", *words, "--display", "json", "--store", own_postgres.get_uri())
    seen: list[tuple[float, dict[str, Any]]] = []
    with subprocess.Popen(
        command, cwd=repository.path, env=own_environment(tmp_path), stdout=subprocess.PIPE, text=True
    ) as run:

        def read() -> None:
            assert run.stdout
            seen.extend((time.monotonic(), json.loads(line)) for line in run.stdout)

        reader = threading.Thread(target=read)
        reader.start()
        _wait((repository.path / "began").exists)
        send(signal.SIGSTOP)
        try:
            frozen = time.monotonic()
            repository.write("go", "")
            _wait(lambda: any(event["type"] == "paused" for _, event in seen))
            if then == "Ctrl-C":
                run.send_signal(signal.SIGINT)
                interrupted = time.monotonic()
                assert run.wait(15) != 0
                assert time.monotonic() - interrupted < 8
        finally:
            send(signal.SIGCONT)
        assert run.wait(60) in ({1, 130} if then == "Ctrl-C" else {5})
        reader.join(10)
    paused = next(at for at, event in seen if event["type"] == "paused")
    assert paused - frozen < 5
    kinds = [event["type"] for _, event in seen]
    assert kinds[-1] == "run_finished"
    if then == "thaws":
        assert kinds.index("resumed") < kinds.index("iteration_finished")


def _wait(there: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 40
    while not there():
        assert time.monotonic() < deadline
        time.sleep(0.01)
