"""Questions that a reply asks the user instead of working, and how sure the agent sounds."""

from collections.abc import Iterable, Iterator
from functools import partial

from ralph.analysis.lexicon import Role
from ralph.analysis.signals import VERY_HIGH, Reply, Signal
from ralph.analysis.state import completion_signal
from ralph.analysis.text import Reading, Span
from ralph.analysis.vocabulary import Hit, Scope
from ralph.system.text import pattern

__all__ = ["HIGH", "LOW", "STEP", "detect_certainty", "detect_questions"]

_TAIL = 400  # most characters of a question, and between two things at the end of a reply
_LIST = 2_000  # most characters of a list of options
_SENTENCES = 4  # sentences before the last one in which a question may stand
_MARKS = "?？"
# A line of a list of options: an item, the rest of one, or nothing.
_OPTION = pattern(r"[ \t]*(?:[-*+•]|\(?[a-z0-9]{1,2}[.):、])[ \t*_]|[ \t]*$|[ \t]{2,}")
_ITEM = pattern(r"\s*(?:[-*+•]|\(?[a-z0-9]{1,2}[.):、])\s")
_WHY = pattern(r"\W*(?:why|how come|what if|so what|¿?por qué|为什么|為什麼)\b")
_WHICH = pattern(r"\b(?:which|welche[rs]?|cuál)\b|哪")
_CHOICE = pattern(rf"{_WHICH.pattern}|\b(?:or|how|what do you mean|oder|wie|cómo|qué)\b|还是|還是|如何|怎么|怎樣")
_SHALL_I = pattern(r"\b(?:shall|should|may|can) (?:i|we)\b|\b(?:soll ich|sollen wir|debo)\b|要不要我|需要我")
# The beginning of a sentence about what follows from an answer.
_IF_SO = pattern(
    r"\W*(?:(?:if (?:so|not|yes|no|it|they|that|this|there|we)|in that case|wenn (?:ja|nein|nicht|es)"
    r"|falls (?:ja|nein|nicht)|si (?:no|sí|es))\b|(?:如果)?(?:是的话|不是|可以的话|是的話|可以的話))"
)
# Asks about work after this one, not about a choice within it.
_NEXT = pattern(r"\b(?:next|else|further|instead|als nächstes|sonst|ahora|después)\b|接下来|接下來|下一")
# A reply with one of these signals may have answered the question at its beginning itself.
_ANSWERING = ("work", "announcement", "verified", "test_run", "completion_keyword", "completion_claim")
_PLEAS: frozenset[Role] = frozenset({"plea", "pleading"})
_PERSON: tuple[Role, ...] = ("person", "offer", "obstacle", "leave")


def detect_questions(reply: Reply) -> Iterable[Signal]:
    """Find the question to a user with which the reply ends."""
    prose = reply.reading.prose
    if not ("?" in prose or "？" in prose or reply.scope.has(_PLEAS)):
        return
    finished = completion_signal(reply.signals).detected
    span = _question(reply, finished=finished)
    if span is None and (early := _early_question(reply.scope)) and not _is_answered(reply, early):
        span = early
    if span:
        yield Signal("question", "", *span, -40, "It asks the user.", "question")


def _is_answered(reply: Reply, span: Span) -> bool:
    """Return True if work is reported outside of a question's sentence, or announced without an answer."""
    reports = (signal for signal in reply.signals.of(*_ANSWERING) if not span[0] <= signal.start < span[1])
    return any(signal.kind != "announcement" or not _awaits(reply.scope, signal) for signal in reports)


def _awaits(scope: Scope, act: Signal) -> bool:
    """Return True if an announcement waits for an answer: "Let me know and I'll go on", "If so, I'll …"."""
    before = scope.reading.sentence(act.start)[0], act.start
    if _IF_SO.match(scope.reading.prose, before[0]) or scope.within("plea", before):
        return True
    conditions = scope.within("condition", before)
    addressed = any(hit.name.endswith(" you") for hit in conditions)
    return addressed or bool(conditions and scope.within("person", before))


