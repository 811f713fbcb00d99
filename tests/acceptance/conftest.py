"""The `ralph` program as a person runs it: a process of its own, with a state folder of its own."""

import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import pytest

RALPH = (sys.executable, "-m", "ralph")


@dataclass(frozen=True)
class Ran:
    """A `ralph` that has ended."""

    code: int
    stdout: str
    stderr: str

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.stdout.splitlines()]

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event["type"] == kind]

    @property
    def end(self) -> dict[str, Any]:
        """The last event, which must be that of the run's end."""
        last = self.events[-1]
        assert last["type"] == "run_finished"
        return last


@pytest.fixture
def environment(tmp_path: Path, copilot_cli: Path) -> dict[str, str]:
    """An environment in which nothing of the user's is read or written but the CLI's cache."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("RALPH_", "COPILOT_", "GH_"))}
    return {
        **kept,
        "COPILOT_CLI_PATH": str(copilot_cli),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "NO_COLOR": "1",
    }


class Warm:
    """Calls `ralph` in forks of a process that has its modules loaded."""

    def __init__(self, calls: socket.socket) -> None:
        self._calls = calls

    def __call__(
        self, words: tuple[str, ...], given: str, environment: Mapping[str, str], folder: Path, within: float
    ) -> Ran:
        order = json.dumps({"words": words, "environment": dict(environment), "folder": str(folder)})
        with ExitStack() as stack:
            streams = [stack.enter_context(TemporaryFile()) for _ in range(3)]
            streams[0].write(given.encode())
            streams[0].seek(0)
            reading, writing = os.pipe()
            answer = stack.enter_context(os.fdopen(reading, "rb"))
            descriptors = [*(stream.fileno() for stream in streams), writing]
            socket.send_fds(self._calls, [order.encode()], descriptors)
            os.close(writing)
            pid = int(answer.readline())
            if not select.select([answer], [], [], within)[0]:
                os.kill(pid, signal.SIGKILL)
                pytest.fail(f"ralph {' '.join(words)} has not ended within {within} s")
            code = int(answer.readline())
            said = [(stream.seek(0), stream.read().decode())[1] for stream in streams[1:]]
        return Ran(code, *said)


@pytest.fixture(scope="session")
def warm() -> Generator[Warm]:
    """Provide calls of `ralph`; see `warm_ralph.py`."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    program = (sys.executable, str(Path(__file__).with_name("warm_ralph.py")), str(theirs.fileno()))
    with subprocess.Popen(program, pass_fds=[theirs.fileno()]), ours:
        theirs.close()
        yield Warm(ours)


@pytest.fixture
def ralph(environment: Mapping[str, str], tmp_path: Path, warm: Warm) -> Callable[..., Ran]:
    """Runs `ralph` with arguments and returns what it printed."""

    def run(*words: str, stdin: str = "", timeout: float = 50, **more: str) -> Ran:
        folder = tmp_path / "workspace" if (tmp_path / "workspace").exists() else tmp_path
        if not any(name.startswith(("PYTHON", "LC_", "LANG")) for name in more):
            return warm(words, stdin, {**environment, **more}, folder, timeout)
        ended = subprocess.run(  # Python reads these when it starts
            (*RALPH, *words),
            check=False,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=timeout,
            cwd=folder,
            env={**environment, **more},
        )
        return Ran(ended.returncode, ended.stdout, ended.stderr)

    return run


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A git repository with one commit."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "README.md").write_text("# Project\n")
    identity = ("-c", "user.name=test", "-c", "user.email=test@localhost")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "start")):
        subprocess.run(("git", *identity, *words), cwd=folder, check=True, capture_output=True)
    return folder
