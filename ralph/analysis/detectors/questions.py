"""Questions to a person, asked instead of working."""

from collections.abc import Iterable, Iterator
from functools import partial

from ralph.analysis.completion import completion
from ralph.analysis.lexicon import Role
from ralph.analysis.scope import Scope
from ralph.analysis.signals import VERY_HIGH, Reply, Signal
from ralph.analysis.text import Reading, Span
from ralph.system.text import pattern

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
_WHICH = pattern(r"\b(?:which|welche[rs]?|cuál)\b|哪")
_CHOICE = pattern(rf"{_WHICH.pattern}|\b(?:or|how|what do you mean|oder|wie|cómo|qué)\b|还是|還是|如何|怎么|怎樣")
_SHALL_I = pattern(r"\b(?:shall|should|may|can) (?:i|we)\b|\b(?:soll ich|sollen wir|debo)\b|要不要我|需要我")
_IF_SO = pattern(
    r"\W*(?:(?:if (?:so|not|yes|no|it|they|that|this|there|we)|in that case|wenn (?:ja|nein|nicht|es)"
    r"|falls (?:ja|nein|nicht)|si (?:no|sí|es))\b|(?:如果)?(?:是的话|不是|可以的话|是的話|可以的話))"
)
"""How a sentence begins that says what follows from an answer."""
_NEXT = pattern(r"\b(?:next|else|further|instead|als nächstes|sonst|ahora|después)\b|接下来|接下來|下一")
"""What asks for a choice, and what makes it one of work after this."""
_TOLD = ("work", "announcement", "verified", "test_run", "completion_keyword", "completion_claim")
"""What a reply tells whose question at the beginning it may have answered itself."""
_PLEAS: frozenset[Role] = frozenset({"plea", "pleading"})
_PERSON: tuple[Role, ...] = ("person", "offer", "obstacle", "leave")


def detect_questions(reply: Reply) -> Iterable[Signal]:
    """The question that the reply ends with, if it asks a person."""
    return _asking(reply) if _may_ask(reply.scope) else ()


def _asking(reply: Reply) -> Iterable[Signal]:
    finished = completion(reply.signals).detected
    span = _question(reply, finished=finished)
    if span is None and (early := _early(reply.scope)) and not _told_beside(reply, early):
        span = early
    if span:
        yield Signal("question", "", *span, -40, "It asks a person.", "question")


def _told_beside(reply: Reply, span: Span) -> bool:
    """Whether work is told of in another sentence than the question's own. What the agent does once it has the answer
    is none.
    """
    told = (signal for signal in reply.signals.of(*_TOLD) if not span[0] <= signal.start < span[1])
    return any(signal.kind != "announcement" or not _awaits(reply.scope, signal) for signal in told)


def _awaits(scope: Scope, act: Signal) -> bool:
    """Whether an announcement has a person answer first: "Let me know and I'll go on", "If so, I'll …"."""
    before = scope.reading.sentence(act.start)[0], act.start
    if _IF_SO.match(scope.reading.prose, before[0]):
        return True
    if scope.within("plea", before):
        return True
    conditions = scope.within("condition", before)
    addressed = any(hit.name.endswith(" you") for hit in conditions)
    return addressed or bool(conditions and scope.within("person", before))


def _may_ask(scope: Scope) -> bool:
    """Whether there is a mark or a plea anywhere: without one of them nothing asks."""
    prose = scope.reading.prose
    return "?" in prose or "？" in prose or scope.has(_PLEAS)


def _question(reply: Reply, *, finished: bool) -> Span | None:
    """The question that the reply ends with, if it asks a person; after finished work only whether to go on, or what
    to choose where nobody claims all of it.

    A plea for the answer may stand behind it ("Please let me know."), or alone ("Please confirm that I may …"), and so
    may a list of options. Where no work is told, anything may in the same paragraph. A heading asks nobody.
    """
    scope, reading = reply.scope, reply.reading
    end = _end(reading, len(reading.prose))
    last = _begin(reading, end), end
    span = _asked(scope, last, finished=finished)
    if span is None and (span := _with_options(scope, end, finished=finished)) and _is_choice(reading, span):
        return span
    if span is None:
        span = next(filter(partial(_begs, scope, finished=finished), _before(reading, last)), None)
        if span and not _is_untouched(reply, span) and _works(reply, span):
            return None
    if span is None or reading.in_heading(span[0]):
        return None
    if finished and (scope.within("offer", span) or not (scope.within("resume", span) or _chooses(reply, span))):
        return None
    return span if reading.text[slice(*span)].strip() else None


def _works(reply: Reply, span: Span) -> bool:
    """Whether work is told of outside of a span."""
    return any(not span[0] <= told.start < span[1] for told in reply.signals.of("work"))


def _is_untouched(reply: Reply, span: Span) -> bool:
    """Whether nothing is said to have been changed right behind a question: what it is about is yet to be done."""
    unchanged = reply.signals.first("unchanged")
    return unchanged is not None and unchanged.start >= span[1]


def _chooses(reply: Reply, span: Span) -> bool:
    """Whether a question has a person choose how the task is done. After a claim of all of it only "which" does; where
    nothing is claimed by a word of completion any question does that is no offer.
    """
    asked = reply.reading.prose[slice(*span)]
    if _NEXT.search(asked):
        return False
    claims = reply.signals.of("completion_claim", "completion_keyword")
    if any(claim.weight >= VERY_HIGH for claim in claims):
        return _WHICH.search(asked) is not None
    return _CHOICE.search(asked) is not None or not (claims or _SHALL_I.search(asked))


def _is_choice(reading: Reading, span: Span) -> bool:
    """Whether a question before a list asks which item of it shall be, and not what comes after this work."""
    asked = reading.prose[slice(*span)]
    return not reading.in_heading(span[0]) and _CHOICE.search(asked) is not None and _NEXT.search(asked) is None


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


def _begs(scope: Scope, span: Span, *, finished: bool) -> bool:
    """Whether a sentence asks a person, or begs for an answer."""
    asks = _asks(scope.reading, span) and _speaks(scope, span)
    return asks or (not finished and bool(scope.within("pleading", span)))


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
