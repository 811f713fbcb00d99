"""The content of a report, and its texts made fit for display: cleaned, clipped, marked."""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from heapq import nsmallest
from itertools import pairwise
from typing import NamedTuple

from pydantic import BaseModel, Field

from ralph_grounding.comparison import Comparison
from ralph_grounding.result import AnalysisResult, TextPosition
from ralph_grounding.settings import TierSettings
from ralph_grounding.summary import APART, DomainScoreSummary

__all__ = [
    "LONGEST_RESPONSE",
    "MOST_ANALYSES",
    "MarkedSpan",
    "ReportData",
    "clipped",
    "marked_spans",
    "number",
    "web_address",
    "worst",
]

_UNSHOWN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufff9-\ufffb]"
)
_ADDRESS = re.compile(r"https?://[^\s\"'<>\\]{1,2000}", re.IGNORECASE)


def clipped(text: str, most: int = 300) -> str:
    """Return at most `most` characters, with an ellipsis if there are more. Controls, also of direction, become �."""
    shown = _UNSHOWN.sub("\ufffd", text[:most].replace("\r\n", "\n"))
    return f"{shown}…" if len(text) > most else shown


def number(value: float | None, digits: int = 0) -> str:
    """Format a score for readers; a dash if none exists. Minus signs are real ones."""
    if value is None:
        return "–"
    return f"{value:.{digits}f}".replace("-", "−") if round(value, digits) else f"{0:.{digits}f}"


def web_address(url: str) -> str:
    """Return the address if a link may lead there, else nothing: neither scripts nor files."""
    return url if _ADDRESS.fullmatch(url) else ""


MOST_ANALYSES = 50


class ReportData(BaseModel, frozen=True):
    """The content of a report; every part may be empty.

    Attributes:
        runs: the oldest first. The cards show the last one, the chart the last 60.
        analyses: those shown with their evidence, in the order of `worst`; at most 50.
        comparison: of providers or models, if there are two or more.
        tiers: the names of the mean scores.
    """

    title: str = "Answers against ground truth"
    generated_at: datetime
    runs: tuple[DomainScoreSummary, ...] = ()
    analyses: tuple[AnalysisResult, ...] = Field(default=(), max_length=MOST_ANALYSES)
    comparison: Comparison | None = None
    tiers: TierSettings = TierSettings()


def worst(analyses: Iterable[AnalysisResult], most: int = MOST_ANALYSES) -> tuple[AnalysisResult, ...]:
    """Return those with the lowest combined scores, the worst first; at most 50.

    Unscored ones come last, and after them those in another language.
    """
    return tuple(nsmallest(min(most, MOST_ANALYSES), analyses, key=_badness))


def _badness(analysis: AnalysisResult) -> tuple[bool, bool, float, str]:
    combined = analysis.scores.combined
    return APART in analysis.flags, combined is None, 0.0 if combined is None else combined, analysis.query_id


LONGEST_RESPONSE = 20_000
_MOST_NOTES, _LONGEST_NOTE = 5, 240


class MarkedSpan(NamedTuple):
    """A piece of the response with the same marks from beginning to end.

    Attributes:
        marks: "supported", "doubtful", "unknown", "mention", any number of them, with spaces between.
        note: the reason, shown on hovering.
    """

    text: str
    marks: str
    note: str


class _Mark(NamedTuple):
    at: TextPosition
    name: str
    note: str


def marked_spans(analysis: AnalysisResult) -> Iterator[MarkedSpan]:
    """Cut the first 20,000 characters of the response, in order and without a gap."""
    end = min(len(analysis.response), LONGEST_RESPONSE)
    marks = [mark for mark in _marks(analysis) if mark.at.start < mark.at.end and mark.at.start < end]
    edges = sorted({0, end} | {edge for mark in marks for edge in (mark.at.start, mark.at.end) if edge <= end})
    waiting = sorted(marks, key=lambda mark: mark.at.start, reverse=True)
    open_: list[_Mark] = []
    for start, stop in pairwise(edges):
        open_ = [mark for mark in open_ if mark.at.end > start]
        while waiting and waiting[-1].at.start <= start:
            open_.append(waiting.pop())
        text = clipped(analysis.response[start:stop], LONGEST_RESPONSE)
        names = dict.fromkeys(mark.name for mark in open_)
        yield MarkedSpan(text, " ".join(names), "\n".join(mark.note for mark in open_[:_MOST_NOTES]))


def _marks(analysis: AnalysisResult) -> Iterator[_Mark]:
    feedback = analysis.feedback
    for highlight in feedback.highlights.highlights:
        source = highlight.ground_truth_source
        note = f"{clipped(source.page_url, 120)}: {clipped(source.matched_text, _LONGEST_NOTE)}"
        start = highlight.response_range.start
        yield _Mark(TextPosition(start=start, end=start + len(highlight.response_text.rstrip())), "supported", note)
    for one in feedback.claims.contradicts:
        yield _Mark(one.position, "doubtful", f"may contradict: {clipped(one.claim, _LONGEST_NOTE)}")
        for conflict in one.conflicts:
            yield _Mark(conflict.position, "conflict", f"{conflict.kind}: expected {clipped(conflict.expected, 60)}")
    for segment in feedback.claims.not_in_ground_truth:
        yield _Mark(segment.position, "unknown", "not in the ground truth, which need not be false")
    if analysis.scores.attribution:
        for mention in analysis.scores.attribution.mentions:
            yield _Mark(mention.position, "mention", f"names the source by {mention.type}")
