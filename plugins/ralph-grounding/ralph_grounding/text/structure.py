"""The statements of a text, with its structure in words: list items below their lead-in, table cells by row and column.

"It does not contain:" above "- a battery" states that it does not contain a battery; a cell states its value for the
first cell of its row under the header of its column.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from ralph_grounding.text.sentences import Span, sentences, trimmed

__all__ = ["Cell", "Stated", "stated"]

_ROW = re.compile(r"[ \t]*\|.*\||[^|\n]*\S[ \t]+\|[ \t]+\S.*")
_RULE = frozenset(" \t|:+-")
_ITEM = re.compile(r"[ \t]{0,16}(?:[-*+•]|\d{1,3}[.)])[ \t]+(?=\S)")
_HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]+")
_YES = frozenset({"yes", "✓", "✔", "✅", "true", "included", "ja", "oui", "sí"})
_NO = frozenset({"no", "✗", "✘", "❌", "x", "–", "-", "—", "false", "none", "nein", "non"})
_MOST_CELLS = 40
_LONGEST = 300
"""The maximum length of a lead-in and of a cell: each is repeated in many statements."""
_MOST_ROWS = 1000


class Cell(NamedTuple):
    """A cell of a table.

    Attributes:
        kind: the header of the first column: what the rows are.
        key: the first cell of its row.
        column: the values of its column, its own among them.
    """

    kind: str
    key: str
    header: str
    value: str
    column: frozenset[str]


class Stated(NamedTuple):
    """A statement of a text.

    Attributes:
        text: the statement; the source itself if `exact`, else with the words that its place gives it.
        span: the source.
        exact: `text` is the source, so that positions in both correspond.
        cell: the cell that it comes from, if any.
    """

    text: str
    span: Span
    exact: bool = True
    cell: Cell | None = None


@lru_cache(maxsize=256)
def stated(text: str) -> tuple[Stated, ...]:
    """Return the statements of a text, in order. Sentences, list items and cells of tables are separate."""
    return tuple(_stated(text))


def _stated(text: str) -> Iterator[Stated]:
    prose = Span(0, 0)
    lead, table = "", list[Span]()
    for line in _lines(text):
        written = text[line.start : line.end]
        if "|" in written and _ROW.fullmatch(written):
            yield from _prose(text, prose)
            prose = Span(line.end, line.end)
            table.append(line)
            continue
        yield from _rows(text, table)
        table = []
        if item := _ITEM.match(written):
            yield from _prose(text, prose)
            lead = _lead(text, prose) or lead
            prose = Span(line.end, line.end)
            yield from _item(text, Span(line.start + item.end(), line.end), lead)
        else:
            if not written.strip() and text[prose.start : prose.end].strip() == "":
                prose = Span(line.end, line.end)
                continue
            if prose.start == prose.end:
                prose = line
            elif _HEADING.match(written) or text[prose.start : prose.end].rstrip().endswith(":"):
                yield from _prose(text, prose)
                prose = line if written.strip() else prose
            prose = Span(prose.start, line.end)
            if written.strip() and not written.rstrip().endswith(":"):
                lead = ""
    yield from _rows(text, table)
    yield from _prose(text, prose)


def _lines(text: str) -> Iterator[Span]:
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield Span(start, end)
        start = end + 1


def _prose(text: str, span: Span) -> Iterator[Stated]:
    for sentence in sentences(text, *span):
        start, end = trimmed(text, sentence)
        if heading := _HEADING.match(text, start, end):
            start = heading.end()
        if start < end:
            yield Stated(text[start:end], Span(start, end))


def _lead(text: str, prose: Span) -> str:
    """Return the last sentence of the prose without its colon, if it announces a list."""
    written = text[prose.start : prose.end].rstrip()
    if not written.endswith(":"):
        return ""
    last = sentences(written)[-1]
    return written[last.start :].strip().rstrip(":").lstrip("#* ").rstrip("*")[-_LONGEST:]


def _item(text: str, span: Span, lead: str) -> Iterator[Stated]:
    for place, sentence in enumerate(sentences(text, *span)):
        start, end = trimmed(text, sentence)
        if start < end:
            written = text[start:end]
            yield Stated(f"{lead} {written}" if lead and not place else written, Span(start, end), not lead)


def _rows(text: str, lines: Sequence[Span]) -> Iterator[Stated]:
    """Yield each cell of a table with the first of its row and its column's header; the only row as it is."""
    rows = [
        (line, _cells(text[line.start : line.end]))
        for line in lines
        if not _RULE.issuperset(text[line.start : line.end])
    ]
    if len(rows) < 2:
        yield from (Stated(" ".join(cells), line, exact=False) for line, cells in rows)
        return
    (_, headers), *body = rows[: 1 + _MOST_ROWS]
    columns = [frozenset(cells[at] for _, cells in body if at < len(cells)) for at in range(len(headers))]
    for line, cells in body:
        for header, value, column in list(zip(headers, cells, columns, strict=False))[1:_MOST_CELLS]:
            cell = Cell(headers[0], cells[0], header, value, column)
            yield Stated(_written(cell), line, exact=False, cell=cell)


def _written(cell: Cell) -> str:
    row = f"{cell.kind} {cell.key}".strip()
    match cell.value.casefold():
        case value if value in _YES:
            return f"{row} {cell.header}"
        case value if value in _NO:
            return f"{row} no {cell.header}"
        case _:
            return f"{row} {cell.header} {cell.value}"


def _cells(row: str) -> list[str]:
    return [cell.strip().strip("*")[:_LONGEST] for cell in row.strip().strip("|").split("|")]
