"""The shape of a final report: a summary, a list of what was done, and how it was verified.

Two of the three are a report. A report is no claim by itself, but it is a second signal beside one.
"""

import re
from collections.abc import Iterable
from itertools import islice

from ralph.analysis.detectors.announcements import announced
from ralph.analysis.detectors.assignment import assignment
from ralph.analysis.detectors.checks import is_of_check
from ralph.analysis.signals import HIGH, Reply, Signal
from ralph.analysis.text import Span
from ralph.pattern import pattern

__all__ = ["detect_reports"]

_ITEM = pattern(r"\n[ \t]{0,8}(?:[-*+•✅✓✔☑]|\d{1,2}[.)]|\*\*\d|\|)[ \t*]")
_TICK = pattern(r"[✅✓✔☑]")
_ITEMS, _TICKS = 2, 3
_LOOKED_AT = 50


def detect_reports(reply: Reply) -> Iterable[Signal]:
    """The report after the last announcement; of one pass of a loop only where that is the task."""
    begin = announced(reply)
    if verified := _verification(reply, begin):
        yield Signal("verified", "", *verified, 25, "Something is said to have been verified.")
    recap = _recap(reply, begin)
    if recap == (0, 0):
        return
    text = f"\n{reply.reading.unfenced[begin:]}"
    ticked = not text.isascii() and _has(text, _TICK, _TICKS)
    closed = bool(verified or ticked or _is_committed(reply, begin))
    if (recap and closed) or ((recap or closed) and (ticked or _has(text, _ITEM, _ITEMS))):
        span = recap or verified or (begin, begin)
        yield Signal("completion_report", "", *span, HIGH, "It has the shape of a final report.")


def _has(text: str, mark: re.Pattern[str], times: int) -> bool:
    return sum(1 for _ in islice(mark.finditer(text), times)) == times


def _recap(reply: Reply, begin: int) -> Span | None:
    """Where it says that it sums up; (0, 0) where that is of one pass of the loop."""
    scope, task = reply.scope, assignment(reply.context.task)
    span: Span | None = None
    for hit in scope.within("recap", (begin, len(scope.reading.prose)))[:_LOOKED_AT]:
        if not task.given and scope.within("part", scope.reading.sentence(hit.start)):
            return 0, 0
        span = span or (hit.start, hit.end)
    return span


def _verification(reply: Reply, begin: int) -> Span | None:
    """A check that is said to pass, or to find no errors."""
    scope = reply.scope
    for hit in reversed(scope.of("fault")[-_LOOKED_AT:]):
        if hit.start >= begin and (absence := scope.before("absence", hit, 1)):
            return absence.start, hit.end
    passing = [hit for hit in scope.of("passes")[-_LOOKED_AT:] if is_of_check(reply, hit)]
    for hit in (*scope.of("verified")[-_LOOKED_AT:], *passing):
        if hit.start >= begin and not (scope.negated(hit, 3) or scope.before("future", hit, 6)):
            return hit.start, hit.end
    return None


def _is_committed(reply: Reply, begin: int) -> bool:
    return any(hit.start >= begin for hit in reply.scope.of("committed")[-_LOOKED_AT:])
