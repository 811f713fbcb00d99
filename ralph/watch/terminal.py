"""Text for terminals and pipes: consoles, signs that every encoding can express, and untrusted text made safe."""

from collections.abc import Iterable
from typing import IO, TYPE_CHECKING, cast

from ralph.system.text import PrintableStream, one_line, printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from ralph.analysis.result import Evidence

BREAKER_SIGNS = {"closed": "○", "half_open": "◐", "open": "●", "warning": "◉"}
STOP_SIGNS = {"completed": "✓", "cancelled": "■"}
"""Every other stop reason has ✗."""

_PLAIN_SIGNS = {
    "○": "o",
    "◐": "%",
    "●": "@",
    "◉": "!",
    "✓": "+",
    "✗": "x",
    "■": "#",
    "→": "->",
    "·": "-",
    "│": "|",
    "×": "x",
}


def console_for(out: "PrintableStream | IO[str]") -> "Console":
    """Return a console on a stream: coloured and as wide as the terminal, or with unbroken lines in a pipe."""
    from ralph.watch.console import VisibleConsole

    file = cast("IO[str]", out.unfiltered) if isinstance(out, PrintableStream) else out
    console = VisibleConsole(file=file, markup=False, highlight=False, emoji=False, soft_wrap=not out.isatty())
    if not console.is_terminal:
        console.width = 160
    return console


def print_text(console: "Console", *parts: "Text | str | tuple[str, str]", style: str = "") -> None:
    """Print a text of several parts, plain ones and ones with a style of their own; nothing in them is markup."""
    from rich.text import Text

    console.print(Text.assemble(*parts, style=style))


def print_rows(console: "Console", rows: "Iterable[tuple[Text | str, Text | str]]", *, width: int) -> None:
    """Print labels of `width` characters, each with its text to the right; a terminal folds the text in its column.

    A label without a style of its own is dim.
    """
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(width=width)
    grid.add_column(overflow="fold")
    for left, right in rows:
        label = Text(left, style="dim") if isinstance(left, str) else left
        text = Text(right) if isinstance(right, str) else right
        if console.soft_wrap:
            padded = label.copy()
            padded.truncate(width, pad=True)
            console.print(Text.assemble(padded, " ", text))
        else:
            grid.add_row(label, text)
    if grid.row_count:
        console.print(grid)


def sign(console: "Console", name: str) -> str:
    """Return a sign, or its ASCII substitute if the encoding cannot express it."""
    return name if console.encoding.lower().startswith("utf") else _PLAIN_SIGNS.get(name, "?")


def evidence_text(piece: "Evidence") -> str:
    """Return a piece of evidence in one line: the quoted text and why it counts."""
    quoted = f"“{one_line(piece.text, 80)}”: " if piece.text and piece.signal != "exit_signal" else ""
    return f"{quoted}{one_line(piece.why or piece.signal)}"


def clipped(text: str, most: int, last: int = 0) -> "Text":
    """Return untrusted text in at most `most` lines, of which `last` are its last ones, with a note of the omitted."""
    from rich.text import Text

    lines = printable(text).strip("\n").split("\n")
    if len(lines) > most:
        front, end = most - 1 - last, len(lines) - last
        lines = [*lines[:front], f"… {end - front} more lines", *lines[end:]]
    return Text("\n".join(lines))
