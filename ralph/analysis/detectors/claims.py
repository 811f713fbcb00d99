"""Claims of completion that are more than one word: who says that what is finished.

| claim | such as | counts |
|---|---|---|
| of the whole | "All acceptance criteria are met", "Everything is in place", 所有任务已完成 | very high |
| of what is the whole by itself | "The migration is finished", "The memory leak is gone" | very high |
| in a promise | `<promise>COMPLETE</promise>` as the first or last line | very high |
| nothing else | "Done." as the whole reply | very high |
| that nothing is left | "Zero unchecked items", "Nothing left to do" | very high |
| that nothing is needed | "No changes were needed" | high |
| of a title | "## SHOP-31: Export Complete" | high |

All are subject to the same objections as keywords. The name of a claim is that of its predicate, so that one word that
is both a keyword and the predicate of a claim is one signal.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter

from ralph.analysis.detectors.announcements import announced
from ralph.analysis.detectors.assignment import IDENTIFIER
from ralph.analysis.detectors.objections import Objections
from ralph.analysis.detectors.statements import names_subject, nothing_else, of_subjects
from ralph.analysis.lexicon import Role
from ralph.analysis.scope import Scope
from ralph.analysis.signals import HIGH, VERY_HIGH, Reply, Signal
from ralph.analysis.vocabulary import Hit
from ralph.pattern import pattern

__all__ = ["bounded", "claim", "detect_claims", "finished"]

_LOOKED_AT = 40
"""Words that are looked at, from the beginning and as many from the end."""
_TITLES = 3
_MARKS = " \t*_!.)-–—✅✓✔🎉☑️"
_SHORT = 40
"""Characters of a reply that may be one word and nothing else."""
_PROMISE = 120
"""Characters that a promise at the end of a reply takes up."""
_PROMISED = pattern(r"\s{0,20}<promise>([^<\n]{1,40})</promise>[ \t]*(?:\n|\Z)")
_PROMISED_LAST = pattern(r"(?:^|\n)[ \t]*<promise>([^<\n]{1,40})</promise>\s*\Z")
_OF_THE_WHOLE: frozenset[Role] = frozenset({"all", "everything"})
_TURNING: tuple[Role, ...] = ("negation", "proviso")
_NOTHING: Mapping[Role, int] = {"nothing left": VERY_HIGH, "last": VERY_HIGH, "needless": HIGH}
"""What a word weighs that says that nothing is left or needed."""
_BEGIN = itemgetter(1)
"""Where a hit begins."""


def detect_claims(reply: Reply) -> Iterable[Signal]:
    """Every claim after the last announcement that nothing speaks against; of one predicate the first, and those of a
    subject only where no claim is of all of it.
    """
    objections = Objections(reply)
    whole = list(_of_the_whole(reply, objections))
    yield from whole or _of_subjects(reply, objections)
    yield from _of_promises(reply)
    yield from _of_nothing(reply, objections)
    yield from _of_titles(reply, objections)


def claim(hit: Hit, weight: int, why: str) -> Signal:
    """The signal of a claim."""
    return Signal("completion_claim", hit.name, hit.start, hit.end, weight, why, "done")


def finished(reply: Reply) -> list[Hit]:
    """The keywords that say of something that it is done."""
    known = reply.words.keywords
    return [hit for hit in reply.scope.of("keyword") if known[hit.name].group == "done"]


def bounded(reply: Reply, hits: Iterable[Hit]) -> Sequence[Hit]:
    """The hits after the last announcement in order, or the first and the last of many."""
    begin = announced(reply)
    hits = sorted(hits, key=_BEGIN)
    if begin:
        hits = [hit for hit in hits if hit.start >= begin]
    return hits if len(hits) <= 2 * _LOOKED_AT else (*hits[:_LOOKED_AT], *hits[-_LOOKED_AT:])


def _of_the_whole(reply: Reply, objections: Objections) -> Iterator[Signal]:
    scope = reply.scope
    if not scope.has(_OF_THE_WHOLE):
        return
    told: set[str] = set()
    for predicate in bounded(reply, (*finished(reply), *scope.of("closed"))):
        if predicate.name in told or not (whole := _whole(reply, predicate)):
            continue
        customers = scope.within("yours", (whole.start, whole.end))
        if not customers and not _is_turned(scope, whole, predicate) and not objections.to(whole):
            told.add(predicate.name)
            yield claim(whole, VERY_HIGH, "It is said of the whole.")


def _whole(reply: Reply, predicate: Hit) -> Hit | None:
    """The claim that "all" makes of a predicate before or behind it, if it is of what makes a task.

    "Everything is done" is left to the keyword, which needs a second signal beside it (Nity Loop).
    """
    scope = reply.scope
    if everything := scope.before("everything", predicate, 4):
        is_keyword = predicate.name in reply.words.keywords
        return None if is_keyword else Hit(predicate.name, everything.start, predicate.end)
    if quantity := scope.before("all", predicate, 9):
        between = quantity.end, predicate.start
        nouns: tuple[Role, ...] = ("goal", "member", "whole")
        goal = any(scope.within(role, between) for role in nouns) or scope.before("goal", quantity, 3)
        return Hit(predicate.name, quantity.start, predicate.end) if goal else None
    quantity = scope.after("all", predicate, 1)
    goal = scope.after("goal", quantity, 5) if quantity else None
    return Hit(predicate.name, predicate.start, goal.end) if goal else None


def _is_turned(scope: Scope, whole: Hit, predicate: Hit) -> bool:
    """Whether something within the claim turns it round, or it stands in a heading."""
    inside = whole.start, predicate.start
    turned = any(scope.within(role, inside) for role in _TURNING) or scope.before("future", predicate, 3)
    return bool(turned) or scope.reading.in_heading(whole.start)


def _of_subjects(reply: Reply, objections: Objections) -> Iterator[Signal]:
    """Of each predicate the first; the reply that says nothing else than one counts as well."""
    if len(reply.reading.text) <= _SHORT and (only := nothing_else(reply, finished(reply))):
        yield claim(only, VERY_HIGH, "The reply says nothing else.")
        return
    if not names_subject(reply):
        return
    told: set[str] = set()
    predicates = bounded(reply, (*finished(reply), *reply.scope.of("closed"), *reply.scope.of("stands")))
    for whole, several in of_subjects(reply, predicates):
        turned = reply.reading.in_heading(whole.start) or any((
            reply.scope.within("qualifier", whole[1:]),
            reply.scope.within("hedge", objections.sentence(whole)),
        ))
        if whole.name not in told and not turned and not objections.to_word(whole):
            told.add(whole.name)
            yield claim(whole, HIGH if several else VERY_HIGH, "It is said of what is the whole.")


def _of_promises(reply: Reply) -> Iterator[Signal]:
    """A promise of completion as the first or last line, also where the run asks for none."""
    told = reply.output.text
    if "<promise>" not in told[:_PROMISE] and "<promise>" not in told[-_PROMISE:]:
        return
    tail = len(told) - len(told[-_PROMISE:])
    found = _PROMISED.match(told) or _PROMISED_LAST.search(told, tail)
    if found is None:
        return
    words = reply.words.find(found[1].lower())
    if "keyword" in words and "negation" not in words:
        moved = len(reply.reading.text) - len(told) if found.start(1) > tail else 0
        yield claim(Hit("promise", found.start(1) + moved, found.end(1) + moved), VERY_HIGH, "It is promised.")


def _of_nothing(reply: Reply, objections: Objections) -> Iterator[Signal]:
    scope = reply.scope
    for role, weight in _NOTHING.items():
        for hit in bounded(reply, scope.of(role)) if role in scope.hits else ():
            if not (scope.reading.in_heading(hit.start) or objections.to(hit, parts=role != "last")):
                yield claim(Hit(role, hit.start, hit.end), weight, "Nothing is said to be left to do.")
                break


def _of_titles(reply: Reply, objections: Objections) -> Iterator[Signal]:
    """The first headings, where they end in a keyword behind what they are about."""
    scope, prose = reply.scope, reply.reading.prose
    for heading in reply.reading.headings[:_TITLES]:
        for hit in scope.within("keyword", heading)[-1:]:
            about = scope.within("goal", (heading[0], hit.start)) or IDENTIFIER.search(prose, heading[0], hit.start)
            success = scope.after("outright", hit, 0)
            ends = not prose[success.end if success else hit.end : heading[1]].strip(_MARKS)
            if about and ends and not objections.to(hit):
                yield claim(hit, HIGH, "The title says so.")
