"""The chain from the signals to a decision, as people read it in a terminal."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ralph.cli.output import console
from ralph.watch.terminal import one_line, print_rows, sign

if TYPE_CHECKING:
    from ralph.pipeline.explain import Stage

__all__ = ["chain_json", "print_chain"]

_SIGNS = {"for": ("✓", "green"), "against": ("✗", "red"), "told": ("·", "dim")}
_WIDTH = 16


def print_chain(stages: "Sequence[Stage]") -> None:
    """Each stage with its conclusion, and under it what the conclusion rests on."""
    from rich.text import Text

    out = console()
    for number, stage in enumerate(stages, start=1):
        rows = [(Text(f"{number:>2} {stage.name}", style="bold"), Text(one_line(stage.conclusion, 400)))]
        for line in stage.lines:
            mark, style = _SIGNS[line.mark]
            rows.append((Text(f"{sign(out, mark):>{_WIDTH}}", style=style), Text(one_line(line.text, 300))))
        print_rows(out, rows, width=_WIDTH)


def chain_json(stages: "Sequence[Stage]") -> list[dict[str, Any]]:
    """The same for programs."""
    return [stage.model_dump(mode="json") for stage in stages]
