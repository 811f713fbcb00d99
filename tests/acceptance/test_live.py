"""The live display in a real terminal: tmux, at several sizes, while the run goes on."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

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

    def resize(self, columns: int, rows: int, *, whole: bool) -> str:
        """Return what the window then shows, if `whole` with the rows that have left it."""
        self.tmux("resize-window", "-t", "live", "-x", str(columns), "-y", str(rows))
        time.sleep(0.6)  # two frames
        shown = ""
        for _ in range(10):  # a capture may fall into a frame; what is left behind stays
            shown = self.tmux("capture-pane", "-p", "-t", "live", *(("-S", "-200") if whole else ()))
            if shown.count("╭") == shown.count("╰") == shown.count("Ctrl-C stops") == 1:
                break
            time.sleep(0.1)
        return shown

    def wait_for(self, said: str) -> str:
        ends = time.monotonic() + 30
        while said not in (shown := self.tmux("capture-pane", "-p", "-t", "live", "-S", "-200")):
            assert time.monotonic() < ends, shown
            time.sleep(0.2)
        return shown


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    window = Terminal(tmp_path)
    program = f"cd {_ROOT} && {sys.executable} {_SCRIPT} {tmp_path} 0.5; sleep 60"
    window.tmux("new-session", "-d", "-s", "live", "-x", "80", "-y", "24", program)
    yield window
    window.tmux("kill-server")


def test_a_window_that_changes_its_size_keeps_one_panel_and_all_blocks(terminal: Terminal) -> None:
    terminal.wait_for("iteration 1 of 3")
    terminal.wait_for("$ pytest -q tests/test_averages.py")
    first = terminal.wait_for("scripted-1")
    for said in ("slow-agent", "scripted-1", "$0.21 of $5.00", "1 of 3", "Ctrl-C stops", "ends about"):
        assert said in first, said
    assert "tools     5: read README.md, search 'def mean' in src" in first
    assert "files     file-1.txt" in first
    assert "EXIT_SIGNAL" not in first
    for columns, rows, whole in ((50, 20, True), (160, 50, True), (100, 36, True), (80, 10, False)):
        shown = terminal.resize(columns, rows, whole=whole)
        assert (shown.count("╭"), shown.count("╰")) == (1, 1), shown
        assert shown.count("Ctrl-C stops") == 1, shown
        assert "│ ○ breaker closed" in shown
    over = terminal.wait_for("Stopped: a limit is reached")
    assert "Ctrl-C stops" not in over
    assert [over.count(f"iteration {number} of 3") for number in (1, 2, 3)] == [1, 1, 1]
