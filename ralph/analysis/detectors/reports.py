"""The shape of a final report: a summary, a list of what was done, and how it was verified.

Two of the three are a report. A report is no claim by itself, but it is a second signal beside one.
"""

from collections.abc import Iterable, Iterator

from ralph.analysis.detectors.announcements import announced
from ralph.analysis.detectors.assignment import assignment
from ralph.analysis.detectors.checks import is_of_check
from ralph.analysis.lexicon import Role
from ralph.analysis.scope import Scope
from ralph.analysis.signals import HIGH, Reply, Signal
from ralph.analysis.text import Span
from ralph.analysis.vocabulary import Hit
from ralph.system.text import pattern

__all__ = ["detect_reports"]

_ITEM = pattern(r"\n[ \t]{0,8}(?:[-*+•✅✓✔☑]|\d{1,2}[.)]|\*\*\d|\|)[ \t*]")
_TICK_MARKS = "✅✓✔☑"
_ITEMS, _TICKS = 2, 3
_LOOKED_AT = 50
_WORDS: frozenset[Role] = frozenset({"recap", "fault", "verified", "passes", "committed"})


def detect_reports(reply: Reply) -> Iterable[Signal]:
    """The report after the last announcement; of one pass of a loop only where that is the task."""
    if not reply.scope.has(_WORDS) and reply.reading.unfenced.isascii():
        return ()  # neither a word nor a tick
    return _reports(reply)


def _reports(reply: Reply) -> Iterator[Signal]:
    begin = announced(reply)
    if verified := _verification(reply, begin):
        yield Signal("verified", "", *verified, 25, "Something is said to have been verified.")
    recap = _recap(reply, begin)
    if recap == (0, 0):
        return
    text = reply.reading.unfenced
    ticked = not text.isascii() and sum(map(text[begin:].count, _TICK_MARKS)) >= _TICKS
    closed = bool(verified or ticked or _is_committed(reply, begin))
    if (recap and closed) or ((recap or closed) and (ticked or _has_items(text[begin:]))):
        span = recap or verified or (begin, begin)
        yield Signal("completion_report", "", *span, HIGH, "It has the shape of a final report.")


def _has_items(text: str) -> bool:
    text, end = f"\n{text}", 0
    for _ in range(_ITEMS):
        item = _ITEM.search(text, end)
        if not item:
            return False
        end = item.end()
    return True


def _recap(reply: Reply, begin: int) -> Span | None:
    """Where it says that it sums up; (0, 0) where that is of one pass of the loop."""
    scope = reply.scope
    if not scope.of("recap"):
        return None
    task = assignment(reply.context.task)
    span: Span | None = None
    for hit in scope.within("recap", (begin, len(scope.reading.prose)))[:_LOOKED_AT]:
        if not task.given and scope.within("part", scope.reading.sentence(hit.start)):
            return 0, 0
        span = span or (hit.start, hit.end)
    return span


def _verification(reply: Reply, begin: int) -> Span | None:
    """A check that is said to pass, or to find no errors."""
    scope = reply.scope
    if scope.of("absence"):
        for hit in reversed(scope.of("fault")[-_LOOKED_AT:]):
            if hit.start >= begin and (absence := scope.before("absence", hit, 1)):
                return absence.start, hit.end
    for hit in scope.of("verified")[-_LOOKED_AT:]:
        if hit.start >= begin and _is_told(scope, hit):
            return hit.start, hit.end
    for hit in scope.of("passes")[-_LOOKED_AT:]:
        if hit.start >= begin and is_of_check(reply, hit) and _is_told(scope, hit):
            return hit.start, hit.end
    return None


def _is_told(scope: Scope, verdict: Hit) -> bool:
    """Whether a verdict has been reached: it is neither denied nor still to come."""
    return not (scope.negated(verdict, 3) or scope.before("future", verdict, 6))


def _is_committed(reply: Reply, begin: int) -> bool:
    committed = reply.scope.of("committed")
    return bool(committed) and committed[-1].start >= begin
