"""Clauses of a statement: what each says itself, and what it takes over from the one before."""

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from ralph_grounding.similarity.amounts import amounts
from ralph_grounding.similarity.statement import Statement
from ralph_grounding.text.words import ARTICLES, LINKS, PREPOSITIONS, is_negation

__all__ = ["Clause", "clauses"]

_BREAK = re.compile(r"[;—–]|\.\s|:\s")
_CONTRASTING, _ADDING, _REFERRING = LINKS["contrast"], LINKS["addition"], LINKS["reference"]


class Clause(NamedTuple):
    """A part of a statement.

    Attributes:
        first, last: the places of its first word, and of the first after it.
        inherited: the places of earlier words that hold for it, too; neither amounts nor negations.
    """

    first: int
    last: int
    inherited: frozenset[int]

    def has(self, place: int) -> bool:
        """Return True if a place of the statement belongs to the clause, or is inherited."""
        return self.first <= place < self.last or place in self.inherited

    def owns(self, place: int) -> bool:
        """Return True if a place of the statement belongs to the clause itself."""
        return self.first <= place < self.last


def clauses(said: Statement, measured: Collection[int] | None = None) -> tuple[Clause, ...]:
    """Split a statement where two parts may differ in subject, amount or negation; usually it is one clause."""
    if not said.words:
        return ()
    if measured is None:
        measured = {place for amount in amounts(said) for place in range(amount.first, amount.last + 1)}
    cuts = [0, *(place for place in range(1, len(said.words)) if _may_cut(said, place)), len(said.words)]
    parts: list[Clause] = []
    first = 0
    for cut, after in zip(cuts[1:], [*cuts[2:], len(said.words)], strict=True):
        if cut < len(said.words) and not _differ(said, first, cut, after, measured):
            continue
        parts.append(Clause(first, cut, _inherited(said, parts[-1] if parts else None, first, cut, measured)))
        first = cut
    return tuple(parts)


def _may_cut(said: Statement, place: int) -> bool:
    word = said.words[place]
    between = said.text[said.words[place - 1].end : word.start]
    if word.word in _CONTRASTING or word.word in _ADDING:
        return True
    return between != " " and ("," in between or _BREAK.search(between) is not None)


def _differ(said: Statement, first: int, cut: int, after: int, measured: Collection[int]) -> bool:
    """Return True if the parts before and after a cut say different things, rather than list things."""
    before, following = range(first, cut), range(cut, after)
    if not any(said.content[place] for place in before) or not any(said.content[place] for place in following):
        return False
    word = said.words[cut]
    between = said.text[said.words[cut - 1].end : word.start]
    if word.word in _CONTRASTING or _BREAK.search(between):
        return True
    if _denies(said, before) != _denies(said, following):
        return True
    if any(place in measured for place in before) and any(place in measured for place in following):
        return sum(said.content[place] for place in following) >= 2
    if not any(map(said.is_name, before)):
        return False
    return _begins_anew(said, cut, after) or _is_parallel(said, before, following)


def _is_parallel(said: Statement, before: Sequence[int], following: Sequence[int]) -> bool:
    """Return True if both parts begin with the same word, each with its own name: "gate B4 …, gate B7 …"."""
    first = [next((p for p in part if said.content[p]), -1) for part in (before, following)]
    if -1 in first or said.words[first[0]].stem != said.words[first[1]].stem:
        return False
    return any(map(said.is_name, following)) and sum(said.content[p] for p in following) > 2


def _denies(said: Statement, places: Sequence[int]) -> bool:
    return any(is_negation(said.words[place].word, said.language) for place in places)


def _begins_anew(said: Statement, cut: int, after: int) -> bool:
    """Return True if a part begins with a subject of its own, and has more to say."""
    start = cut + (said.words[cut].word in _ADDING | _CONTRASTING)
    if start >= after:
        return False
    fresh = said.words[start].word in ARTICLES | _REFERRING or said.is_name(start)
    content = [place for place in range(start, after) if said.content[place]]
    plain = sum(not said.is_name(place) for place in content)
    return fresh and (plain >= 2 or (plain == 1 and len(content) > 2 and said.is_name(start)))


def _inherited(
    said: Statement, before: Clause | None, first: int, last: int, measured: Collection[int]
) -> frozenset[int]:
    if before is None:
        return frozenset()
    start = first + (said.words[first].word in _ADDING | _CONTRASTING)
    own = [place for place in range(start, last) if said.content[place] and place not in measured]
    earlier = [place for place in range(before.first, before.last) if said.content[place]]
    known = {said.words[place].stem for place in earlier if place not in measured and not said.is_name(place)}
    refers = any(said.words[place].word in _REFERRING for place in range(start, last))
    anew = start < last and (
        (_begins_anew(said, first, last) and not is_negation(said.words[start].word, said.language))
        or (len(own) > 2 and any(said.words[place].stem in known for place in own))
    )
    if anew and not refers:
        return frozenset()
    if anew:  # "it" is what the part before ends with
        return frozenset([place for place in earlier if place not in measured and not said.is_name(place)][-1:])
    if _is_predicate(said, start, last):
        return frozenset(_subject(said, before))
    replaced = _replaced(said, before, start, last)
    return frozenset(p for p in (*earlier, *before.inherited) if p not in measured and p not in replaced)


def _is_predicate(said: Statement, start: int, last: int) -> bool:
    """Return True if a part begins with a verb, as far as one can see: a word followed by a function word."""
    if start + 1 >= last or not said.content[start] or said.words[start].number or said.is_name(start):
        return False
    return not said.content[start + 1]


def _subject(said: Statement, clause: Clause) -> list[int]:
    """Return the places of the first content words of a clause: a name, or a noun."""
    content = [place for place in range(clause.first, clause.last) if said.content[place]]
    names = 0
    while names < len(content) and said.is_name(content[names]) and content[names] == content[0] + names:
        names += 1
    return content[: max(names, 1)] or list(clause.inherited)


def _replaced(said: Statement, before: Clause, start: int, last: int) -> set[int]:
    """Return the places of the words after a preposition that the new part has, too."""
    own = {said.words[place].word for place in range(start, last)} & PREPOSITIONS
    found: set[int] = set()
    replacing = False
    for place in range(before.first, before.last):
        if not said.content[place] and said.words[place].word in PREPOSITIONS:
            replacing = said.words[place].word in own
        elif replacing:
            found.add(place)
    return found
