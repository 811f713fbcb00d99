"""Claims of completion: the status block, keywords, statements on the whole, achievements, final reports.

docs/explanation/signals.md lists the weights. The objections in `objections` apply to all but the status block and the
report. A statement has its predicate as its name, so that one word that is both a keyword and a predicate is one
signal. "The migration is finished" and "The memory leak is gone" have a whole as their subject, or a trouble at the
beginning of the reply; "The tests of the feature are complete" has the tests. What belongs to a customer ("your
booking") counts as high at most, and only in the first person.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from operator import itemgetter

from ralph.analysis.detectors.activity import announcement_end, ends_of, in_list
from ralph.analysis.detectors.objections import IDENTIFIER, Objections, task_of
from ralph.analysis.detectors.tests import is_check_verdict
from ralph.analysis.lexicon import Role
from ralph.analysis.result import HIGH, VERY_HIGH, Reply, Signal
from ralph.analysis.text import Span
from ralph.analysis.vocabulary import Hit
from ralph.status import StatusMalformed, StatusMissing
from ralph.system.text import pattern


def detect_status(reply: Reply) -> Iterable[Signal]:
    """Report what the status block says; its position is one of the whole reply."""
    status = reply.status
    if isinstance(status, StatusMissing):
        return
    if isinstance(status, StatusMalformed):
        why, weight = f"The status block cannot be read: {status.problem}.", 0
    elif status.exit_signal is None:
        why, weight = "The status block does not say whether the work is done.", 0
    else:
        why = f"The status block says EXIT_SIGNAL: {str(status.exit_signal).lower()}."
        weight = 100 if status.exit_signal else -100
    yield Signal("exit_signal", "", status.start, status.end, weight, why, "done" if weight > 0 else None)
    word = "" if isinstance(status, StatusMalformed) else (status.status or "").strip().upper()
    if word.startswith("BLOCKED"):
        why = "The status block says STATUS: BLOCKED."
        yield Signal("status_blocked", "BLOCKED", status.start, status.end, -100, why, "blocked")


_BEGIN = itemgetter(1)  # the beginning of a hit
_KEYWORD_ROLES: frozenset[Role] = frozenset({"keyword", "success", "lost"})
_OCCURRENCES = 50  # occurrences of one keyword that are examined, from the beginning and as many from the end


def detect_keywords(reply: Reply) -> Iterable[Signal]:
    """Find the completion keywords, and those that do not count with the reason.

    Also finds the weaker words that only move the completion score.
    """
    scope, objections = reply.scope, Objections.of(reply)
    if not scope.has(_KEYWORD_ROLES):
        return
    by_name: dict[str, list[Hit]] = {}
    for hit in scope.of("keyword"):
        by_name.setdefault(hit.name, []).append(hit)
    kept = (hit for hits in by_name.values() for hit in ends_of(hits, _OCCURRENCES))
    for hit in sorted(kept, key=_BEGIN):
        if scope.reading.in_heading(hit.start):
            yield Signal.at(hit, "discounted_keyword", 0, "It is in a heading.")
        elif objection := objections.against_word(hit):
            yield Signal.at(hit, "discounted_keyword", 0, objection)
        else:
            keyword = reply.words.keywords[hit.name]
            weight = VERY_HIGH if keyword.weight == "very_high" else HIGH
            why = f"Says that the work is complete ({keyword.text})."
            named = hit if hit.name == keyword.text else hit._replace(name=keyword.text)
            yield Signal.at(named, "completion_keyword", weight, why, state="done")
    for hit in scope.of("success")[:_OCCURRENCES]:
        if not (scope.negated(hit, 5) or scope.before("future", hit, 6) or scope.taken_back(hit)):
            yield Signal.at(hit, "success_word", 0, "A word of success.")
            break
    for hit in scope.of("lost")[:1]:
        yield Signal.at(hit, "lost", 0, "The agent does not know what to do.")


_LOOKED_AT = 40  # words that are examined, from the beginning and as many from the end
_TITLES = 3
_PROMISE = 120  # characters at the end of a reply in which a promise stands
_PROMISED = pattern(r"\s{0,20}<promise>([^<\n]{1,40})</promise>[ \t]*(?:\n|\Z)")
_PROMISED_LAST = pattern(r"(?:^|\n)[ \t]*<promise>([^<\n]{1,40})</promise>\s*\Z")
_PREDICATES: frozenset[Role] = frozenset({"finished", "closed", "stands"})
_NOTHING_LEFT: frozenset[Role] = frozenset({"nothing left", "last", "needless"})
_OF_THE_WHOLE: frozenset[Role] = frozenset({"all", "everything"})
# The weight of words that say that nothing is left or needed.
_NOTHING_WEIGHTS: Mapping[Role, int] = {"nothing left": VERY_HIGH, "last": VERY_HIGH, "needless": HIGH}
# words for an unnamed whole; "everything you asked for" names it
_BARE = frozenset({"everything", "the whole thing", "alles", "一切"})


def detect_claims(reply: Reply) -> Iterable[Signal]:
    """Find the claims after the last announcement that nothing speaks against.

    Of one predicate the first counts; claims of a subject count only if no claim is of all of it.
    """
    scope = reply.scope
    found: list[Signal] = []
    if scope.has(_PREDICATES):
        found += (scope.has(_OF_THE_WHOLE) and _claims_of_whole(reply)) or _claims_of_subjects(reply)
    found += _promises(reply)
    if scope.has(_NOTHING_LEFT):
        found += _nothing_left(reply)
    if reply.reading.headings:
        found += _titles(reply)
    return found


def _claim(hit: Hit, weight: int, why: str) -> Signal:
    """Return the signal of a claim."""
    return Signal.at(hit, "completion_claim", weight, why, state="done")


def relevant_hits(reply: Reply, hits: Iterable[Hit]) -> Sequence[Hit]:
    """Return the hits after the last announcement in order, or the first and the last of many."""
    ordered = sorted(hits, key=_BEGIN)
    if ordered and (begin := Objections.of(reply).start):
        ordered = [hit for hit in ordered if hit.start >= begin]
    return ends_of(ordered, _LOOKED_AT)


def _claims_of_whole(reply: Reply) -> list[Signal]:
    scope, objections = reply.scope, Objections.of(reply)
    found: list[Signal] = []
    names: set[str] = set()
    for predicate in relevant_hits(reply, (*scope.of("finished"), *scope.of("closed"))):
        if predicate.name in names or not (whole := _whole_claim(reply, predicate)):
            continue
        if scope.within("yours", whole[1:]) or objections.is_echoed(predicate) or scope.reading.in_heading(whole.start):
            continue
        turned = scope.any_within(("negation", "proviso"), (whole.start, predicate.start))
        if turned or scope.before("future", predicate, 3):
            continue
        if not objections.against(whole, echoes=False):
            names.add(predicate.name)
            found.append(_claim(whole, VERY_HIGH, "It is about the whole work."))
    return found


def _whole_claim(reply: Reply, predicate: Hit) -> Hit | None:
    """Return the claim that "all" makes of a predicate before or after it, if it is of what makes a task.

    "Everything is done" is left to the keyword, which needs a second signal (Nity Loop).
    """
    scope = reply.scope
    if everything := scope.before("everything", predicate, 4):
        bare = everything.name in _BARE and predicate.name in reply.words.keywords
        return None if bare else Hit(predicate.name, everything.start, predicate.end)
    if quantity := scope.before("all", predicate, 9):
        between = quantity.end, predicate.start
        goal = scope.any_within(("goal", "member", "whole"), between) or scope.before("goal", quantity, 5)
        return Hit(predicate.name, quantity.start, predicate.end) if goal else None
    quantity = scope.after("all", predicate, 1)
    goal = scope.after("goal", quantity, 5) if quantity else None
    return Hit(predicate.name, predicate.start, goal.end) if goal else None


def _claims_of_subjects(reply: Reply) -> Iterator[Signal]:
    """Yield the first claim of each predicate."""
    scope = reply.scope
    objections = Objections.of(reply)
    names: set[str] = set()
    predicates = relevant_hits(reply, (*scope.of("finished"), *scope.of("closed"), *scope.of("stands")))
    for whole, several in _statements_on_work(reply, predicates):
        if whole.name in names or scope.within("qualifier", whole[1:]) or reply.reading.in_heading(whole.start):
            continue
        if not (objections.against_word(whole) or scope.within("hedge", objections.sentence(whole))):
            names.add(whole.name)
            yield _claim(whole, HIGH if several else VERY_HIGH, "It is about the work as a whole.")


def _promises(reply: Reply) -> Iterator[Signal]:
    """Yield a promise of completion that is the first or last line, even if the run asks for none."""
    text = reply.output.text
    if "<" not in text or "<promise>" not in text:  # one character is found ten times as fast
        return
    tail = len(text) - len(text[-_PROMISE:])
    found = _PROMISED.match(text) or _PROMISED_LAST.search(text, tail)
    if found is None:
        return
    words = reply.words.find(found[1].lower())
    if "keyword" in words and "negation" not in words:
        moved = len(reply.reading.text) - len(text) if found.start(1) > tail else 0
        promise = Hit("promise", found.start(1) + moved, found.end(1) + moved)
        yield _claim(promise, VERY_HIGH, "It is a promise of completion.")


def _nothing_left(reply: Reply) -> Iterator[Signal]:
    scope, objections = reply.scope, Objections.of(reply)
    for role, weight in _NOTHING_WEIGHTS.items():
        for hit in relevant_hits(reply, scope.of(role)) if role in scope.hits else ():
            if not (scope.reading.in_heading(hit.start) or objections.against(hit, parts=role != "last")):
                yield _claim(Hit(role, hit.start, hit.end), weight, "It says that nothing is left to do.")
                break


def _titles(reply: Reply) -> Iterator[Signal]:
    """Yield the last keywords of the first headings, if these name what is done."""
    scope, prose, objections = reply.scope, reply.reading.prose, Objections.of(reply)
    for heading in reply.reading.headings[:_TITLES]:
        for hit in scope.within("keyword", heading)[-1:]:
            about = scope.within("goal", (heading[0], hit.start)) or IDENTIFIER.search(prose, heading[0], hit.start)
            if about and not objections.against(hit):
                yield _claim(hit, HIGH, "A heading says so.")


_REACH = 160  # characters between the beginning of a sentence and its predicate
_LINKED = 60  # characters of a copula and its adverbs
_BEFORE = 40  # characters before a predicate in which its copula stands
_BEGINNING = 300  # characters of a reply in which its trouble is named
_SUBJECTS = 6  # nouns of a sentence that are examined, from its beginning
_COPULA = pattern(
    r"(?:\b(?:is|are|has been|have been|está|están|ha sido|han sido|ist|sind|wurde|wurden)|'s)[\s*_]{1,4}"
    r"(?:(?:now|all|also|already|100%|[a-z]{2,12}ly|ya|jetzt|nun)[\s*_]{1,4}){0,2}\Z"
)
_OF_OTHER = pattern(
    r"\b(?:for|of|in|to|with|on|from|by|about|that|which|who|if|when|after|before|until|tests?|is|are|was|were|has|need"
    r"|needs|next|first|each|sure|ensure|check|verify|verified|until|once|hope|assume|whether|think|de|del|para|en|con|que)\b|\d|[第部]|[前下其][一二兩两三中]"
)
_CLAUSE_END = pattern(r"[,;:!?，：；、（(—–•✅🎉✓✔☑️]|\b(?:and|so|y)\b|(?<=\s)-(?=\s)")
_VERB = pattern(r"\b(?:is|are|was|were|but|needs?|will|has|have|que)\b")
# What may follow a noun that is the subject; another noun would be the subject instead.
_BEHIND = pattern(
    r"[\s*_]*(?:\Z|[#\d(]|(?:for|of|to|from|in|on|with|into|itself|as|de|del|a|para|en)\b|[a-z]{1,10}-\d)"
)
_NOUNS: tuple[Role, ...] = ("whole", "piece", "trouble")
_WHERE_LATE = _NOUNS[:2]  # the nouns that count after the beginning of the reply
_SEVERAL: tuple[Role, ...] = ("part", "pieced", "following")
_COPULAS = ("is ", "are ", "está ", "están ")
_ARTICLES = ("", "the ")
_JOIN = " *_#0123456789-已经經也先前都"
_NUMBERED = pattern(r"[\s*_]{0,3}#?[a-z]{0,4}-?\d")
_REPORTED = frozenset({"issue", "ticket", "bug", "request", "error", "problem", "regression", "defect"})
_WORD = pattern(r"[^\W\d_]+")
_MOST = 4


def _statements_on_work(reply: Reply, predicates: Iterable[Hit]) -> Iterator[tuple[Hit, bool]]:
    """Yield the statements that predicates make of a whole, a piece or a trouble.

    Each is the span from the subject on, with True if it may be one of several that the reply speaks of.
    """
    objections = Objections.of(reply)
    rest = objections.start, len(reply.reading.prose)
    ends = sorted([hit.end for role in _NOUNS for hit in reply.scope.of(role)])
    for predicate in predicates:
        nearest = ends[index - 1] if (index := bisect_right(ends, predicate.start)) else -1
        if nearest <= predicate.start - _REACH:
            continue  # most predicates have no noun before them
        begin = max(reply.reading.sentence(predicate.start)[0], predicate.start - _REACH)
        if nearest <= begin:
            continue
        clause = predicate.start - len(_CLAUSE_END.split(reply.reading.prose[begin : predicate.start])[-1])
        roles = _NOUNS if predicate.start < objections.start + _BEGINNING else _WHERE_LATE
        for role, subject in _subjects(reply, predicate, (begin, clause), roles):
            several = role != "whole" and not objections.task.given and reply.scope.any_within(_SEVERAL, rest)
            yield Hit(predicate.name, subject.start, predicate.end), several
            break


def is_stated(prose: str, predicate: Hit) -> bool:
    """Return True if a copula precedes a predicate: "is fixed", "has been merged"."""
    if prose.startswith(_COPULAS, predicate.start):
        return True
    return _copula(prose, max(0, predicate.start - _BEFORE), predicate.start) is not None


def _copula(prose: str, begin: int, end: int) -> int | None:
    """Return where the copula begins with which a span ends, adverbs included."""
    last = prose.rfind(" ", begin, end - 1) + 1
    if last and prose[last:end] in _COPULAS:
        return last
    found = _COPULA.search(prose, begin, end)
    return found.start() if found else None


def _subjects(reply: Reply, predicate: Hit, begins: Span, roles: Sequence[Role]) -> Iterator[tuple[Role, Hit]]:
    """Yield the subjects of a predicate, right before it or before its copula.

    `begins` says where its sentence begins, as far as it is read, and where its clause begins.
    """
    scope, prose = reply.scope, reply.reading.prose
    begin, clause = begins
    copula = _copula(prose, max(begin, predicate.start - _LINKED), predicate.start)
    end = predicate.start if copula is None else copula
    joined = copula is not None or prose.startswith(_COPULAS, predicate.start)
    for role in roles:
        for subject in scope.within(role, (clause, end))[:_SUBJECTS]:
            between = prose[subject.end : end]
            lead = prose[clause : subject.start]  # "the tests of the" feature make it no subject
            other = lead not in _ARTICLES and (len(_WORD.findall(lead)) > _MOST or _OF_OTHER.search(lead))
            if subject.start < clause or other or _is_one_of_several(reply, subject):
                continue
            if joined:
                if _BEHIND.match(between) and not _VERB.search(between):
                    yield role, subject
            elif not between.strip(_JOIN) and (predicate.name in reply.words.keywords or not predicate.name.isascii()):
                yield role, subject


def _is_one_of_several(reply: Reply, subject: Hit) -> bool:
    """Return True if a number makes a noun a part, unless the task has the same name."""
    if subject.name in _REPORTED or not _NUMBERED.match(reply.reading.prose, subject.end):
        return False
    task = Objections.of(reply).task
    return not task.is_named(reply.reading.prose[slice(*reply.reading.sentence(subject.start))][:_REACH])


_LEAD, _CLOSE = 600, 400  # characters of the beginning and of the end of a reply
_NEAR = 80
_TELLING: frozenset[Role] = frozenset({"agent", "passive", "outright"})
_OPENING = pattern(r"(?:[\s*_#>✅✓🎉☑️:-]|\b(?:i|we|and|yes|so|now|then|also|this|that|it)\b)*$")


def detect_achievements(reply: Reply) -> Iterable[Signal]:
    """Find the achievements that nothing speaks against; none if another claim is enough by itself."""
    claims = reply.signals.of("completion_claim")
    if any(claim.weight >= VERY_HIGH for claim in claims):
        return
    achievements = _Achievements(reply)
    for hit in achievements.found():
        if weight := achievements.weight(hit):
            yield _claim(hit, weight, "It is reported as achieved.")


class _Achievements:
    """The achievements of a reply."""

    def __init__(self, reply: Reply) -> None:
        self._reply, self._scope, self._prose = reply, reply.scope, reply.reading.prose
        self._objections = Objections.of(reply)
        self._keywords = frozenset(self._scope.of("finished"))
        self._counted = {signal.start for signal in reply.signals.of("completion_keyword")}

    @cached_property
    def _edges(self) -> Span:
        """The end of the beginning, and the beginning of the end."""
        first = len(self._prose) - len(self._prose[self._objections.start :].lstrip())
        return first + _LEAD, len(self._prose.rstrip()) - _CLOSE

    def found(self) -> Iterator[Hit]:
        """Yield verbs in the first person or the passive; in a list only those about the task."""
        scope = self._scope
        words = [*(scope.of("finished") if scope.has(_TELLING) else ()), *scope.of("achieve")]
        words += (hit for hit in scope.of("closed") if scope.before("passive", hit, 1))
        if self._objections.task.given:
            words += scope.of("work")
        for hit in relevant_hits(self._reply, {hit.start: hit for hit in words}.values()):
            if self._is_achieved(hit) and (not in_list(self._prose, hit.start) or self._names_task(hit)):
                yield hit

    def weight(self, hit: Hit) -> int:
        """Return the weight of an achievement; 0 if it does not count."""
        if self._is_refuted(hit):
            return 0
        own = bool(self._scope.before("agent", hit, 2))
        if self._scope.within("yours", self._objections.sentence(hit)):
            return HIGH if own else 0
        if self._names_task(hit) and hit.start < self._edges[0]:
            return VERY_HIGH
        if self._is_about_task(hit):
            return VERY_HIGH if own or self._is_success(hit) else HIGH
        return HIGH if hit.start < self._edges[0] or hit.end > self._edges[1] else 0

    def _is_achieved(self, hit: Hit) -> bool:
        """Return True for "I've implemented …", "… has been fixed", "Bug fixed"; not "the implemented parser"."""
        scope = self._scope
        if scope.before("agent", hit, 2) or scope.before("passive", hit, 1):
            return True
        if hit in self._keywords:
            return self._is_success(hit)
        begin, _ = self._objections.sentence(hit)
        if subject := scope.before("goal", hit, 1):
            return len(self._prose[begin : subject.start].split()) <= 2
        return _OPENING.match(self._prose, begin, hit.start) is not None and self._prose[hit.end : hit.end + 1] != ":"

    def _is_success(self, hit: Hit) -> bool:
        scope = self._scope
        inside = scope.within("outright", (hit.start, hit.end))
        return bool(inside or scope.before("outright", hit, 1) or scope.after("outright", hit, 0))

    def _is_refuted(self, hit: Hit) -> bool:
        if hit in self._keywords:
            return hit.start not in self._counted
        if self._scope.after("negation", hit, 0):
            return True  # "I have changed nothing"
        return self._scope.reading.in_heading(hit.start) or bool(self._objections.against(hit))

    def _is_about_task(self, hit: Hit) -> bool:
        """Return True if it is about a task: by its name, a name of that form, or a word such as "feature"."""
        if self._scope.before("goal", hit, 8) or self._scope.after("goal", hit, 8) or self._names_task(hit):
            return True
        begin, end = self._objections.sentence(hit)
        return IDENTIFIER.search(self._prose, max(begin, hit.start - _NEAR), min(end, hit.end + _NEAR)) is not None

    def _names_task(self, hit: Hit) -> bool:
        task = self._objections.task
        return task.given and task.is_named(self._reply.reading.lower[slice(*self._objections.sentence(hit))])


_ITEM = pattern(r"\n[ \t]{0,8}(?:[-*+•✅✓✔☑]|\d{1,2}[.)]|\*\*\d|\|)[ \t*]")
_TICK_MARKS = "✅✓✔☑"
_ITEMS, _TICKS = 2, 3
_REPORT_LOOKED_AT = 50


def detect_reports(reply: Reply) -> Iterable[Signal]:
    """Find the final report after the last announcement.

    A report on one iteration counts only if that iteration is the task.
    """
    begin = announcement_end(reply)
    if verified := _verification(reply, begin):
        yield Signal("verified", "", *verified, 25, "A check is reported to pass.")
    recap = _recap(reply, begin)
    if recap == (0, 0):
        return
    text = reply.reading.unfenced
    ticked = not text.isascii() and sum(map(text[begin:].count, _TICK_MARKS)) >= _TICKS
    committed = reply.scope.of("committed")
    closed = bool(verified or ticked or (committed and committed[-1].start >= begin))
    if not (recap or closed):
        return
    items = islice(_ITEM.finditer(f"\n{text[begin:]}"), _ITEMS)
    if (recap and closed) or ticked or len(list(items)) == _ITEMS:
        span = recap or verified or (begin, begin)
        yield Signal("completion_report", "", *span, HIGH, "It has the shape of a final report.")


def _recap(reply: Reply, begin: int) -> Span | None:
    """Return the word of summing up; (0, 0) if it sums up only one iteration."""
    scope = reply.scope
    task = task_of(reply.context.task)
    span: Span | None = None
    for hit in scope.within("recap", (begin, len(scope.reading.prose)))[:_REPORT_LOOKED_AT]:
        if not task.given and scope.within("part", scope.reading.sentence(hit.start)):
            return 0, 0
        span = span or (hit.start, hit.end)
    return span


def _verification(reply: Reply, begin: int) -> Span | None:
    """Return the check that passes, or that finds no errors."""
    scope = reply.scope
    if scope.of("absence"):
        for hit in reversed(scope.of("fault")[-_REPORT_LOOKED_AT:]):
            if hit.start >= begin and (absence := scope.before("absence", hit, 1)):
                return absence.start, hit.end
    for role in ("verified", "passes"):
        for hit in scope.of(role)[-_REPORT_LOOKED_AT:]:
            if hit.start < begin or (role == "passes" and not is_check_verdict(reply, hit)):
                continue
            if not (scope.negated(hit, 3) or scope.before("future", hit, 6)):
                return hit.start, hit.end
    return None
