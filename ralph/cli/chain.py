"""The chain from the signals to a decision, as people read it in a terminal."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ralph.cli.tell import console
from ralph.display.terminal import one_line, sign

if TYPE_CHECKING:
    from ralph.explanation import Stage

__all__ = ["chain_json", "print_chain"]

_SIGNS = {"for": ("✓", "green"), "against": ("✗", "red"), "told": ("·", "dim")}
_NAME = 14


def print_chain(stages: "Sequence[Stage]") -> None:
    """Each stage with its conclusion, and under it what the conclusion rests on."""
    from rich.table import Table
    from rich.text import Text

    out = console()
    for number, stage in enumerate(stages, start=1):
        heading = Text(f"{number:>2} {stage.name:<{_NAME - 1}}", style="bold")
        rows = [(heading, Text(one_line(stage.conclusion, 400)))]
        for line in stage.lines:
            mark, style = _SIGNS[line.mark]
            rows.append((Text(sign(out, mark), style=style, justify="right"), Text(one_line(line.text, 300))))
        if not out.is_terminal:
            out.print(*(Text.assemble(f"{name.plain:>{_NAME + 2}} ", text) for name, text in rows), sep="\n")
            continue
        grid = Table.grid(padding=(0, 1, 0, 0))
        grid.add_column(width=_NAME + 2)
        grid.add_column(overflow="fold")
        for row in rows:
            grid.add_row(*row)
        out.print(grid)


def chain_json(stages: "Sequence[Stage]") -> list[dict[str, Any]]:
    """The same for programs."""
    return [stage.model_dump(mode="json") for stage in stages]
