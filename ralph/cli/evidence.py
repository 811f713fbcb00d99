"""Evidence in a terminal: marked in its text, listed, and as the chain from the signals to a decision."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ralph.analysis.result import Evidence
from ralph.cli.output import console
from ralph.system.text import one_line, printable
from ralph.types import evolve
from ralph.watch.terminal import print_rows, print_text, sign

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from ralph.pipeline.explain import Stage

_MOST = 20_000
_LISTED = 20
_LABEL = 29
_STAGE = 16
_SIGNS = {"for": ("✓", "green"), "against": ("✗", "red"), "told": ("·", "dim")}


def marked(text: str, evidence: Sequence[Evidence]) -> "Text":
    """Return a text with the evidence for completion in green, and the evidence against it in red."""
    from rich.text import Text

    whole = Text()
    position = 0
    for piece in sorted((piece for piece in evidence if piece.end), key=lambda piece: (piece.start, -piece.end)):
        start, end = max(piece.start, position), min(piece.end, _MOST)
        if start >= end:
            continue
        whole.append(printable(text[position:start], _MOST))
        whole.append(printable(text[start:end], _MOST), style=f"bold {_colour(piece)}")
        position = end
    whole.append(printable(text[position:_MOST], _MOST))
    if len(text) > _MOST:
        whole.append(f"\n… {len(text) - _MOST:,} more characters", style="dim")
    return whole


def print_evidence(out: "Console", evidence: Iterable[Evidence]) -> None:
    """Print each distinct piece of evidence with its weight, signal and quote, the heaviest first."""
    from rich.text import Text

    counted = Counter(evolve(piece, start=0, end=0) for piece in evidence)
    pieces = sorted(counted, key=lambda piece: -abs(piece.weight))
    rows: list[tuple[Text, str]] = []
    for piece in pieces[:_LISTED]:
        quoted = f"“{one_line(piece.text, 60)}” " if piece.text else ""
        times = f" ({counted[piece]} times)" if counted[piece] > 1 else ""
        label = Text.assemble((f"  {piece.weight:+5g}  ", _colour(piece)), (piece.signal, "dim"))
        rows.append((label, f"{quoted}{one_line(piece.why)}{times}"))
    print_rows(out, rows, width=_LABEL)
    if len(pieces) > _LISTED:
        print_text(out, f"  … {len(pieces) - _LISTED} more", style="dim")


def _colour(piece: Evidence) -> str:
    return "green" if piece.weight > 0 else "red" if piece.weight < 0 else "yellow"


def print_chain(stages: "Sequence[Stage]") -> None:
    """Print each stage with its conclusion and the facts that support it."""
    from rich.text import Text

    out = console()
    for number, stage in enumerate(stages, start=1):
        rows = [(Text(f"{number:>2} {stage.name}", style="bold"), one_line(stage.conclusion, 400))]
        for line in stage.lines:
            mark, style = _SIGNS[line.mark]
            rows.append((Text(f"{sign(out, mark):>{_STAGE}}", style=style), one_line(line.text, 300)))
        print_rows(out, rows, width=_STAGE)


def chain_json(stages: "Sequence[Stage]") -> list[dict[str, Any]]:
    """Return the chain as JSON values."""
    return [stage.model_dump(mode="json") for stage in stages]
