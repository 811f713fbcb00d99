"""The output of the commands: JSON for programs; tables and paragraphs for the terminal."""

import json
import sys
from collections.abc import AsyncIterable, Iterable, Mapping, Sequence
from contextlib import redirect_stdout
from datetime import datetime
from select import select
from typing import TYPE_CHECKING, Any, BinaryIO

import typer

from ralph.system.text import PrintableStream, one_line, printable
from ralph.watch.terminal import console_for

if TYPE_CHECKING:
    from rich.console import Console

_GAP = "  "
_LOOK = 0.1
"""Seconds."""
_LEAST_FOLDED = 24
"""The least number of columns in which a folded text is readable."""


def console() -> "Console":
    """Return a console on standard output."""
    return console_for(sys.stdout)


def binary_output() -> BinaryIO:
    """Return standard output for bytes, which no filter sees."""
    out = sys.stdout
    return (out.unfiltered if isinstance(out, PrintableStream) else out).buffer


def confirmed(question: str) -> bool:
    """Ask the user at the terminal, all on standard error: standard output is for programs."""
    typer.echo(f"{question} [y/N]: ", nl=False, err=True)
    while sys.platform != "win32" and not select([0], [], [], _LOOK)[0]:
        continue  # a signal just before a read is noticed only after it
    with redirect_stdout(sys.stderr):  # typer prints a space there
        return typer.confirm("", prompt_suffix="", show_default=False)


def print_json(value: Any) -> None:
    """Print a JSON value, indented and in ASCII."""
    sys.stdout.write(json.dumps(value, indent=2) + "\n")


def print_paragraph(text: str) -> None:
    """Print a text as it is; a terminal wraps it."""
    console().print(text, soft_wrap=True, markup=False, highlight=False)


async def print_json_list(members: Mapping[str, Any], name: str, items: AsyncIterable[Any]) -> None:
    """Print an object with a long list as its last member, item by item, formatted as by `print_json`."""
    head = json.dumps(members, indent=2).removesuffix("\n}")
    sys.stdout.write(f'{head},\n  "{name}": [')
    before = ""
    async for item in items:
        text = json.dumps(item, indent=2).replace("\n", "\n    ")  # strings in JSON hold no line break
        sys.stdout.write(f"{before}\n    {text}")
        before = ","
    sys.stdout.write("\n  ]\n}\n" if before else "]\n}\n")


def print_line(value: Any) -> None:
    """Print a JSON value as one line of ASCII, and flush it."""
    sys.stdout.write(f"{json.dumps(value)}\n")
    sys.stdout.flush()


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]], spare: Sequence[str] = ()) -> None:
    """Print a table of untrusted texts.

    In a pipe each row is one line. On a terminal, columns that do not fit are printed below, indented, and longer texts
    are folded. With `spare` columns, each row is one line: what has no room is left out in that order.
    """
    from rich.cells import cell_len

    out = console()
    lines = [[" ".join(printable(cell).splitlines()) for cell in row] for row in (columns, *rows)]
    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    if not out.is_terminal:
        for row in lines:
            sys.stdout.write(f"{_padded(row, widths).rstrip()}\n")
        return
    ranges = _lines_of_columns(widths, out.width)
    for name in spare:
        if len(ranges) > 1:
            place = lines[0].index(name)
            for cells in (*lines, widths):
                del cells[place]
            ranges = _lines_of_columns(widths, out.width)
    if spare:
        room = max(_LEAST_FOLDED, out.width - sum(widths[:-1]) - len(_GAP) * (len(widths) - 1))
        lines = [[*row[:-1], one_line(row[-1], room)] for row in lines]
    for row, style in zip(lines, ("bold", *[""] * (len(lines) - 1)), strict=True):
        for start, end in ranges:
            _print_cells(out, row[start:end], widths[start:end], indented=start > 0, style=style)


def _lines_of_columns(widths: Sequence[int], room: int) -> list[tuple[int, int]]:
    """Return the ranges of columns that fit on one line; the last column of all may be folded."""
    wanted = [*widths[:-1], min(widths[-1], _LEAST_FOLDED)]
    ranges: list[tuple[int, int]] = []
    start, used = 0, -len(_GAP)
    for number, width in enumerate(wanted):
        if number > start and used + len(_GAP) + width > room:
            ranges.append((start, number))
            start, used = number, 0
        used += len(_GAP) + width
    return [*ranges, (start, len(widths))]


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
    from rich.cells import cell_len

    return _GAP.join(f"{cell}{' ' * (width - cell_len(cell))}" for cell, width in zip(cells, widths, strict=True))


def when(moment: datetime) -> str:
    """Return a moment in local time."""
    return f"{moment.astimezone():%Y-%m-%d %H:%M:%S}"
