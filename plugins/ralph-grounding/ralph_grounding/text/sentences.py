"""Stretches of a text, and the boundaries of its sentences and paragraphs."""

import re
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["Span", "paragraphs", "sentences", "trimmed"]


class Span(NamedTuple):
    """`text[start:end]`, with 0 ≤ `start` ≤ `end` ≤ the text's length."""

    start: int
    end: int


def trimmed(text: str, span: Span) -> Span:
    """Return the same stretch without white space at its ends; empty, at its start, if there is nothing else."""
    piece = text[span.start : span.end]
    start = span.start + len(piece) - len(piece.lstrip())
    end = span.start + len(piece.rstrip())
    return Span(start, end) if start < end else Span(span.start, span.start)


_PARAGRAPH_END = re.compile(r"\n[ \t\r\f\v]*\n\s*")

# A sentence ends with its punctuation, the closing marks and the white space after it; or with a line that the next
# one does not continue: a list's, a table's, a heading's, a fence's.
_SENTENCE_END = re.compile(
    r"(?P<stop>[.!?…]{1,8}+)[\"'”’»)\]}*_`]{0,8}+(?:\s+|$)"
    r"|(?P<full>[。！？｡؟।]{1,8}+[」』”’)）】]{0,8}+\s*)"
    r"|(?P<line>\n[ \t]{0,64}(?=[-*+•|#>`]|\d{1,4}[.)]\s))"
)
_LAST_WORD = re.compile(r"[^\W_]{1,16}(?:\.[^\W_]{1,3}){0,4}$")
_ABBREVIATIONS = (
    "mr mrs ms dr prof sr jr st rev gen col lt sgt capt gov sen rep hon vs etc inc ltd co corp no nos vol fig figs eq "
    "ch sec p pp approx est dept univ jan feb mar apr jun jul aug sep sept oct nov dec e.g i.e cf al ca resp bzw usw "
    "z.b d.h u.a nr str bd hr fr abb vgl inkl mme mlle sra srta ej núm"
)
_ABBREVIATED = frozenset(_ABBREVIATIONS.split())
_INITIALS = re.compile(r"[^\W\d_](?:\.[^\W\d_]){0,4}")


def paragraphs(text: str) -> list[Span]:
    """Split the text at blank lines. Together the paragraphs cover it, each with the white space after it."""
    return _spans(text, 0, len(text), (match.end() for match in _PARAGRAPH_END.finditer(text)))


def sentences(text: str, start: int = 0, end: int | None = None) -> list[Span]:
    """Split `text[start:end]` into sentences. Together they cover that text, each with the white space after it.

    List items, table rows and headings are separate sentences; other line breaks end none, but blank lines do. A text
    without any punctuation is one sentence, however long.
    """
    last = len(text) if end is None else end
    ends = (
        boundary
        for paragraph in _spans(text, start, last, (m.end() for m in _PARAGRAPH_END.finditer(text, start, last)))
        for boundary in (*_sentence_ends(text, paragraph), paragraph.end)
    )
    return _spans(text, start, last, ends)


def _sentence_ends(text: str, paragraph: Span) -> Iterator[int]:
    for match in _SENTENCE_END.finditer(text, paragraph.start, paragraph.end):
        if match["stop"] != "." or not _abbreviates(text, match.start()):
            yield match.end() if match["line"] is None else match.start() + 1


def _abbreviates(text: str, point: int) -> bool:
    """Return True if the point belongs to an abbreviation, an initial or an item's number: the sentence continues."""
    word = _LAST_WORD.search(text, max(0, point - 32), point)
    if word is None:
        return False
    written = word.group()
    if written.isdecimal():
        before = text[max(0, word.start() - 64) : word.start()].rstrip(" \t")
        return len(written) <= 4 and (before.endswith("\n") or (not before and word.start() <= 64))
    if _INITIALS.fullmatch(written) and (written.isupper() or "." in written):
        return True
    return written.lower() in _ABBREVIATED


def _spans(text: str, start: int, end: int, ends: Iterator[int]) -> list[Span]:
    spans: list[Span] = []
    for boundary in ends:
        if start < boundary < end:
            spans.append(Span(start, boundary))
            start = boundary
    if start < end:
        spans.append(Span(start, end))
    return spans
