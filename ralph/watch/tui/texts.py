"""Texts of the app as styled content: replies with their evidence, patches, figures, bars.

Nothing here is parsed as textual's markup, and no control character of an agent's text is left in it.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from textual.content import Content, Span

from ralph.analysis.result import Evidence
from ralph.system.text import one_line, pattern, printable
from ralph.types import evolve

MOST = 20_000
"""Characters of a text that are shown."""

MUTED = "$foreground 55%"
_BAR = "▁▂▃▄▅▆▇█"
_FOR, _AGAINST, _REPORTED = "$text-success on $success-muted", "$text-error on $error-muted", "$text-warning"

_FENCE = pattern(r"\s{0,8}(?:```|~~~)")
_BLOCK = pattern(r"(\s{0,20})(?:(#{1,6} +)|([-*+] +\[[ xX]\] )|([-*+] +)|(\d{1,3}[.)] +)|(>+ ?))")
_INLINE = pattern(
    r"`([^`\n]{1,300})`|\*\*([^*\n]{1,300})\*\*|__([^_\n]{1,300})__|(?<![\w*])\*([^*\s][^*\n]{0,300})\*(?![\w*])"
    r"|\[([^\]\[\n]{1,200})\]\([^)(\s]{1,300}\)"
)
_INLINE_STYLES = ("$text-accent", "bold", "bold", "italic", "underline")

_PATCH = (
    ("+++", "bold"),
    ("---", "bold"),
    ("diff ", "bold $text-primary"),
    ("@@", "$text-accent"),
    ("+", "$text-success"),
    ("-", "$text-error"),
    ("[", MUTED),
)


class _Piece(NamedTuple):
    """A part of a text: where it stands, what is shown for it, and how."""

    start: int
    end: int
    shown: str
    style: str


def _verbatim(text: str, start: int, end: int, style: str) -> Iterator[_Piece]:
    if start < end:
        yield _Piece(start, end, text[start:end], style)


def _inline(text: str, start: int, end: int, style: str) -> Iterator[_Piece]:
    """Yield a part of a line, without the marks of code, weight and links."""
    at = start
    for found in _INLINE.finditer(text, start, end):
        group = found.lastindex or 1
        yield from _verbatim(text, at, found.start(), style)
        yield _Piece(found.start(), found.start(group), "", "")
        yield from _verbatim(text, *found.span(group), f"{style} {_INLINE_STYLES[group - 1]}".strip())
        yield _Piece(found.end(group), found.end(), "", "")
        at = found.end()
    yield from _verbatim(text, at, end, style)


def _line(text: str, start: int, end: int) -> Iterator[_Piece]:
    found = _BLOCK.match(text, start, end)
    if found is None:
        yield from _inline(text, start, end, "")
        return
    indent, heading, box, bullet, _, quote = found.groups()
    at = start + len(indent)
    yield from _verbatim(text, start, at, "")
    shown, style, rest = found[0][len(indent) :], "", ""
    if heading:
        shown, rest = "", "bold $text-primary" if len(heading.strip()) < 3 else "bold"
    elif box:
        ticked = "x" in box.lower()
        shown, style = ("☑ " if ticked else "☐ "), ("$text-success" if ticked else MUTED)
    elif bullet:
        shown, style = "• ", MUTED
    elif quote:
        shown, style, rest = "▌ ", MUTED, "italic"
    yield _Piece(at, found.end(), shown, style)
    yield from _inline(text, found.end(), end, rest)


def _pieces(text: str) -> Iterator[_Piece]:
    fenced = False
    start = 0
    for line in text.splitlines(keepends=True):
        end = start + len(line.rstrip("\n"))
        if _FENCE.match(text, start, end):
            fenced = not fenced
            yield _Piece(start, start + len(line), "", "")
            start += len(line)
            continue
        elif fenced:
            yield _Piece(start, start, "  ", "")
            yield from _verbatim(text, start, end, "$text-accent")
        else:
            yield from _line(text, start, end)
        yield _Piece(end, start + len(line), line[end - start :], "")
        start += len(line)


def markdown(text: str, evidence: Sequence[Evidence] = ()) -> Content:
    """Return untrusted Markdown for reading, with the evidence in it highlighted.

    Args:
        text: as stored; the places of the evidence refer to it.
        evidence: for completion is shown in green, against it in red.
    """
    cut = text[:MOST]
    placed = [piece for piece in evidence if piece.start < piece.end <= len(cut)]
    edges = sorted({0, len(cut), *(piece.start for piece in placed), *(piece.end for piece in placed)})
    parts = [printable(cut[start:end], MOST) for start, end in pairwise(edges)]
    moved = dict(zip(edges, accumulate(map(len, parts), initial=0), strict=True))
    clean = "".join(parts)
    pieces = list(_pieces(clean))
    at = list(accumulate((len(piece.shown) for piece in pieces), initial=0))
    spans = [
        Span(begin, begin + len(piece.shown), piece.style)
        for begin, piece in zip(at, pieces, strict=False)
        if piece.style and piece.shown
    ]
    starts = [piece.start for piece in pieces]

    def place(offset: int) -> int:
        """Return where a character of the clean text is shown."""
        index = max(0, bisect_left(starts, offset + 1) - 1)
        piece = pieces[index]
        same = len(piece.shown) == piece.end - piece.start
        return at[index] + (min(offset - piece.start, len(piece.shown)) if same else 0)

    if pieces:
        spans += [Span(place(moved[each.start]), place(moved[each.end]), _tone(each)) for each in placed]
    shown = "".join(piece.shown for piece in pieces)
    if len(text) > MOST:
        spans.append(Span(len(shown), len(shown) + 80, MUTED))
        shown += f"\n… {len(text) - MOST:,} more characters"
    return Content(shown, [span for span in spans if span.start < span.end])


def _tone(piece: Evidence) -> str:
    return _FOR if piece.weight > 0 else _AGAINST if piece.weight < 0 else _REPORTED


def labelled(rows: Iterable[tuple[Content, str | Content]], indent: int, width: int) -> Content:
    """Return texts beside labels of at most `indent` cells; long texts are folded in their own column."""
    lines: list[Content] = []
    for label, text in rows:
        folded = (Content(text) if isinstance(text, str) else text).wrap(max(10, width - indent)) or [Content()]
        lines.append(Content.assemble(label, " " * (indent - label.cell_length), folded[0]))
        lines += [line.pad_left(indent) for line in folded[1:]]
    return Content("\n").join(lines)


def evidence_lines(evidence: Iterable[Evidence], width: int, most: int = 12) -> Content:
    """Return each distinct piece of evidence in a line, the heaviest first."""
    pieces = sorted(
        dict.fromkeys(evolve(each, start=0, end=0) for each in evidence), key=lambda each: -abs(each.weight)
    )
    rows: list[tuple[Content, str | Content]] = []
    for piece in pieces[:most]:
        quoted = f"“{one_line(piece.text, 60)}” " if piece.text else ""
        label = Content.styled(f"{piece.weight:+5g}", _tone(piece).split(" on ")[0])
        signal = (f" · {one_line(piece.signal, 40)}", MUTED)
        rows.append((label, Content.assemble(f"{quoted}{one_line(piece.why)}", signal)))
    if len(pieces) > most:
        rows.append((Content(), Content.styled(f"… {len(pieces) - most} more", MUTED)))
    return labelled(rows, 7, width)


def patch(text: str, most: int = 1_500) -> Content:
    """Return a patch with its lines coloured, at most so many of them."""
    lines = text.split("\n", most)
    rest = lines[most:]
    parts: list[str | tuple[str, str]] = []
    for line in lines[:most]:
        style = next((style for start, style in _PATCH if line.startswith(start)), "")
        parts.append((f"{printable(line, 500)}\n", style))
    if rest:
        parts.append((f"… {rest[0].count(chr(10)) + 1:,} more lines\n", MUTED))
    return Content.assemble(*parts).rstrip()


def gauge(used: float, most: float, width: int = 8, *, wanted: bool = False) -> Content:
    """Return a bar of what is used of a limit, or of what is done if more is better."""
    share = min(1.0, used / most) if most else 1.0
    full = round(share * width)
    style = "$text-error" if share >= 1 else "$text-warning" if share >= 0.8 else "$text-success"
    style = "$text-success" if wanted else style
    return Content.assemble(("━" * full, style), ("━" * (width - full), "$foreground 20%"))


def bars(values: Sequence[float | None], width: int, height: int, style: str) -> Content:
    """Return a bar chart of values, oldest first; more values than columns share a column by their maximum."""
    each = max(1, min(4, width // max(1, len(values))))
    columns = min(width // each, len(values))
    shared = [
        [value for value in values[len(values) * n // columns : len(values) * (n + 1) // columns] if value is not None]
        for n in range(columns)
    ]
    tops = [max(each, default=None) for each in shared]
    highest = max((top for top in tops if top is not None), default=0) or 1
    eighths = [None if top is None else max(1, round(top / highest * height * 8)) for top in tops]
    rows = [
        "".join(_bar("·" if n is None and not row else _block((n or 0) - 8 * row), each) for n in eighths)
        for row in reversed(range(height))
    ]
    return Content.styled("\n".join(rows), style)


def _bar(block: str, width: int) -> str:
    return block if width == 1 else block * (width - 1) + " "


def _block(eighths: int) -> str:
    return " " if eighths <= 0 else _BAR[min(eighths, 8) - 1]
