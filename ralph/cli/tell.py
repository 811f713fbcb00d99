"""What the commands print: JSON for programs, tables and paragraphs for people."""

import json
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["console", "print_json", "print_table", "when"]


def console() -> "Console":
    """A console on standard output."""
    from ralph.display.terminal import console_for

    return console_for(sys.stdout)


def print_json(value: Any) -> None:
    """A JSON value, indented, in ASCII for any reader."""
    sys.stdout.write(json.dumps(value, indent=2) + "\n")


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, styles: Sequence[str] = ()) -> None:
    """A table of hostile texts, a line each; what does not fit is folded, in a pipe never."""
    from rich.table import Table
    from rich.text import Text

    out = console()
    table = Table(box=None, pad_edge=False, header_style="bold")
    for number, column in enumerate(columns):
        last = number == len(columns) - 1
        table.add_column(column, overflow="fold", no_wrap=not last, ratio=None)
    for row in rows:
        table.add_row(*(Text(text, style=styles[number] if styles else "") for number, text in enumerate(row)))
    if not out.is_terminal:
        out.width = 10_000
    out.print(table)


def when(moment: Any) -> str:
    """A moment as people say it where they are."""
    return f"{moment.astimezone():%Y-%m-%d %H:%M:%S}"
