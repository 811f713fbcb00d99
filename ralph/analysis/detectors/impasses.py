"""Work that stops at something outside, whatever else was finished: what the reply is about is what stops it.

| the reply | and |
|---|---|
| says in one of its first two sentences what bars the agent | at its end what a person shall do, or what the rest \
hangs on; and a third such word, where work or news is told before the first, or the task is about it |
| says at its end that it stops, or what it needs of a person | shortly before it, what it cannot do or lacks |
| says before its end that it has to stop | at its end what a person shall do |
| says first what cannot be done | claims, announces and leaves nothing |

Not where it asks for a choice, nor where what is barred comes after a claim of all of the work.
"""

from collections.abc import Iterator
from functools import partial
from itertools import chain

from ralph.analysis.detectors.lines import in_list
from ralph.analysis.lexicon import Role
from ralph.analysis.scope import Scope
from ralph.analysis.signals import HIGH, VERY_HIGH, Reply, Signal
from ralph.analysis.text import Reading, Span
from ralph.analysis.vocabulary import Hit
from ralph.system.text import pattern

__all__ = ["impasse"]

_FIRST, _LAST = 400, 350
"""Characters of a reply in which its first sentences are, and in which its end is."""
_TITLE = 200
"""Characters of the task that say what it is about."""
_ENDING = pattern(r"(?<=\w{4})(?:ed|es|s|e)\Z")
_SENTENCES = 2
_LETTER = pattern(r"\w")
_LOOKED_AT = 20
"""Words of one role that are looked at."""
_REACH = 120
"""Characters behind what cannot be done in which it is told what that hangs on."""
_WITHOUT = pattern(r"\b(?:without|until|before (?:that|then)|sin|hasta|ohne|bevor)\b")
_CASE = pattern(
    r"\W{0,8}(?:(?:while|when|whenever|if|whoever|wenn|wer|si|cuando|quien)\b|如果|若|[当當](?![前时時天地]))"
)
"""How a sentence begins that tells what happens in a case."""
_AT = ("on ", "in ", "from ")
"""How words begin that say where the agent is; what is said of there is the negation before them."""
_REFUSING = frozenset({"refuse", "refuses"})
_CANNOT = frozenset({"cannot", "can't", "unable to", "not able to", "not possible", "impossible", "isn't possible"})
_SO = pattern(r"\b(?:so|therefore|instead|but) ")
_GOING_ON = frozenset({"announcement", "unfinished", "open_end", "more_to_come", "question", "idle"})
_FAULTS = ("error", "fatal_error", "only_error")
_CLAIMS = ("completion_claim", "completion_keyword")
_THEN = frozenset((
    *("once", "when", "as soon as", "after", "until", "una vez", "cuando", "hasta que", "sobald", "bis", "一旦"),
))
"""Words of time, under which a person is asked all the same: "once somebody lifts the freeze"."""
_BARRED: tuple[Role, ...] = ("barred", "obstacle", "blocked", "halted")
_BARRING: frozenset[Role] = frozenset({*_BARRED, "unable", "parting"})
_ASKING: tuple[Role, ...] = ("hand", "demand")
_LACKING: tuple[Role, ...] = ("unable", *_BARRED, "hand", "pleading")
_OF_LOOP: tuple[Role, ...] = ("part", "stage", "following", "unfinished")
_MUST = pattern(r"\bto stop\b|\A(?:where|as far)|something i|muss|tengo que|[只得][能好不]")
"""What is in the name of a word by which the agent stops because it has to."""
_FURTHER: tuple[Role, ...] = ("onward", "unable", *_BARRED)


def impasse(reply: Reply) -> Hit | None:
    """What the agent stops at, or where it says that it stops."""
    if not reply.scope.has(_BARRING) or _chooses(reply):
        return None
    last = len(reply.reading.prose.rstrip())
    return _barred(reply, last) or _parting(reply, last) or _unable(reply)


def _barred(reply: Reply, last: int) -> Hit | None:
    """What bars the agent at the opening, where the end tells what it takes."""
    scope, opening = reply.scope, _opening(reply.reading)
    barred = next(_bars(scope, opening), None)
    begged = reply.signals.first("question") is not None
    about = _is_of_task(reply, opening)
    sure = barred is not None and (begged or not (about or _tells_of_work(reply, opening[0], barred)))
    if barred and not sure and _whole(reply, barred):
        return None
    barred = barred or next(_standing(scope, "unable", opening), None)
    if barred is None or (asked := _asked(scope, (max(last - _LAST, barred.end), last))) is None:
        return None
    behind = reply.reading.sentence(barred.start)[1] if about else barred.end
    further = chain.from_iterable(_standing(scope, role, (behind, last)) for role in _FURTHER)
    return barred if sure or any(hit.end <= asked.start or hit.start >= asked.end for hit in further) else None


def _unable(reply: Reply) -> Hit | None:
    """What the first sentence says that cannot be done, where that is no program's error, and the reply neither claims
    nor announces anything, nor tells how else it was done.
    """
    if reply.signals.has(_GOING_ON) or any(claim.weight >= HIGH for claim in reply.signals.of(*_CLAIMS)):
        return None
    begin, end = _opening(reply.reading, 1)
    if any(fault.start < end for fault in reply.signals.of(*_FAULTS)):
        return None
    for hit in _standing(reply.scope, "unable", (begin, end)):
        told = in_list(reply.reading.prose, hit.start) or reply.scope.within("news", (begin, hit.start))
        told = told or _SO.search(reply.reading.prose, hit.end, end)
        if hit.name in _CANNOT and not told:
            return hit
    return None


