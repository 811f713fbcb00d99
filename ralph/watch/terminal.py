"""What terminals and pipes need: consoles for text that is nobody's markup, and signs that every encoding has."""

from collections.abc import Iterable
from typing import IO, TYPE_CHECKING, cast

from ralph.system.text import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from ralph.analysis.result import Evidence
    from ralph.watch.outlet import Outlet

__all__ = ["BREAKER_SIGNS", "STOP_SIGNS", "clipped", "console_for", "evidence_text", "one_line", "print_rows", "sign"]

BREAKER_SIGNS = {"closed": "○", "half_open": "◐", "open": "●", "warning": "◉"}
STOP_SIGNS = {"completed": "✓", "cancelled": "■"}
"""For every other stop reason: ✗."""

_PLAIN_SIGNS = {"○": "o", "◐": "%", "●": "@", "◉": "!", "✓": "+", "✗": "x", "■": "#", "→": "->", "·": "-", "│": "|"}


def console_for(out: "Outlet | IO[str]") -> "Console":
    """A console on a stream: in colours where people want them, as wide as the terminal, and endless in a pipe."""
    from rich.console import Console

    console = Console(file=cast("IO[str]", out), markup=False, highlight=False, emoji=False, soft_wrap=not out.isatty())
    if not console.is_terminal:
        console.width = 160
    return console


def print_rows(console: "Console", rows: "Iterable[tuple[Text, Text]]", *, width: int) -> None:
    """Labels of so many characters, and behind each a text, which goes on under itself where a terminal breaks it."""
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(width=width)
    grid.add_column(overflow="fold")
    for label, text in rows:
        if console.soft_wrap:
            padded = label.copy()
            padded.truncate(width, pad=True)
            console.print(Text.assemble(padded, " ", text))
        else:
            grid.add_row(label, text)
    if grid.row_count:
        console.print(grid)


def sign(console: "Console", name: str) -> str:
    """A sign, or what stands for it where the encoding has none."""
    return name if console.encoding.lower().startswith("utf") else _PLAIN_SIGNS.get(name, "?")


def one_line(text: str, most: int = 200) -> str:
    """Hostile text as one bounded line."""
    words = " ".join(printable(text, 4 * most).split())
    return words if len(words) <= most else f"{words[: most - 1]}…"


def evidence_text(piece: "Evidence") -> str:
    """A piece of evidence in one line: what was said, and why it counts."""
    quoted = f"“{one_line(piece.text, 80)}”: " if piece.text and piece.signal != "exit_signal" else ""
    return f"{quoted}{one_line(piece.why or piece.signal)}"


def clipped(text: str, most: int, last: int = 0) -> "Text":
    """Hostile text in at most so many lines, of which so many are its last ones; what is left out is said."""
    from rich.text import Text

    lines = printable(text).strip("\n").split("\n")
    if len(lines) > most:
        front, end = most - 1 - last, len(lines) - last
        lines = [*lines[:front], f"… {end - front} more lines", *lines[end:]]
    return Text("\n".join(lines))
