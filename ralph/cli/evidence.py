"""Evidence as people see it: marked in the text that it was found in, and listed."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ralph.analysis.result import Evidence
from ralph.display.terminal import one_line
from ralph.views import printable

if TYPE_CHECKING:
    from rich.text import Text

__all__ = ["evidence_lines", "marked"]

_MOST = 20_000
_LISTED = 20


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


def evidence_lines(evidence: Iterable[Evidence]) -> "list[Text]":
    """A line for each piece, the weightiest first: its weight, what it is, what was said."""
    from rich.text import Text

    pieces = sorted(evidence, key=lambda piece: -abs(piece.weight))
    lines = [
        Text.assemble(
            (f"  {piece.weight:+5g}  ", _colour(piece)),
            (f"{piece.signal:<20} ", "dim"),
            f"“{one_line(piece.text, 60)}” " if piece.text else "",
            one_line(piece.why),
        )
        for piece in pieces[:_LISTED]
    ]
    if len(pieces) > _LISTED:
        lines.append(Text(f"  … {len(pieces) - _LISTED} more", style="dim"))
    return lines


def _colour(piece: Evidence) -> str:
    return "green" if piece.weight > 0 else "red" if piece.weight < 0 else "yellow"
