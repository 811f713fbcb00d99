"""Questions to a person, asked instead of working."""

from collections.abc import Iterable, Iterator, Sequence

from ralph.analysis.completion import completion
from ralph.analysis.lexicon import Role
from ralph.analysis.scope import Scope
from ralph.analysis.signals import Reply, Signal
from ralph.analysis.text import Reading, Span
from ralph.pattern import pattern

__all__ = ["detect_questions"]

_TAIL = 400
"""Characters that a question has at most, and how far apart two things at the end of a reply may stand."""
_LIST = 2_000
"""Characters that a list of options has at most."""
_SENTENCES = 4
"""Sentences before the last one in which a question may stand."""
_MARKS = "?？"
_OPTION = pattern(r"[ \t]*(?:[-*+•]|\(?[a-z0-9]{1,2}[.):、])[ \t*_]|[ \t]*$|[ \t]{2,}")
"""A line of a list of options: an item, the rest of one, or nothing."""
_ITEM = pattern(r"\s*(?:[-*+•]|\(?[a-z0-9]{1,2}[.):、])\s")
_WHY = pattern(r"\W*(?:why|how come|what if|so what|¿?por qué|为什么|為什麼)\b")
_PERSON: tuple[Role, ...] = ("person", "offer", "obstacle", "leave")


def detect_questions(reply: Reply) -> Iterable[Signal]:
    """The question that the reply ends with, if it asks a person."""
    if not _may_ask(reply.scope):
        return
    finished = completion(reply.signals).detected
    span = _question(reply.scope, reply.signals.of("work"), finished=finished)
    if span is None and not (finished or reply.signals.of("work", "announcement", "verified", "test_run")):
        span = _early(reply.scope)
    if span:
        yield Signal("question", "", *span, -40, "It asks a person.", "question")


def _may_ask(scope: Scope) -> bool:
    """Whether there is a mark or a plea anywhere: without one of them nothing asks."""
    return any(mark in scope.reading.prose for mark in _MARKS) or bool(scope.of("plea") or scope.of("pleading"))


def _question(scope: Scope, work: Sequence[Signal], *, finished: bool) -> Span | None:
    """The question that the reply ends with, if it asks a person; after finished work only whether to go on.

    A plea for the answer may stand behind it ("Please let me know."), or alone ("Please confirm that I may …"), and so
    may a list of options. Where no work is told, anything may in the same paragraph. A heading asks nobody.
    """
    reading = scope.reading
    end = _end(reading, len(reading.prose))
    last = _begin(reading, end), end
    span = _asked(scope, last, finished=finished) or _with_options(scope, end, finished=finished)
    if span is None:
        span = next(
            (before for before in _before(reading, last) if _asks(reading, before) and _speaks(scope, before)), None
        )
        if span and any(not span[0] <= told.start < span[1] for told in work):
            return None
    if span is None or reading.in_heading(span[0]):
        return None
    if finished and (scope.within("offer", span) or not scope.within("resume", span)):
        return None
    return span if reading.text[slice(*span)].strip() else None


def _asked(scope: Scope, last: Span, *, finished: bool) -> Span | None:
    """What the last sentence asks, or one shortly before it where the last is a plea."""
    reading = scope.reading
    if _asks(reading, last):
        return last if _speaks(scope, last) or not _in_list(reading, last) else None
    if not scope.within("plea", last):
        return None
    for before in _before(reading, last):
        if _asks(reading, before) or (scope.within("pleading", before) and not finished):
            return before[0], last[1]
    return last if scope.within("pleading", last) and not finished else None


def _early(scope: Scope) -> Span | None:
    """A question near the beginning of a reply that tells of no work, or one that begs for its answer anywhere; what
    follows explains it. Why something is so the agent asks itself.
    """
    reading = scope.reading
    begin = len(reading.prose) - len(reading.prose.lstrip())
    first = min(begin + _TAIL, len(reading.prose))
    marks = [place for mark in _MARKS if (place := reading.prose.find(mark, begin, first)) >= 0]
    for place in (*(hit.start for hit in scope.of("pleading")[:_SENTENCES]), *marks):
        start, end = reading.sentence(place)
        span = start, _end(reading, end)
        if not _asks(reading, span) or reading.in_heading(start) or _in_list(reading, span):
            continue
        if not _WHY.match(reading.prose, start):
            return span
    return None


def _before(reading: Reading, last: Span) -> Iterator[Span]:
    """The sentences before the last one, from the end: of its paragraph, but at least one."""
    begin = last[0]
    for index in range(_SENTENCES):
        end = _end(reading, begin)
        if not end or (index and "\n\n" in reading.prose[end:begin]):
            return
        begin = _begin(reading, end)
        yield begin, end


def _with_options(scope: Scope, end: int, *, finished: bool) -> Span | None:
    """The question right before the list that the reply ends with. It has to speak to a person: a report may put its
    own headings as questions.
    """
    reading = scope.reading
    start = max(0, end - _LIST)
    lines = reading.prose[start:end].split("\n")
    kept = len(lines)
    while kept and _OPTION.match(lines[kept - 1]):
        kept -= 1
    if kept in (0, len(lines)):
        return None
    lead_end = _end(reading, start + sum(len(line) + 1 for line in lines[:kept]))
    lead = _begin(reading, lead_end), lead_end
    if _asks(reading, lead):
        return lead if _speaks(scope, lead) else None
    return lead if scope.within("pleading", lead) and not finished else None


def _asks(reading: Reading, span: Span) -> bool:
    return span[1] > span[0] and reading.prose[span[1] - 1] in _MARKS


def _in_list(reading: Reading, span: Span) -> bool:
    """Whether a sentence is an item of a list; the number of one counts as a sentence of its own."""
    line = reading.prose.rfind("\n", max(0, span[0] - 8), span[0]) + 1
    return (line > 0 or span[0] < 8) and _ITEM.match(reading.prose, line) is not None


def _speaks(scope: Scope, span: Span) -> bool:
    """Whether a sentence speaks to a person. In a list or a heading a question may be what the report is about: "- What
    happens if …?".
    """
    return any(scope.within(role, span) for role in _PERSON)


def _end(reading: Reading, before: int) -> int:
    """Where the last word or mark before a position ends."""
    return len(reading.prose[max(0, before - _TAIL) : before].rstrip(" \t\n*_)")) + max(0, before - _TAIL)


def _begin(reading: Reading, end: int) -> int:
    """Where the sentence that ends there begins, at most so far back."""
    return max(reading.sentence(end - 1)[0], end - _TAIL) if end else 0