def _question(reply: Reply, *, finished: bool) -> Span | None:
    """Return the question to a user with which the reply ends.

    A plea for the answer may follow it ("Please let me know."), or stand alone ("Please confirm that I may …"); so may
    a list of options. If no work is reported, anything may follow in the same paragraph. After finished work only a
    question whether to continue counts, or a choice if not all of the work is claimed. A heading asks nothing.
    """
    scope, reading = reply.scope, reply.reading
    end = _end(reading, len(reading.prose))
    last = _begin(reading, end), end
    span = _final_question(scope, last, finished=finished)
    if span is None and (span := _with_options(scope, end, finished=finished)) and _is_choice(reading, span):
        return span
    if span is None:
        span = next(filter(partial(_asks_user, scope, finished=finished), _sentences_before(reading, last)), None)
        if span and _reports_work(reply, span):
            return None
    if span is None or reading.in_heading(span[0]):
        return None
    if finished and (scope.within("offer", span) or not (scope.within("resume", span) or _chooses(reply, span))):
        return None
    return span if reading.text[slice(*span)].strip() else None


def _reports_work(reply: Reply, span: Span) -> bool:
    """Return True if work is reported outside of a span, and not followed by the statement that nothing was changed."""
    unchanged = reply.signals.first("unchanged")
    if unchanged and unchanged.start >= span[1]:
        return False
    return any(not span[0] <= work.start < span[1] for work in reply.signals.of("work"))


def _chooses(reply: Reply, span: Span) -> bool:
    """Return True if a question lets the user choose how the task is done.

    After a claim of all of it only "which" does; without a word of completion any question does that is not an offer.
    """
    asked = reply.reading.prose[slice(*span)]
    if _NEXT.search(asked):
        return False
    claims = reply.signals.of("completion_claim", "completion_keyword")
    if any(claim.weight >= VERY_HIGH for claim in claims):
        return _WHICH.search(asked) is not None
    return _CHOICE.search(asked) is not None or not (claims or _SHALL_I.search(asked))


def _is_choice(reading: Reading, span: Span) -> bool:
    """Return True if a question before a list is about its items, not about later work."""
    asked = reading.prose[slice(*span)]
    return not reading.in_heading(span[0]) and _CHOICE.search(asked) is not None and _NEXT.search(asked) is None


def _final_question(scope: Scope, last: Span, *, finished: bool) -> Span | None:
    """Return the question of the last sentence, or of one shortly before a plea."""
    reading = scope.reading
    if _asks(reading, last):
        return last if _addresses_user(scope, last) or not _in_list(reading, last) else None
    if not scope.within("plea", last):
        return None
    for before in _sentences_before(reading, last):
        if _asks(reading, before) or (scope.within("pleading", before) and not finished):
            return before[0], last[1]
    return last if scope.within("pleading", last) and not finished else None


def _early_question(scope: Scope) -> Span | None:
    """Return a question near the beginning, or one that begs for its answer anywhere.

    What follows explains it. A question for the reason of something is one that the agent asks itself.
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


def _sentences_before(reading: Reading, last: Span) -> Iterator[Span]:
    """Yield the sentences of the paragraph before the last one, from the end, but at least one."""
    begin = last[0]
    for index in range(_SENTENCES):
        end = _end(reading, begin)
        if not end or (index and "\n\n" in reading.prose[end:begin]):
            return
        begin = _begin(reading, end)
        yield begin, end


def _with_options(scope: Scope, end: int, *, finished: bool) -> Span | None:
    """Return the question right before the list with which the reply ends.

    It has to address a user: a report may have questions as its own headings.
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
        return lead if _addresses_user(scope, lead) else None
    return lead if scope.within("pleading", lead) and not finished else None


def _asks_user(scope: Scope, span: Span, *, finished: bool) -> bool:
    """Return True if a sentence asks a user, or begs for an answer."""
    asks = _asks(scope.reading, span) and _addresses_user(scope, span)
    return asks or (not finished and bool(scope.within("pleading", span)))


