"""What the commands print: JSON for programs, tables and paragraphs for people."""

import json
import sys
from collections.abc import AsyncIterable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["console", "print_json", "print_json_list", "print_line", "print_table", "when"]

_GAP = "  "
_LEAST_FOLDED = 24
"""Columns of a terminal in which texts that go on over several lines can be read."""


def console() -> "Console":
    """A console on standard output."""
    from ralph.watch.terminal import console_for

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
    """A table of hostile texts. In a pipe each row is one line; on a terminal, columns that have no room in it go on
    below, indented, and what is longer than a line is folded.
    """
    from rich.cells import cell_len

    from ralph.system.text import printable

    out = console()
    lines = [[" ".join(printable(cell).splitlines()) for cell in row] for row in (columns, *rows)]
    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    if not out.is_terminal:
        for row in lines:
            sys.stdout.write(f"{_padded(row, widths).rstrip()}\n")
        return
    shelves = _shelves(widths, out.width)
    for row, style in zip(lines, ("bold", *[""] * (len(lines) - 1)), strict=True):
        for start, end in shelves:
            _print_cells(out, row[start:end], widths[start:end], indented=start > 0, style=style)


def _shelves(widths: Sequence[int], room: int) -> list[tuple[int, int]]:
    """The columns that stand in a line together, each lot with its end; the last one may be folded."""
    wanted = [*widths[:-1], min(widths[-1], _LEAST_FOLDED)]
    shelves: list[tuple[int, int]] = []
    start, used = 0, -len(_GAP)
    for number, width in enumerate(wanted):
        if number > start and used + len(_GAP) + width > room:
            shelves.append((start, number))
            start, used = number, 0
        used += len(_GAP) + width
    return [*shelves, (start, len(widths))]


def _print_cells(out: "Console", cells: Sequence[str], widths: Sequence[int], *, indented: bool, style: str) -> None:
    from rich.text import Text

    *before, last = cells
    lead = _GAP * indented + "".join(
        f"{_padded([cell], [width])}{_GAP}" for cell, width in zip(before, widths[:-1], strict=True)
    )
    if not lead.strip() and not last:
        return
    for line in Text(last).wrap(out, max(1, out.width - len(lead)), overflow="fold") or [Text()]:
        line.rstrip()
        out.print(Text.assemble(lead, line, style=style), no_wrap=True, overflow="ignore", crop=False)
        lead = " " * len(lead)


def _padded(cells: Sequence[str], widths: Sequence[int]) -> str:
    """Cells under those of the same widths."""
    from rich.cells import cell_len

    return _GAP.join(f"{cell}{' ' * (width - cell_len(cell))}" for cell, width in zip(cells, widths, strict=True))


def when(moment: datetime) -> str:
    """A moment as people say it where they are."""
    return f"{moment.astimezone():%Y-%m-%d %H:%M:%S}"
