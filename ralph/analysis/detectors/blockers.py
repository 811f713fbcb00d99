"""Blockers: the agent's own word that it cannot continue, and permissions or hands that it lacks.

docs/explanation/signals.md says which words count as `blocked`, and which as an `obstacle`. None counts under a
condition ("if you need approval"), or if it is denied ("no approval needed", "Blocked: none"), nor does an obstacle
that the task has in its title. "Unblocked" and "blocking" are other words.

Work is at an impasse, whatever else was finished, if the reply

| says | and |
|---|---|
| in one of its first two sentences what bars the agent | at its end what a user has to do, or what the rest depends \
on; and a third such word, if work or news precedes the first, or the task is about it |
| at its end that it stops, or what it needs of a user | shortly before, what it cannot do or lacks |
| before its end that it has to stop | at its end what a user has to do |
| first what cannot be done | claims, announces and leaves nothing |

It is not one if the reply asks for a choice, or if what is barred follows a claim of all of the work.
"""

from collections.abc import Iterable, Iterator
from itertools import chain

from ralph.analysis.detectors.activity import ends_of, in_list
from ralph.analysis.lexicon import Role
from ralph.analysis.result import HIGH, VERY_HIGH, Reply, Signal
from ralph.analysis.state import completion_signal
from ralph.analysis.text import Reading, Span
from ralph.analysis.vocabulary import Hit, Scope
from ralph.system.text import pattern

_FIRST, _LAST = 400, 350  # characters of the first sentences, and of the end
_TITLE = 200  # characters in which the task says what it is about
_WORD_ENDING = pattern(r"(?<=\w{4})(?:ed|es|s|e)\Z")
_SENTENCES = 2
_LETTER = pattern(r"\w")
_LOOKED_AT = 20  # words of one role that are examined, from the beginning and as many from the end
_REACH = 120  # characters after what cannot be done in which its dependency stands
_WITHOUT = pattern(r"\b(?:without|until|before (?:that|then)|sin|hasta|ohne|bevor)\b")
# The beginning of a sentence about a case that may occur.
_CASE = pattern(
    r"\W{0,8}(?:(?:while|when|whenever|if|whoever|wenn|wer|si|cuando|quien)\b|如果|若|[当當](?![前时時天地]))"
)
_AT = ("on ", "in ", "from ")  # Words that say where the agent is; a negation before them is about that place.
_CANNOT = frozenset({"cannot", "can't", "unable to", "not able to", "not possible", "impossible", "isn't possible"})
_SO = pattern(r"\b(?:so|therefore|instead|but) ")
_CONTINUING = frozenset({"announcement", "unfinished", "open_end", "more_to_come", "question", "idle"})
_FAULTS = ("error", "fatal_error", "only_error")
_CLAIMS = ("completion_claim", "completion_keyword")
# A user is asked even under these words of time: "once somebody lifts the freeze".
_THEN = frozenset((
    *("once", "when", "as soon as", "after", "until", "una vez", "cuando", "hasta que", "sobald", "bis", "一旦"),
))
_BARRIERS: tuple[Role, ...] = ("barred", "obstacle", "blocked", "halted")
_BARRING: frozenset[Role] = frozenset({*_BARRIERS, "unable", "parting"})
_REQUESTING: tuple[Role, ...] = ("hand", "demand")
_LACKING: tuple[Role, ...] = ("unable", *_BARRIERS, "hand", "pleading")
_OF_LOOP: tuple[Role, ...] = ("part", "stage", "following", "unfinished")
# A part of words by which the agent stops because it has to.
_MUST = pattern(r"\bto stop\b|\A(?:where|as far)|something i|muss|tengo que|[只得][能好不]")
_FURTHER: tuple[Role, ...] = ("onward", "unable", *_BARRIERS)


def _impasse(reply: Reply) -> Hit | None:
    """Return what the agent stops at, or where it says that it stops."""
    if not reply.scope.has(_BARRING) or _chooses(reply):
        return None
    last = len(reply.reading.prose.rstrip())
    return _barred(reply, last) or _parting(reply, last) or _unable(reply)


