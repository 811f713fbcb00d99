"""Make the pictures of the README and the documents from a real run of `ralph demo`.

`uv run python docs/pictures.py` runs the demo in a terminal (tmux), looks at the run with `ralph watch`, `ralph serve`
in Chromium and `ralph report`, and writes what each of them shows to docs/pictures. Needs tmux and Chromium.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer
from playwright.sync_api import Page, ViewportSize, sync_playwright
from terminal_svg import Frame, drawn

PICTURES = Path(__file__).parent / "pictures"
_COLUMNS, _ROWS = 100, 30
_WITHIN = 300.0
_EVERY = 0.15
_LONGEST, _LAST = 1.2, 6.0
"""Seconds that a frame of an animation stands: at most, and the last one."""


class Terminal:
    """A terminal of tmux with a shell command in it."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._tmux = ("tmux", "-S", str(folder / "tmux"), "-f", os.devnull)
        self._environment = environment

    @contextmanager
    def running(self, command: str) -> Generator[None]:
        """Run a command until the end of the block."""
        size = ("-x", str(_COLUMNS), "-y", str(_ROWS))
        self._call("new-session", "-d", *size, f"printf '$ %s\\n' '{command}'; {command}; exec sleep 600")
        try:
            yield
        finally:
            self._call("kill-server")

    def _call(self, *words: str) -> str:
        ended = subprocess.run(
            (*self._tmux, *words), env=self._environment, check=True, capture_output=True, text=True, timeout=60
        )
        return ended.stdout

    @property
    def screen(self) -> str:
        """The screen with its colours."""
        return self._call("capture-pane", "-p", "-e", "-N")

    def press(self, *keys: str) -> None:
        """Press keys."""
        self._call("send-keys", *keys)

    def watched(self, *until: str) -> list[Frame]:
        """Return each different screen with its duration, up to the first one that has these texts."""
        ends, seen, at = time.monotonic() + _WITHIN, "", time.monotonic()
        frames: list[Frame] = []
        while not all(text in seen for text in until):
            if time.monotonic() > ends:
                raise SystemExit(f"{until} did not come. The screen:\n{seen}")
            time.sleep(_EVERY)
            if (shown := self.screen) != seen:
                now = time.monotonic()
                frames += [Frame(seen, min(now - at, _LONGEST))] if seen else []
                seen, at = shown, now
        return [*frames, Frame(seen, _LAST)]


def main(to: Path = PICTURES) -> None:
    """Write all pictures to a folder."""
    to.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="ralph-") as folder:
        environment = _environment(Path(folder))
        repository = _terminal_pictures(Path(folder), environment, to)
        try:
            _web_pictures(Path(folder), environment, to)
        finally:
            shutil.rmtree(repository, ignore_errors=True)
    for path in sorted(to.iterdir()):
        typer.echo(f"{path.name:<24}{path.stat().st_size:>9,} bytes")


def _ralph(folder: Path) -> str:
    return str(folder / "bin" / "ralph")


def _environment(folder: Path) -> dict[str, str]:
    """Return an environment with settings and a store of its own, and with paths that say nothing of this machine."""
    (folder / "venv").symlink_to(sys.prefix)
    program = Path(_ralph(folder))
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {folder}/venv/bin/python -m ralph "$@"\n')
    program.chmod(0o755)
    hidden = ("RALPH_", "XDG_STATE", "XDG_CONFIG", "TMUX", "NO_COLOR", "CI", "VIRTUAL_ENV", "OTEL_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
    path = f"{program.parent}{os.pathsep}{kept['PATH']}"
    own = {"XDG_STATE_HOME": f"{folder}/state", "XDG_CONFIG_HOME": f"{folder}/config", "PATH": path}
    return kept | own | {"LC_ALL": "C.UTF-8", "TERM": "xterm-256color", "COLORTERM": "truecolor"}


def _terminal_pictures(folder: Path, environment: Mapping[str, str], to: Path) -> Path:
    """Draw the demo and the terminal app; return the folder of the demo's repository."""
    terminal = Terminal(folder, environment)
    with terminal.running("ralph demo --keep"):
        frames = terminal.watched("The repository is in")
    _write(to / "run.svg", frames, "ralph demo")
    place = next(line for line in frames[-1].text.splitlines() if "The repository is in" in line)
    with terminal.running("ralph watch"):
        terminal.watched("Make the tests pass", "verified")
        terminal.press("Enter")
        terminal.watched("breaker closed", "decision")
        terminal.press("[")
        still = terminal.watched("refuted", "Reply")[-1:]
    _write(to / "watch.svg", still, "ralph watch")
    return Path(place.partition("is in ")[2].strip())


def _write(path: Path, frames: list[Frame], title: str) -> None:
    path.write_text(drawn(frames, _COLUMNS, _ROWS, title), encoding="utf-8")


def _web_pictures(folder: Path, environment: Mapping[str, str], to: Path) -> None:
    """Draw the dashboard at two widths, and the report."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        raise SystemExit("Chromium is not installed.")
    report = folder / "report.html"
    subprocess.run(
        (_ralph(folder), "report", "--any", "-o", str(report)), env=environment, check=True, capture_output=True
    )
    with sync_playwright() as playwright, _served(folder, environment) as address:
        chromium = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for name, width, height, scheme in (("dashboard", 1280, 900, "light"), ("dashboard-narrow", 390, 844, "dark")):
            page = _opened(chromium, address, width, height, scheme)
            page.get_by_role("link", name="Make the tests pass").click()
            page.locator(".loaded svg").first.wait_for(timeout=60_000)
            page.screenshot(path=to / f"{name}.png")
        _opened(chromium, report.as_uri(), 1280, 900, "light").screenshot(path=to / "report.png")
        chromium.close()


def _opened(chromium: Any, address: str, width: int, height: int, scheme: Any) -> Page:
    size = ViewportSize(width=width, height=height)
    page: Page = chromium.new_context(viewport=size, color_scheme=scheme).new_page()
    page.set_default_timeout(60_000)
    page.goto(address)
    return page


@contextmanager
def _served(folder: Path, environment: Mapping[str, str]) -> Generator[str]:
    """Serve the dashboard; yield the address with the token."""
    words = (_ralph(folder), "serve", "--port", "0")
    with subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout
        try:
            yield run.stdout.readline().split()[-1]
        finally:
            run.terminate()


if __name__ == "__main__":
    typer.run(main)
