"""What the commands print: JSON for programs, tables and paragraphs for people."""

import json
import sys
from collections.abc import AsyncIterable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["console", "print_json", "print_json_list", "print_line", "print_table", "when"]


def console() -> "Console":
    """A console on standard output."""
    from ralph.display.terminal import console_for

    return console_for(sys.stdout)


def print_json(value: Any) -> None:
    """A JSON value, indented, in ASCII for any reader."""
    sys.stdout.write(json.dumps(value, indent=2) + "\n")


async def print_json_list(beside: Mapping[str, Any], name: str, items: AsyncIterable[Any]) -> None:
    """As `print_json` prints an object whose last member is a long list, but one item after another."""
    head = json.dumps(beside, indent=2).removesuffix("\n}")
    sys.stdout.write(f'{head},\n  "{name}": [')
    before = ""
    async for item in items:
        text = json.dumps(item, indent=2).replace("\n", "\n    ")  # which no string of JSON has in it
        sys.stdout.write(f"{before}\n    {text}")
        before = ","
    sys.stdout.write("\n  ]\n}\n" if before else "]\n}\n")


def print_line(value: Any) -> None:
    """A JSON value as one line, at once, in ASCII for any reader."""
    sys.stdout.write(f"{json.dumps(value)}\n")
    sys.stdout.flush()


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table of hostile texts. The last column is folded where it does not fit; in a pipe each row is one line."""
    from rich.table import Table
    from rich.text import Text

    out = console()
    if not out.is_terminal:
        _print_aligned([columns, *rows])
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold", no_wrap=column != columns[-1])
    for row in rows:
        table.add_row(*map(Text, row))
    out.print(table)


def _print_aligned(rows: Sequence[Sequence[str]]) -> None:
    """Rows of one line each, columns under one another, and nothing behind the last."""
    from rich.cells import cell_len

    from ralph.printable import printable

    lines = [[" ".join(printable(cell).splitlines()) for cell in row] for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    for row in lines:
        cells = (f"{cell}{' ' * (width - cell_len(cell))}" for cell, width in zip(row, widths, strict=True))
        sys.stdout.write(f"{'  '.join(cells).rstrip()}\n")


def when(moment: datetime) -> str:
    """A moment as people say it where they are."""
    return f"{moment.astimezone():%Y-%m-%d %H:%M:%S}"