def _asks(reading: Reading, span: Span) -> bool:
    return span[1] > span[0] and reading.prose[span[1] - 1] in _MARKS


def _in_list(reading: Reading, span: Span) -> bool:
    """Return True if a sentence is an item of a list; the item's number is a sentence of its own."""
    line = reading.prose.rfind("\n", max(0, span[0] - 8), span[0]) + 1
    return (line > 0 or span[0] < 8) and _ITEM.match(reading.prose, line) is not None


def _addresses_user(scope: Scope, span: Span) -> bool:
    """Return True if a sentence addresses a user; "- What happens if …?" is about the work."""
    return scope.any_within(_PERSON, span)


def _end(reading: Reading, before: int) -> int:
    """Return where the last word or mark before a position ends."""
    return len(reading.prose[max(0, before - _TAIL) : before].rstrip(" \t\n*_)")) + max(0, before - _TAIL)


def _begin(reading: Reading, end: int) -> int:
    """Return where the sentence begins that ends at a position."""
    return max(reading.sentence(end - 1)[0], end - _TAIL) if end else 0


HIGH, LIKELY, LOW = 90, 60, 20
STEP = 10
_CLAUSE = 12  # words on either side of an unsure word in which a certain one counts
_AROUND = 200
_CUES: frozenset[Role] = frozenset({"unsure", "certain", "likely"})
_WORDS: frozenset[Role] = frozenset({*_CUES, "hedge", "certainty"})


def detect_certainty(reply: Reply) -> Iterable[Signal]:
    """Find the cue that sets the level of certainty, and every other hedge and certainty once."""
    scope = reply.scope
    if not scope.has(_WORDS):
        return
    in_heading = scope.reading.in_heading  # a heading says nothing about the agent
    cue, level = _cue(scope) if scope.has(_CUES) else (None, 0)
    if cue:
        why = f"Sets the agent's certainty to {level}."
        yield Signal("certainty_cue", cue.name, cue.start, cue.end, level, why, amount=level)
    hedges: set[str] = set()
    for hit in scope.of("hedge"):
        if hit.name not in hedges and not in_heading(hit.start):
            hedges.add(hit.name)
            yield Signal.at(hit, "hedge", -STEP, "Sounds unsure.")
    sure = {cue.name} if cue else set[str]()
    for hit in scope.of("certainty"):
        if hit.name not in sure and not in_heading(hit.start) and not scope.negated(hit, 1):
            sure.add(hit.name)
            yield Signal.at(hit, "certainty", STEP, "Sounds sure.")


def _cue(scope: Scope) -> tuple[Hit | None, int]:
    """Return the cue and its level: a high word without a low one in its clause, else a low or a likely one."""
    in_heading = scope.reading.in_heading
    unsure = [hit for hit in scope.of("unsure") if not in_heading(hit.start)]
    high: list[Hit] = []
    for hit in scope.of("certain"):
        if scope.negated(hit):
            unsure.append(hit)
        elif not in_heading(hit.start) and not _is_talk(scope, hit):
            high.append(hit)
    doubted = {scope.before("certain", hit, _CLAUSE) for hit in unsure}
    doubted |= {scope.after("certain", hit, _CLAUSE) for hit in unsure}
    high = [hit for hit in high if hit not in doubted]
    likely = [hit for hit in scope.of("likely") if not in_heading(hit.start) and not scope.negated(hit)]
    for hits, level in ((high, HIGH), (unsure, LOW), (likely, LIKELY)):
        if hits:
            return hits[0], level
    return None, 0


def _is_talk(scope: Scope, hit: Hit) -> bool:
    """Return True if a word only addresses the user: "Sure, I can do that", "Are you sure?"."""
    prose = scope.reading.prose
    begin, end = scope.reading.sentence(hit.start)
    opens = hit.name == "sure" and not prose[max(begin, hit.start - _AROUND) : hit.start].strip()
    asked = prose[hit.end : min(end, hit.end + _AROUND)].rstrip().endswith(("?", "？"))
    return asked or (opens and prose[hit.end : hit.end + 1] in {",", "!", ".", ":"})
