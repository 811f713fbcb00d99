"""Evidence as people see it: marked in the text that it was found in, and listed."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ralph.analysis.result import Evidence
from ralph.records.projection import printable
from ralph.types import evolve
from ralph.watch.terminal import one_line, print_rows

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

__all__ = ["marked", "print_evidence"]

_MOST = 20_000
_LISTED = 20
_LABEL = 29


def marked(text: str, evidence: Sequence[Evidence]) -> "Text":
    """The text with what counts for completion in green, and what counts against it in red."""
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
    """The pieces, the weightiest first: the weight, what it is, what was said. What says the same stands there once."""
    from rich.text import Text

    counted = Counter(evolve(piece, start=0, end=0) for piece in evidence)
    pieces = sorted(counted, key=lambda piece: -abs(piece.weight))
    rows = [
        (
            Text.assemble((f"  {piece.weight:+5g}  ", _colour(piece)), (piece.signal, "dim")),
            Text(_told(piece, counted[piece])),
        )
        for piece in pieces[:_LISTED]
    ]
    print_rows(out, rows, width=_LABEL)
    if len(pieces) > _LISTED:
        out.print(Text(f"  … {len(pieces) - _LISTED} more", style="dim"))


def _told(piece: Evidence, times: int) -> str:
    quoted = f"“{one_line(piece.text, 60)}” " if piece.text else ""
    return f"{quoted}{one_line(piece.why)}{f' ({times} times)' if times > 1 else ''}"


def _colour(piece: Evidence) -> str:
    return "green" if piece.weight > 0 else "red" if piece.weight < 0 else "yellow"