def _barred(reply: Reply, last: int) -> Hit | None:
    """Return what bars the agent in the opening, if the end says what it takes."""
    scope, opening = reply.scope, _opening(reply.reading)
    barred = next(_bars(scope, opening), None)
    begged = reply.signals.first("question") is not None
    title = reply.context.task[:_TITLE].lower()  # may have the barrier: "Tell users whose account is locked"
    about = bool(title) and any(_WORD_ENDING.sub("", hit.name) in title for hit in _bars(scope, opening))
    sure = barred is not None and (begged or not (about or _may_be_subject(reply, opening[0], barred)))
    if barred and not sure and _is_whole_claimed(reply, barred):
        return None
    barred = barred or next(_unconditional(scope, "unable", opening), None)
    if barred is None or (asked := _request(scope, (max(last - _LAST, barred.end), last))) is None:
        return None
    behind = reply.reading.sentence(barred.start)[1] if about else barred.end
    further = chain.from_iterable(_unconditional(scope, role, (behind, last)) for role in _FURTHER)
    return barred if sure or any(hit.end <= asked.start or hit.start >= asked.end for hit in further) else None


def _unable(reply: Reply) -> Hit | None:
    """Return what the first sentence says cannot be done, if that is all there is.

    It is not a program's error, and the reply claims and announces nothing, nor does it name another way.
    """
    if reply.signals.has(_CONTINUING) or any(claim.weight >= HIGH for claim in reply.signals.of(*_CLAIMS)):
        return None
    begin, end = _opening(reply.reading, 1)
    if any(fault.start < end for fault in reply.signals.of(*_FAULTS)):
        return None
    for hit in _unconditional(reply.scope, "unable", (begin, end)):
        otherwise = in_list(reply.reading.prose, hit.start) or reply.scope.within("news", (begin, hit.start))
        otherwise = otherwise or _SO.search(reply.reading.prose, hit.end, end)
        if hit.name in _CANNOT and not otherwise:
            return hit
    return None


def _parting(reply: Reply, last: int) -> Hit | None:
    """Return the words at the end by which the agent stops, if it lacks something shortly before.

    Or earlier words by which it has to stop, if a user is asked at the end.
    """
    scope = reply.scope
    stops = [hit for hit in scope.of("parting")[-_LOOKED_AT:] if not _is_pause(scope, hit)]
    if not stops or _is_whole_claimed(reply, stops[-1], checked=not _MUST.search(stops[-1].name)):
        return None
    if stops[-1].end > last - _LAST:
        before = last - 2 * _LAST, last
        return stops[-1] if any(_lacks(scope, before)) else None
    compelled = next((hit for hit in stops if _MUST.search(hit.name)), None)
    return compelled if compelled and _request(scope, (max(last - _LAST, compelled.end), last)) else None


def _is_pause(scope: Scope, stop: Hit) -> bool:
    """Return True if the agent stops after a piece of the work, or for lack of its own means: "… for this loop"."""
    sentence = scope.reading.sentence(stop.start)
    return scope.any_within(_OF_LOOP, sentence) and not any(_lacks(scope, sentence))


def _lacks(scope: Scope, span: Span) -> Iterator[Hit]:
    """Yield what the agent lacks in a span."""
    return chain.from_iterable(_unconditional(scope, role, span) for role in _LACKING)


def _chooses(reply: Reply) -> bool:
    """Return True if the reply asks for an answer, not for a hand: "Could somebody grant me access?"."""
    question = reply.signals.first("question")
    return question is not None and not reply.scope.within("hand", (question.start, question.end))


def _bars(scope: Scope, span: Span) -> Iterator[Hit]:
    """Yield what bars the agent in a span."""
    for role in _BARRIERS:
        yield from _unconditional(scope, role, span)
    yield from (hit for hit in _unconditional(scope, "unable", span) if _depends(scope, hit))