def _parting(reply: Reply, last: int) -> Hit | None:
    """The word at the end that the agent stops, where it lacks something shortly before; or one before that it has to,
    where a person is asked at the end.
    """
    scope = reply.scope
    stops = [hit for hit in scope.of("parting")[-_LOOKED_AT:] if not _is_pause(scope, hit)]
    if not stops or _whole(reply, stops[-1], checked=not _MUST.search(stops[-1].name)):
        return None
    if stops[-1].end > last - _LAST:
        before = last - 2 * _LAST, last
        return stops[-1] if any(_lacking(scope, before)) else None
    compelled = next((hit for hit in stops if _MUST.search(hit.name)), None)
    return compelled if compelled and _asked(scope, (max(last - _LAST, compelled.end), last)) else None


def _is_pause(scope: Scope, stop: Hit) -> bool:
    """Whether the agent stops because a piece of the work is done, or its own means are: "… for this loop"."""
    sentence = scope.reading.sentence(stop.start)
    return any(scope.within(role, sentence) for role in _OF_LOOP) and not any(_lacking(scope, sentence))


def _lacking(scope: Scope, span: Span) -> Iterator[Hit]:
    """What the agent lacks in a span."""
    return chain.from_iterable(_standing(scope, role, span) for role in _LACKING)


def _chooses(reply: Reply) -> bool:
    """Whether the reply asks for an answer, and not for a hand: "Could somebody grant me access?"."""
    question = reply.signals.first("question")
    return question is not None and not reply.scope.within("hand", (question.start, question.end))


def _bars(scope: Scope, span: Span) -> Iterator[Hit]:
    """What bars the agent in a span."""
    for role in _BARRED:
        yield from _standing(scope, role, span)
    yield from (hit for hit in _standing(scope, "unable", span) if _hangs(scope, hit))


def _hangs(scope: Scope, hit: Hit) -> bool:
    """Whether what cannot be done hangs on something: "can't start without …"."""
    if hit.name in _REFUSING:
        return False
    begin, end = scope.reading.sentence(hit.start)
    return _WITHOUT.search(scope.reading.prose, begin, min(end, hit.end + _REACH)) is not None


def _tells_of_work(reply: Reply, begin: int, barred: Hit) -> bool:
    """Whether something is told as done before the word, or its sentence says how things are now: then it may be what
    the work is about.
    """
    sentence = reply.reading.sentence(barred.start)
    told = reply.signals.of("work", "completion_keyword", "completion_claim")
    return any(begin <= signal.start < barred.start for signal in told) or bool(reply.scope.within("news", sentence))


def _is_of_task(reply: Reply, opening: Span) -> bool:
    """Whether the task has in its title what seems to bar the agent: "Tell those whose account is locked"."""
    title = reply.context.task[:_TITLE].lower()
    return bool(title) and any(_ENDING.sub("", hit.name) in title for hit in _bars(reply.scope, opening))


def _whole(reply: Reply, barred: Hit, *, checked: bool = True) -> bool:
    """Whether all of the work is claimed before the word: what is barred comes after it.

    Args:
        checked: whether checks that all pass are such a claim.
    """
    claims = (claim for claim in reply.signals.of(*_CLAIMS) if claim.start < barred.start)
    return any(_of_all(reply, claim) and (checked or not _of_checks(reply, claim)) for claim in claims)


def _of_checks(reply: Reply, claim: Signal) -> bool:
    """Whether a claim says no more than that checks pass."""
    known = reply.words.keywords.get(claim.name.lower())
    return claim.name == "passing" if known is None else not known.points


def _of_all(reply: Reply, claim: Signal) -> bool:
    sentence = reply.reading.sentence(claim.start)
    return claim.weight >= VERY_HIGH or any(reply.scope.within(role, sentence) for role in ("all", "everything"))


def _asked(scope: Scope, ending: Span) -> Hit | None:
    """What a person shall do, or what the rest hangs on."""
    for role in _ASKING:
        for hit in scope.within(role, ending)[:_LOOKED_AT]:
            condition = scope.before("condition", hit, 4)
            if condition is None or condition.name in _THEN:
                return hit
    for hit in scope.within("bidding", ending)[:_LOOKED_AT]:
        if _opens(scope, hit):
            return hit
    hanging = (hit for hit in _standing(scope, "unable", ending) if _hangs(scope, hit))
    return next(hanging, None) or next(
        filter(partial(_waits, scope), scope.within("onward", ending)[:_LOOKED_AT]), None
    )


def _waits(scope: Scope, hit: Hit) -> bool:
    """Whether it goes on only then: "as soon as …, I'll go on"."""
    return any(when.name in _THEN for when in scope.within("future", scope.reading.sentence(hit.start)))


def _standing(scope: Scope, role: Role, span: Span) -> Iterator[Hit]:
    """The words of a role in a span that are under no condition."""
    for hit in scope.within(role, span)[:_LOOKED_AT]:
        conditional = scope.before("condition", hit, 4) or _CASE.match(
            scope.reading.prose, scope.reading.sentence(hit.start)[0]
        )
        if not (conditional or (scope.negated(hit, 1) and not hit.name.startswith(_AT))):
            yield hit


def _opens(scope: Scope, hit: Hit) -> bool:
    return not _LETTER.search(scope.reading.prose, scope.reading.sentence(hit.start)[0], hit.start)


def _opening(reading: Reading, sentences: int = _SENTENCES) -> Span:
    """The first sentences that are no headings."""
    begin = at = len(reading.prose) - len(reading.prose.lstrip())
    told = 0
    most = begin + _FIRST
    while at < most and at < len(reading.prose) and told < sentences:
        end = reading.sentence(at)[1]
        if reading.prose[at:end].strip():
            told += not reading.in_heading(at)
        at = max(end, at + 1)
    return begin, min(at, most)
