"""A region at the end of a terminal that is drawn in place, while other lines are printed above it.

The cursor waits in the row below the region. A frame writes only the lines that have changed. When the window has
become narrower, the terminal has folded the lines that are now too long: the region knows how wide it has drawn each
of them, and so how far up it has to erase.
"""

import os
import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from threading import Event, RLock, Thread
from typing import TYPE_CHECKING

from rich.cells import cell_len

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_TICK = 0.25
"""Seconds between two frames."""

_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_UP = "\x1b[1A"
_BEGIN, _END = "\x1b[?2026h", "\x1b[?2026l"
"""A terminal that knows these shows what stands between them at once; others ignore them."""


class Region:
    """Draws what `compose` returns, four times a second, from a thread of its own.

    Args:
        compose: returns what to draw, in lines that do not depend on what was drawn before.
        ready: whether the terminal has taken everything so far; a frame is left out otherwise.
    """

    def __init__(self, console: "Console", compose: "Callable[[], RenderableType]", ready: Callable[[], bool]) -> None:
        self._console, self._compose, self._ready = console, compose, ready
        self._lock = RLock()
        self._over = Event()
        self._thread: Thread | None = None
        self._drawn: list[str] = []
        self._width = 0
        real = bool(os.environ.get("XTERM_VERSION") or os.environ.get("STY"))
        self._folds = bool(os.environ.get("TMUX")) or not real  # xterm and screen cut long lines instead

    def start(self) -> None:
        """Draw the region from now on."""
        self._console.file.write("\x1b[?25l")
        self._thread = Thread(target=self._tick, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Erase the region, once and for all."""
        if self._thread is None:
            return
        self._over.set()
        with self._lock:
            self._console.file.write(f"{self._erasing()}\x1b[?25h")
            self._drawn, thread, self._thread = [], self._thread, None
        thread.join(_TICK)

    @contextmanager
    def above(self) -> Generator[None]:
        """Let what is printed inside stand above the region, and stay."""
        with self._lock:
            if self._thread is None:
                yield
                return
            printed = self._console.capture()
            try:
                with printed:
                    yield
            finally:
                before = self._erasing() + printed.get()
                self._drawn = []
                self._draw(before)  # all in one write, so that no one sees the terminal without the region

    def _tick(self) -> None:
        while not self._over.wait(_TICK):
            with self._lock:
                if not self._over.is_set() and self._ready():
                    self._draw()

    def _draw(self, before: str = "") -> None:
        width, height = self._console.size
        lines = self._lines()[: max(height - 1, 1)]
        if width == self._width and len(lines) == len(self._drawn):
            text = "".join(
                _UP * (len(lines) - row) + f"\r\x1b[2K{line}\r" + "\n" * (len(lines) - row)
                for row, (line, drawn) in enumerate(zip(lines, self._drawn, strict=True))
                if line != drawn
            )
        else:
            text = self._erasing() + "".join(f"{line}\r\n" for line in lines)
        self._drawn, self._width = lines, width
        if before or text:
            self._console.file.write(f"{_BEGIN}{before}{text}{_END}")

    def _lines(self) -> list[str]:
        with self._console.capture() as captured:
            self._console.print(self._compose(), crop=True, soft_wrap=False)
        return captured.get().removesuffix("\n").split("\n")

    def _erasing(self) -> str:
        """Return what erases the region, however the terminal has folded it: row by row.

        To erase all rows at once would make tmux put them into its history if they are all that it shows.
        """
        if not self._drawn:
            return ""
        width, height = self._console.size
        wide = max(width, 1) if self._folds else self._width
        rows = sum(max(1, -(-cell_len(_STYLE.sub("", line)) // wide)) for line in self._drawn)
        return "\r\x1b[2K" + f"{_UP}\x1b[2K" * max(min(rows, height - 1), 1)