def _depends(scope: Scope, hit: Hit) -> bool:
    """Return True if what cannot be done depends on something: "can't start without …"."""
    begin, end = scope.reading.sentence(hit.start)
    return _WITHOUT.search(scope.reading.prose, begin, min(end, hit.end + _REACH)) is not None


def _may_be_subject(reply: Reply, begin: int, barred: Hit) -> bool:
    """Return True if work precedes the word, or its sentence has news: then the work may be about it."""
    sentence = reply.reading.sentence(barred.start)
    work = reply.signals.of("work", "completion_keyword", "completion_claim")
    return any(begin <= signal.start < barred.start for signal in work) or bool(reply.scope.within("news", sentence))


def _is_whole_claimed(reply: Reply, barred: Hit, *, checked: bool = True) -> bool:
    """Return True if all of the work is claimed before the word; with `checked` also if only checks pass."""
    for claim in reply.signals.of(*_CLAIMS):
        known = reply.words.keywords.get(claim.name.lower())
        about_checks = claim.name == "passing" if known is None else not known.points
        sentence = reply.reading.sentence(claim.start)
        whole = claim.weight >= VERY_HIGH or reply.scope.any_within(("all", "everything"), sentence)
        if claim.start < barred.start and whole and (checked or not about_checks):
            return True
    return False


def _request(scope: Scope, ending: Span) -> Hit | None:
    """Return what a user has to do, or what the rest depends on."""
    for role in _REQUESTING:
        for hit in scope.within(role, ending)[:_LOOKED_AT]:
            condition = scope.before("condition", hit, 4)
            if condition is None or condition.name in _THEN:
                return hit
    bidding = (hit for hit in scope.within("bidding", ending)[:_LOOKED_AT] if _opens(scope, hit))
    dependent = (hit for hit in _unconditional(scope, "unable", ending) if _depends(scope, hit))
    waiting = (hit for hit in scope.within("onward", ending)[:_LOOKED_AT] if _waits_for_it(scope, hit))
    return next(chain(bidding, dependent, waiting), None)


def _waits_for_it(scope: Scope, hit: Hit) -> bool:
    """Return True if the agent continues only then: "as soon as …, I'll go on"."""
    return any(when.name in _THEN for when in scope.within("future", scope.reading.sentence(hit.start)))


def _unconditional(scope: Scope, role: Role, span: Span) -> Iterator[Hit]:
    """Yield the words of a role in a span that are under no condition."""
    for hit in scope.within(role, span)[:_LOOKED_AT]:
        case = _CASE.match(scope.reading.prose, scope.reading.sentence(hit.start)[0])
        if not (case or scope.before("condition", hit, 4) or (scope.negated(hit, 1) and not hit.name.startswith(_AT))):
            yield hit


def _opening(reading: Reading, sentences: int = _SENTENCES) -> Span:
    """Return the span of the first sentences that are not headings."""
    begin = at = len(reading.prose) - len(reading.prose.lstrip())
    count = 0
    most = begin + _FIRST
    while at < most and at < len(reading.prose) and count < sentences:
        end = reading.sentence(at)[1]
        if reading.prose[at:end].strip():
            count += not reading.in_heading(at)
        at = max(end, at + 1)
    return begin, min(at, most)


_LOOKED_AT_EACH_END = 25  # words of one role that are examined, from the beginning and as many from the end
_OPENING, _ENDING = 250, 300  # characters of the beginning and of the end of a reply
_BLOCKING: frozenset[Role] = frozenset({"blocked", "halted", "obstacle", "leave", "unable", "barred", "parting"})
_ASKING: frozenset[Role] = frozenset({"demand", "hand", "bidding", "leave"})
_ZERO = pattern(r"[\s*_:]{0,6}0(?!\w)")
_END = pattern(r"[\s*_]{0,4}(?:[.:!,;(—–-]|\Z|(?<=\n))")


