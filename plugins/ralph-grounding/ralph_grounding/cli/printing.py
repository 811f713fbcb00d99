"""Output of the commands: JSON for programs, and text for readers that cannot control their terminal."""

import json
import re
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

__all__ = ["TIER_STYLES", "console", "counted", "one_line", "print_json", "print_line", "print_rows"]

TIER_STYLES = {"excellent": "green", "good": "cyan", "fair": "yellow", "poor": "red"}

_ACTING = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
_ENDLESS = 10_000


def console() -> "Console":
    """Make a console on standard output; in a pipe it folds no line."""
    from rich.console import Console

    out = Console(file=sys.stdout, highlight=False, markup=False, emoji=False)
    if not out.is_terminal:
        out.width = _ENDLESS
    return out


def one_line(text: str, most: int = 200) -> str:
    """Put a hostile text on one line, without terminal control characters, cut to `most` characters."""
    flat = " ".join(_ACTING.sub(" ", text[: 4 * most]).split())
    return flat if len(flat) <= most and len(text) <= 4 * most else f"{flat[: most - 1]}…"


def counted(number: int, one: str, many: str = "") -> str:
    """Format a number of things, as in "1 page" and "2 pages"."""
    return f"{number} {one if number == 1 else many or f'{one}s'}"


def print_json(value: Any) -> None:
    """Print a JSON value, indented, in ASCII for any reader."""
    sys.stdout.write(json.dumps(value, indent=2) + "\n")


def print_line(value: Any) -> None:
    """Print a JSON value as one line, flushed at once, in ASCII for any reader."""
    sys.stdout.write(f"{json.dumps(value)}\n")
    sys.stdout.flush()


def print_rows(columns: Sequence[str], rows: "Iterable[Sequence[str | Text]]") -> None:
    """Print rows under headings; omit the headings if all are empty. The last column folds if it is too wide."""
    from rich.table import Table
    from rich.text import Text

    out = console()
    table = Table(box=None, pad_edge=False, header_style="bold", show_header=any(columns))
    for number, column in enumerate(columns, start=1):
        last = number == len(columns)
        table.add_column(column, overflow="fold", no_wrap=not last)
    for row in rows:
        table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in row))
    if out.is_terminal:
        out.print(table)
        return
    with out.capture() as printed:
        out.print(table)
    sys.stdout.writelines(f"{line.rstrip()}\n" for line in printed.get().splitlines())
