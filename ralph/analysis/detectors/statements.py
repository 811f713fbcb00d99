"""Plain statements on the whole: "The migration is finished.", "Issue #12 is fixed", "The memory leak is gone".

The subject has to be the subject of its sentence: what names a whole, or a trouble at the beginning of the reply. "The
tests of the feature are complete" states it of the tests. What is one of several by its number, such as "task 4", is no
whole by itself; an issue is.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from operator import itemgetter

from ralph.analysis.detectors.objections import Objections
from ralph.analysis.lexicon import Role
from ralph.analysis.signals import Reply
from ralph.analysis.text import Span
from ralph.analysis.vocabulary import Hit
from ralph.system.text import pattern

__all__ = ["is_stated", "names_subject", "nothing_else", "of_subjects"]

_REACH = 160
"""Characters between the beginning of a sentence and what it states."""
_LINKED = 60
"""Characters of a copula and its adverbs, at most."""
_NEAR = 40
"""Characters before a predicate in which its copula stands."""
_OPENING = 300
"""Characters of a reply in which its trouble is named."""
_SUBJECTS = 6
"""Nouns of a sentence that are looked at, from its beginning."""
_COPULA = pattern(
    r"(?:\b(?:is|are|has been|have been|está|están|ha sido|han sido|ist|sind|wurde|wurden)|'s)[\s*_]{1,4}"
    r"(?:(?:now|all|also|already|100%|[a-z]{2,12}ly|ya|jetzt|nun)[\s*_]{1,4}){0,2}\Z"
)
_OF_OTHER = pattern(
    r"\b(?:for|of|in|to|with|on|from|by|about|that|which|who|if|when|after|before|until|tests?|is|are|was|were|has|need"
    r"|needs|next|first|each|sure|ensure|check|verify|verified|until|once|hope|assume|whether|think|de|del|para|en|con|que)\b|\d|[第部]|[前下其][一二兩两三中]"
)
_MARK = pattern("[,;:!?，：；、（(—–•✅🎉✓✔☑️]")
_JOINT = pattern(r"\b(?:and|so|y)\b|(?<=\s)-(?=\s)")
"""What ends a clause. Words are looked for apart, and only where they may be: that takes a third of the time."""
_VERB = pattern(r"\b(?:is|are|was|were|but|needs?|will|has|have|que)\b")
_BEHIND = pattern(
    r"[\s*_]*(?:\Z|[#\d(]|(?:for|of|to|from|in|on|with|into|itself|as|de|del|a|para|en)\b|[a-z]{1,10}-\d)"
)
"""What may follow a noun that is the subject; another noun would be it instead."""
_NOUNS: tuple[Role, ...] = ("whole", "piece", "trouble")
_WHERE_LATE = _NOUNS[:2]
"""Nouns that may be the subject, and those that may where the reply is no longer at its beginning."""
_ANY_NOUN: frozenset[Role] = frozenset(_NOUNS)
_SEVERAL: tuple[Role, ...] = ("part", "pieced", "following")
_COPULAS = ("is ", "are ", "está ", "están ")
_PLAINLY = frozenset({*_COPULAS, "ist ", "sind ", "wurde ", "wurden "})
"""What stands most often between a subject and its predicate: no pattern has to be asked then."""
_ARTICLES = frozenset({"", "the "})
"""What stands most often before a subject."""
_MARKS = " *_#0123456789-已经經也先前都"
_NUMBERED = pattern(r"[\s*_]{0,3}#?[a-z]{0,4}-?\d")
_REPORTED = frozenset({"issue", "ticket", "bug", "request", "error", "problem", "regression", "defect"})
_WORD = pattern(r"[^\W\d_]+")
_MOST = 4
_END = itemgetter(2)
"""Where a hit ends."""


def of_subjects(reply: Reply, predicates: Iterable[Hit]) -> Iterator[tuple[Hit, bool]]:
    """The statements that some predicates make of a whole, a piece or a trouble, each as the span from that on; and
    whether it may be one of several that the reply speaks of.
    """
    objections = Objections.of(reply)
    ends = sorted(map(_END, chain.from_iterable(map(reply.scope.of, _NOUNS))))
    for predicate in predicates:
        nearest = bisect_right(ends, predicate.start)
        if not nearest or ends[nearest - 1] <= predicate.start - _REACH:
            continue  # most predicates have no noun before them
        begin = max(reply.reading.sentence(predicate.start)[0], predicate.start - _REACH)
        if ends[nearest - 1] <= begin:
            continue
        clause = _clause(reply.reading.prose, begin, predicate.start)
        if ends[nearest - 1] <= clause:
            continue
        roles = _NOUNS if predicate.start < objections.since + _OPENING else _WHERE_LATE
        for role, subject in _subjects(reply, predicate, (begin, clause), roles):
            several = role != "whole" and _speaks_of_several(reply, objections)
            yield Hit(predicate.name, subject.start, predicate.end), several
            break


def _speaks_of_several(reply: Reply, objections: Objections) -> bool:
    """Whether a reply that is given no task speaks of several pieces of work after its last announcement."""
    rest = objections.since, len(reply.reading.prose)
    return not objections.task.given and any(reply.scope.within(role, rest) for role in _SEVERAL)


def names_subject(reply: Reply) -> bool:
    """Whether it has any noun of which a statement could be made."""
    return reply.scope.has(_ANY_NOUN)


def is_stated(prose: str, predicate: Hit) -> bool:
    """Whether a copula stands before a predicate: "is fixed", "has been merged"."""
    if prose.startswith(_COPULAS, predicate.start):
        return True
    return _copula(prose, max(0, predicate.start - _NEAR), predicate.start) is not None


def _copula(prose: str, begin: int, end: int) -> int | None:
    """Where the copula begins that a span ends with, its adverbs behind it."""
    last = prose.rfind(" ", begin, end - 1) + 1
    if prose[last:end] in _PLAINLY:
        return last
    found = _COPULA.search(prose, begin, end)
    return found.start() if found else None


def nothing_else(reply: Reply, predicates: Iterable[Hit]) -> Hit | None:
    """The predicate that is the whole reply: "Done."."""
    words = _WORD.findall(reply.reading.lower)
    words = words[1:] if words[:1] == ["all"] else words
    return next((hit for hit in predicates if words == _WORD.findall(reply.reading.prose[hit.start : hit.end])), None)


def _subjects(reply: Reply, predicate: Hit, begins: Span, roles: Sequence[Role]) -> Iterator[tuple[Role, Hit]]:
    """The subjects of a predicate, right before it or with a copula in between.

    Args:
        begins: where its sentence begins, as far as it is looked at, and where its clause.
    """
    scope, prose = reply.scope, reply.reading.prose
    begin, clause = begins
    copula = _copula(prose, max(begin, predicate.start - _LINKED), predicate.start)
    end = predicate.start if copula is None else copula
    joined = copula is not None or prose.startswith(_COPULAS, predicate.start)
    for role in roles:
        for subject in scope.within(role, (clause, end))[:_SUBJECTS]:
            between = prose[subject.end : end]
            if subject.start < clause or _is_of_other(prose[clause : subject.start]):
                continue
            if _is_one_of_several(reply, subject):
                continue
            if joined:
                if _BEHIND.match(between) and not _VERB.search(between):
                    yield role, subject
            elif not between.strip(_MARKS) and (predicate.name in reply.words.keywords or not predicate.name.isascii()):
                yield role, subject


def _clause(prose: str, begin: int, end: int) -> int:
    """Where the clause begins that goes on there."""
    clause = _MARK.split(prose[begin:end])[-1]
    if "and" in clause or "so" in clause or "y" in clause or "-" in clause:
        clause = _JOINT.split(clause)[-1]
    return end - len(clause)


def _is_one_of_several(reply: Reply, subject: Hit) -> bool:
    """Whether a number behind a noun makes it a part, where the task does not call itself so."""
    if subject.name in _REPORTED or not _NUMBERED.match(reply.reading.prose, subject.end):
        return False
    task = Objections.of(reply).task
    return not task.is_named(reply.reading.prose[slice(*reply.reading.sentence(subject.start))][:_REACH])


def _is_of_other(lead: str) -> bool:
    """Whether what stands before a noun makes it no subject: "the tests of the" feature."""
    return lead not in _ARTICLES and (len(_WORD.findall(lead)) > _MOST or _OF_OTHER.search(lead) is not None)
