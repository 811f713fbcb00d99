"""A response cut at the ends of its marks."""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from ralph_grounding.report.data import clipped
from ralph_grounding.result import AnalysisResult, TextPosition

__all__ = ["LONGEST_RESPONSE", "Stretch", "stretches"]

LONGEST_RESPONSE = 20_000
_MOST_NOTES, _LONGEST_NOTE = 5, 240


class Stretch(NamedTuple):
    """A piece of the response with the same marks from beginning to end.

    Attributes:
        marks: "borne-out", "doubtful", "unknown", "mention", any number of them, with spaces between.
        note: the reason, shown on hovering.
    """

    text: str
    marks: str
    note: str


class _Mark(NamedTuple):
    at: TextPosition
    name: str
    note: str


def stretches(analysis: AnalysisResult) -> Iterator[Stretch]:
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
        yield Stretch(text, " ".join(names), "\n".join(mark.note for mark in open_[:_MOST_NOTES]))


def _marks(analysis: AnalysisResult) -> Iterator[_Mark]:
    feedback = analysis.feedback
    for highlight in feedback.highlights.highlights:
        source = highlight.ground_truth_source
        note = f"{clipped(source.page_url, 120)}: {clipped(source.matched_text, _LONGEST_NOTE)}"
        start = highlight.response_range.start
        yield _Mark(TextPosition(start=start, end=start + len(highlight.response_text.rstrip())), "borne-out", note)
    for one in feedback.claims.contradicts:
        yield _Mark(one.position, "doubtful", f"may contradict: {clipped(one.claim, _LONGEST_NOTE)}")
        for conflict in one.conflicts:
            yield _Mark(conflict.position, "conflict", f"{conflict.kind}: expected {clipped(conflict.expected, 60)}")
    for segment in feedback.claims.not_in_ground_truth:
        yield _Mark(segment.position, "unknown", "not in the ground truth, which does not make it false")
    if analysis.scores.attribution:
        for mention in analysis.scores.attribution.mentions:
            yield _Mark(mention.position, "mention", f"names the source by {mention.type}")
