"""Questions to a person, asked instead of working."""

from collections.abc import Iterable

from ralph.analysis.completion import completion
from ralph.analysis.scope import Scope
from ralph.analysis.signals import Reply, Signal
from ralph.analysis.text import Reading, Span

__all__ = ["detect_questions"]

_TAIL = 400
_ASKS = "?？"


def detect_questions(reply: Reply) -> Iterable[Signal]:
    """The question that the reply ends with, if it asks a person."""
    span = _question(reply.scope, finished=completion(reply.signals).detected)
    if span:
        yield Signal("question", "", *span, -40, "It asks a person.", "question")


def _question(scope: Scope, *, finished: bool) -> Span | None:
    """The question that the reply ends with, if it asks a person; an offer after finished work is none.

    A plea for the answer may stand behind it ("Please let me know."), or alone ("Please confirm that I may …").
    """
    reading = scope.reading
    end = _end(reading, len(reading.prose))
    begin = _begin(reading, end)
    if end and reading.prose[end - 1] not in _ASKS and scope.within("plea", (begin, end)):
        before = _end(reading, begin)
        if before and reading.prose[before - 1] in _ASKS:
            begin = _begin(reading, before)
        elif not scope.within("pleading", (begin, end)) or finished:
            return None
    elif not end or reading.prose[end - 1] not in _ASKS or not _to_person(scope, (begin, end)):
        return None
    if scope.within("offer", (begin, end)) and finished:
        return None
    return (begin, end) if reading.text[begin:end].strip() else None


def _to_person(scope: Scope, span: Span) -> bool:
    return bool(scope.within("person", span) or scope.within("offer", span))


def _end(reading: Reading, before: int) -> int:
    """Where the last word or mark before a position ends."""
    return len(reading.prose[max(0, before - _TAIL) : before].rstrip(" \t\n*_)")) + max(0, before - _TAIL)


def _begin(reading: Reading, end: int) -> int:
    """Where the sentence that ends there begins, at most so far back."""
    return max(reading.sentence(end - 1)[0], end - _TAIL) if end else 0