def detect_blockers(reply: Reply) -> Iterable[Signal]:
    """Find the first word that counts by itself, and the first obstacle."""
    scope = reply.scope
    if not scope.has(_BLOCKING):
        return
    prose = reply.reading.prose
    edges = len(prose) - len(prose.lstrip()) + _OPENING, len(prose.rstrip()) - _ENDING
    halts = (hit for hit in ends_of(scope.of("halted"), _LOOKED_AT_EACH_END) if _is_standalone(scope, hit))
    stops = [hit for hit in (*ends_of(scope.of("blocked"), _LOOKED_AT_EACH_END), *halts) if _is_meant(scope, hit)]
    asked = reply.signals.first("question") is not None
    finished = bool(stops) and completion_signal(reply.signals).detected
    firm = [hit for hit in stops if hit.start < edges[0] or (hit.end > edges[1] and not finished)]
    if not firm and (stopped := _impasse(reply)):
        firm = [stopped]
    if firm:
        yield Signal.at(firm[0], "blocked", -40, "The agent says that it cannot continue.", state="blocked")
    possible = (*(hit for hit in stops if hit not in firm), *_obstacles(scope, edges, asked=asked))
    title = reply.context.task[:_TITLE].lower()  # may have the obstacle: "Show who has no permission"
    said = ((hit, reply.reading.prose[hit.start : hit.end].strip()) for hit in possible)
    obstacles = [hit for hit, words in said if " " not in words or words not in title]
    act = reply.signals.first("announcement")
    continues = act is not None and act.weight < 0 and not scope.has(_ASKING)
    if obstacles and not continues:
        first = min(obstacles, key=lambda hit: hit.start)
        yield Signal.at(first, "obstacle", -20, "A user's permission or help is needed.", state="blocked")


def _obstacles(scope: Scope, edges: tuple[int, int], *, asked: bool) -> Iterator[Hit]:
    def at_edge(role: Role) -> Iterator[Hit]:
        hits = ends_of(scope.of(role), _LOOKED_AT_EACH_END)
        return (hit for hit in hits if hit.start < edges[0] or hit.end > edges[1])

    yield from (hit for hit in at_edge("obstacle") if _is_meant(scope, hit))
    yield from filter(None, (_lacking(scope, hit) for hit in at_edge("leave")))
    if asked:
        return  # what cannot be done is what the question is about
    demanded, going_on = bool(scope.of("demand")), bool(scope.of("ongoing"))
    for hit in at_edge("unable"):
        asks = demanded or (not going_on and _opens(scope, hit))
        if asks and not scope.before("condition", hit, 4):
            yield hit


def _lacking(scope: Scope, leave: Hit) -> Hit | None:
    """Return a missing permission: "Needs your approval", "permission is required", "without permissions".

    Not "no approval needed", "I do not need permission", "no permission errors".
    """
    lack = scope.before("lack", leave, 4) or scope.after("lack", leave, 3)
    none = scope.negated(leave, 3)
    word = lack or none
    if word is None or (lack and (none or scope.negated(lack, 1))) or scope.after("fault", leave, 0):
        return None
    whole = Hit(leave.name, min(word.start, leave.start), max(word.end, leave.end))
    return None if scope.before("condition", whole, 4) else whole


def _is_meant(scope: Scope, hit: Hit) -> bool:
    """Return True if a word is neither denied nor conditional."""
    nothing = scope.within("nothing", (hit.end, hit.end + 12)) or _ZERO.match(scope.reading.prose, hit.end)
    return not (nothing or scope.negated(hit, 0) or scope.before("condition", hit, 4))


def _is_standalone(scope: Scope, hit: Hit) -> bool:
    """Return True if a word is a sentence or a heading, or its label: "Blocked. …", "# BLOCKED".

    In a list it labels an item. Several words may continue: "Still waiting for approval of …".
    """
    prose = scope.reading.prose
    labels = " " in hit.name or _END.match(prose, hit.end) is not None
    return labels and _opens(scope, hit) and not in_list(prose, hit.start)


def _opens(scope: Scope, hit: Hit) -> bool:
    """Return True if a word is the first of its sentence, as in "Cannot write": its subject is the agent."""
    return not _LETTER.search(scope.reading.prose, scope.reading.sentence(hit.start)[0], hit.start)
