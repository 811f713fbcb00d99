"""The live display in a real terminal: tmux, at several sizes, while the run goes on."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.timeout(400)

_SCRIPT = Path(__file__).with_name("live_run.py")
_ROOT = Path(__file__).parents[2]


class Terminal:
    """A window of tmux with a server of its own."""

    def __init__(self, folder: Path) -> None:
        self.environment = {**os.environ, "TMUX_TMPDIR": str(folder), "TERM": "xterm-256color"}
        for name in ("CI", "TMUX", "NO_COLOR", "COLUMNS", "LINES"):
            self.environment.pop(name, None)

    def tmux(self, *arguments: str) -> str:
        argv = ["tmux", "-f", "/dev/null", *arguments]
        return subprocess.run(argv, env=self.environment, capture_output=True, text=True, check=True).stdout

    def resize(self, columns: int, rows: int) -> None:
        self.tmux("resize-window", "-t", "live", "-x", str(columns), "-y", str(rows))

    def wait_for(self, *said: str, once: tuple[str, ...] = (), whole: bool = True, frames: int = 1) -> str:
        """Return what the window shows as soon as it shows all texts, some of them exactly once, in different frames.

        With `whole`, the rows that have left the window count, too.
        """
        ends = time.monotonic() + 60
        seen: set[str] = set()
        while True:
            shown = self.tmux("capture-pane", "-p", "-t", "live", *(("-S", "-200") if whole else ()))
            if all(text in shown for text in said) and all(shown.count(text) == 1 for text in once):
                seen.add(shown)
            if len(seen) == frames:
                return shown
            assert time.monotonic() < ends, (said, once, shown)
            time.sleep(0.1)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    window = Terminal(tmp_path)
    program = f"cd {_ROOT} && {sys.executable} {_SCRIPT} {tmp_path} 0.05 held; sleep 600"
    window.tmux("new-session", "-d", "-s", "live", "-x", "80", "-y", "24", program)
    yield window
    window.tmux("kill-server")


def test_a_window_that_changes_its_size_keeps_one_panel_and_all_blocks(terminal: Terminal, tmp_path: Path) -> None:
    seen = (
        "iteration 1 of 3",
        "iteration 2 of 3",
        "slow-agent",
        "scripted-1",
        "$0.42 of $5.00",
        "2 of 3",
        "ends about",
    )
    first = terminal.wait_for(*seen, "$ pytest -q tests/test_averages.py", "Ctrl-C stops")
    assert "tools     5: read README.md, search 'def mean' in src" in first
    assert "files     file-1.txt" in first
    assert "EXIT_SIGNAL" not in first
    for columns, rows, whole in ((50, 20, True), (160, 50, True), (100, 36, True), (80, 10, False)):
        terminal.resize(columns, rows)
        terminal.wait_for("│ ○ breaker closed", once=("╭", "╰", "Ctrl-C stops"), whole=whole, frames=4)
    (tmp_path / "done").touch()
    over = terminal.wait_for("Stopped: a limit is reached", "iteration 3 of 3")
    assert "Ctrl-C stops" not in over
    assert [over.count(f"iteration {number} of 3") for number in (1, 2, 3)] == [1, 1, 1]
