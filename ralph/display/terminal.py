"""What terminals and pipes need: consoles for text that is nobody's markup, and signs that every encoding has."""

from typing import IO, TYPE_CHECKING, cast

from ralph.analysis.result import Evidence
from ralph.views import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from ralph.display.outlet import Outlet

__all__ = ["BREAKER_SIGNS", "STOP_SIGNS", "clipped", "console_for", "evidence_text", "one_line", "sign"]

BREAKER_SIGNS = {"closed": "○", "half_open": "◐", "open": "●", "warning": "◉"}
STOP_SIGNS = {"completed": "✓", "cancelled": "■"}
"""For every other stop reason: ✗."""

_CIRCLES = {
    "repeated output": "It said nearly the same again and again.",
    "test-only loop": "It did nothing but run tests, again and again.",
    "no progress": "Several iterations in a row brought nothing forward.",
}
"""How the loop goes in circles, by the names that the analysis has for it; any other is an error that repeats."""

_PLAIN_SIGNS = {"○": "o", "◐": "%", "●": "@", "◉": "!", "✓": "+", "✗": "x", "■": "#", "→": "->", "·": "-", "│": "|"}


def console_for(out: "Outlet | IO[str]") -> "Console":
    """A console on a stream: in colours where people want them, as wide as the terminal, and endless in a pipe."""
    from rich.console import Console

    console = Console(file=cast("IO[str]", out), markup=False, highlight=False, emoji=False, soft_wrap=not out.isatty())
    if not console.is_terminal:
        console.width = 160
    return console


def sign(console: "Console", name: str) -> str:
    """A sign, or what stands for it where the encoding has none."""
    return name if console.encoding.lower().startswith("utf") else _PLAIN_SIGNS.get(name, "?")


def one_line(text: str, most: int = 200) -> str:
    """Hostile text as one bounded line."""
    words = " ".join(printable(text, 4 * most).split())
    return words if len(words) <= most else f"{words[: most - 1]}…"


def evidence_text(piece: Evidence) -> str:
    """A piece of evidence in one line: what was said, and why it counts."""
    if piece.signal == "stuck" and piece.text in _CIRCLES:
        return _CIRCLES[piece.text]
    quoted = f"“{one_line(piece.text, 80)}”: " if piece.text and piece.signal != "exit_signal" else ""
    return f"{quoted}{one_line(piece.why or piece.signal)}"


def clipped(text: str, most: int) -> "Text":
    """Hostile text in at most so many lines; what is left out is said."""
    from rich.text import Text

    lines = printable(text).strip("\n").split("\n")
    if len(lines) > most:
        left_out = len(lines) - most + 1
        lines = [*lines[: most - 1], f"… {left_out} more lines"]
    return Text("\n".join(lines))
