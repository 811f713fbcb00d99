"""`ralph watch` in a real terminal, tmux, over a run that another process works on."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]

RUN = """
import sys
from pathlib import Path
import anyio
from ralph import Runner
from ralph.store import open_store
from ralph.testing import ScriptedExecutor, writes
from ralph.workspace import PlainWorkspace

class Slow(ScriptedExecutor):
    async def execute(self, prompt, turn):
        await anyio.sleep(0.5)
        return await super().execute(prompt, turn)

async def main():
    replies = [writes(f"part{n}.txt", f"{n}", f"Wrote **part {n}**; others are left.") for n in range(40)]
    async with Runner(
        executor=Slow(replies), store=open_store(sys.argv[1]), workspace=PlainWorkspace(Path(sys.argv[2]))
    ) as runner:
        await runner.run("Write all parts of the report.")

anyio.run(main)
"""


class Terminal:
    """A session of tmux with one program in it."""

    def __init__(self, name: str, size: tuple[int, int], folder: Path, environment: dict[str, str]) -> None:
        self._tmux = ("tmux", "-L", name, "-f", os.devnull)
        self._environment = environment
        self.size = size
        program = f"{sys.executable} -m ralph watch --store {folder / 'runs.db'}"
        columns, lines = size
        self._call(
            "new-session", "-d", "-x", str(columns), "-y", str(lines), f"{program}; echo ended with $?; read REPLY"
        )

    def _call(self, *words: str) -> str:
        ended = subprocess.run(
            (*self._tmux, *words), check=True, capture_output=True, text=True, env=self._environment, timeout=60
        )
        return ended.stdout

    @property
    def screen(self) -> str:
        return self._call("capture-pane", "-p")

    @property
    def pid(self) -> int:
        """The process of the app."""
        shell = self._call("display-message", "-p", "#{pane_pid}").strip()
        children = subprocess.run(("pgrep", "-P", shell), check=True, capture_output=True, text=True)
        return int(children.stdout.split()[0])

    def press(self, *keys: str) -> None:
        self._call("send-keys", *keys)

    def resize(self, columns: int, lines: int) -> None:
        self._call("resize-window", "-x", str(columns), "-y", str(lines))

    def shows(self, *texts: str, within: float = 60) -> str:
        end = time.monotonic() + within
        while not all(text in (screen := self.screen) for text in texts):
            assert time.monotonic() < end, f"{texts} did not come; the screen:\n{screen}"
            time.sleep(0.1)
        return screen

    def close(self) -> None:
        subprocess.run((*self._tmux, "kill-server"), check=False, capture_output=True)


@pytest.fixture
def terminal(tmp_path: Path) -> Generator[Callable[[int, int], Terminal]]:
    """Starts a run and, in a terminal of some size, the app."""
    if not shutil.which("tmux"):
        if os.environ.get("CI"):
            pytest.fail("tmux is not installed")
        pytest.skip("tmux is not installed")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("RALPH_", "TMUX", "NO_COLOR"))}
    environment = {
        **kept,
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_CONFIG_HOME": str(tmp_path),
        "LC_ALL": "C.UTF-8",
    }
    opened: list[Terminal] = []
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    words = (sys.executable, "-c", RUN, str(tmp_path / "runs.db"), str(workspace))
    with subprocess.Popen(words, env=environment) as run:

        def start(columns: int, lines: int) -> Terminal:
            while not (tmp_path / "runs.db").exists():
                assert run.poll() is None
                time.sleep(0.05)
            opened.append(Terminal(f"ralph-{os.getpid()}-{columns}", (columns, lines), tmp_path, environment))
            return opened[-1]

        yield start
        for each in opened:
            each.close()
        run.kill()


@pytest.mark.parametrize("size", [(80, 24), (160, 50)], ids=["80x24", "160x50"])
def test_a_run_is_paused_resumed_and_stopped_from_the_app(
    terminal: Callable[[int, int], Terminal], size: tuple[int, int]
) -> None:
    app = terminal(*size)
    app.shows("Write all parts of the report.", "running", "Active 1")
    app.press("Enter")
    app.shows("● running", "Message", "Stop", "scripted")
    app.press("p")
    app.shows("‖ paused", "r resumes")
    app.press("[", "]", "[")
    app.shows("Reply", "Wrote part", "decision")
    app.resize(100, 30)
    app.shows("‖ paused", "Reply")
    app.resize(*size)
    app.press("r")
    app.shows("● running")
    app.press("s")
    app.shows("Stop the run?")
    app.press("y")
    screen = app.shows("■ cancelled", "ralph resume")
    assert all(len(line) <= size[0] for line in screen.splitlines())
    app.press("Escape")
    app.shows("Stopped 1", "cancelled")
    app.press("q")
    app.shows("ended with 0")


def test_a_signal_leaves_the_terminal_as_it_was(terminal: Callable[[int, int], Terminal]) -> None:
    app = terminal(80, 24)
    app.shows("Write all parts of the report.", "Quit")
    os.kill(app.pid, signal.SIGTERM)
    screen = app.shows("ended with 143")
    assert "Traceback" not in screen
    assert "Quit" not in screen  # the alternate screen is left
    app.press("Enter")
