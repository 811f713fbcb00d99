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

from ralph.analysis.detectors.assignment import IDENTIFIER
from ralph.analysis.detectors.objections import Objections
from ralph.analysis.detectors.statements import names_subject, nothing_else, of_subjects
from ralph.analysis.lexicon import Role
from ralph.analysis.scope import Scope
from ralph.analysis.signals import HIGH, VERY_HIGH, Reply, Signal
from ralph.analysis.vocabulary import Hit
from ralph.system.text import pattern

__all__ = ["bounded", "claim", "detect_claims"]

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
_PREDICATES: frozenset[Role] = frozenset({"finished", "closed", "stands"})
_NOTHING_LEFT: frozenset[Role] = frozenset({"nothing left", "last", "needless"})
_KEYWORDS: frozenset[Role] = frozenset({"keyword"})
_OF_THE_WHOLE: frozenset[Role] = frozenset({"all", "everything"})
_TURNING: tuple[Role, ...] = ("negation", "proviso")
_NOTHING: Mapping[Role, int] = {"nothing left": VERY_HIGH, "last": VERY_HIGH, "needless": HIGH}
"""What a word weighs that says that nothing is left or needed."""
_BARE = frozenset({"everything", "the whole thing", "alles", "一切"})
"""What is all of nobody knows what, other than "everything you asked for"."""
_BEGIN = itemgetter(1)
"""Where a hit begins."""


def detect_claims(reply: Reply) -> Iterable[Signal]:
    """Every claim after the last announcement that nothing speaks against; of one predicate the first, and those of a
    subject only where no claim is of all of it.
    """
    scope = reply.scope
    found: list[Signal] = []
    if scope.has(_PREDICATES):
        found += (scope.has(_OF_THE_WHOLE) and _of_the_whole(reply)) or _of_subjects(reply)
    found += _of_promises(reply)
    if scope.has(_NOTHING_LEFT):
        found += _of_nothing(reply)
    if reply.reading.headings and scope.has(_KEYWORDS):
        found += _of_titles(reply)
    return found


def claim(hit: Hit, weight: int, why: str) -> Signal:
    """The signal of a claim."""
    return Signal.at(hit, "completion_claim", weight, why, state="done")


def bounded(reply: Reply, hits: Iterable[Hit]) -> Sequence[Hit]:
    """The hits after the last announcement in order, or the first and the last of many."""
    begin = Objections.of(reply).since
    hits = sorted(hits, key=_BEGIN)
    if begin:
        hits = [hit for hit in hits if hit.start >= begin]
    return hits if len(hits) <= 2 * _LOOKED_AT else (*hits[:_LOOKED_AT], *hits[-_LOOKED_AT:])


def _of_the_whole(reply: Reply) -> list[Signal]:
    scope, objections = reply.scope, Objections.of(reply)
    found: list[Signal] = []
    told: set[str] = set()
    for predicate in bounded(reply, (*scope.of("finished"), *scope.of("closed"))):
        if predicate.name in told or not (whole := _whole(reply, predicate)):
            continue
        customers = scope.within("yours", (whole.start, whole.end))
        if customers or _is_turned(scope, whole, predicate) or objections.is_echoed(predicate):
            continue
        if not objections.to(whole, echoes=False):
            told.add(predicate.name)
            found.append(claim(whole, VERY_HIGH, "It is said of the whole."))
    return found


def _whole(reply: Reply, predicate: Hit) -> Hit | None:
    """The claim that "all" makes of a predicate before or behind it, if it is of what makes a task.

    "Everything is done" is left to the keyword, which needs a second signal beside it (Nity Loop).
    """
    scope = reply.scope
    if everything := scope.before("everything", predicate, 4):
        bare = everything.name in _BARE and predicate.name in reply.words.keywords
        return None if bare else Hit(predicate.name, everything.start, predicate.end)
    if quantity := scope.before("all", predicate, 9):
        between = quantity.end, predicate.start
        nouns: tuple[Role, ...] = ("goal", "member", "whole")
        goal = any(scope.within(role, between) for role in nouns) or scope.before("goal", quantity, 5)
        return Hit(predicate.name, quantity.start, predicate.end) if goal else None
    quantity = scope.after("all", predicate, 1)
    goal = scope.after("goal", quantity, 5) if quantity else None
    return Hit(predicate.name, predicate.start, goal.end) if goal else None


def _is_turned(scope: Scope, whole: Hit, predicate: Hit) -> bool:
    """Whether something within the claim turns it round, or it stands in a heading."""
    inside = whole.start, predicate.start
    turned = any(scope.within(role, inside) for role in _TURNING) or scope.before("future", predicate, 3)
    return bool(turned) or scope.reading.in_heading(whole.start)


def _of_subjects(reply: Reply) -> Iterator[Signal]:
    """Of each predicate the first; the reply that says nothing else than one counts as well."""
    scope = reply.scope
    if len(reply.reading.text) <= _SHORT and (only := nothing_else(reply, scope.of("finished"))):
        yield claim(only, VERY_HIGH, "The reply says nothing else.")
        return
    if not names_subject(reply):
        return
    objections = Objections.of(reply)
    told: set[str] = set()
    predicates = bounded(reply, (*scope.of("finished"), *scope.of("closed"), *scope.of("stands")))
    for whole, several in of_subjects(reply, predicates):
        if whole.name in told or scope.within("qualifier", whole[1:]) or reply.reading.in_heading(whole.start):
            continue
        if not (objections.to_word(whole) or scope.within("hedge", objections.sentence(whole))):
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


def _of_nothing(reply: Reply) -> Iterator[Signal]:
    scope, objections = reply.scope, Objections.of(reply)
    for role, weight in _NOTHING.items():
        for hit in bounded(reply, scope.of(role)) if role in scope.hits else ():
            if not (scope.reading.in_heading(hit.start) or objections.to(hit, parts=role != "last")):
                yield claim(Hit(role, hit.start, hit.end), weight, "Nothing is said to be left to do.")
                break


def _of_titles(reply: Reply) -> Iterator[Signal]:
    """The first headings, where they end in a keyword behind what they are about."""
    scope, prose, objections = reply.scope, reply.reading.prose, Objections.of(reply)
    for heading in reply.reading.headings[:_TITLES]:
        for hit in scope.within("keyword", heading)[-1:]:
            success = scope.after("outright", hit, 0)
            if prose[success.end if success else hit.end : heading[1]].strip(_MARKS):
                continue
            about = scope.within("goal", (heading[0], hit.start)) or IDENTIFIER.search(prose, heading[0], hit.start)
            if about and not objections.to(hit):
                yield claim(hit, HIGH, "The title says so.")
