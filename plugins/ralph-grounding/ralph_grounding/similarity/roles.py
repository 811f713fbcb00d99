"""The roles in a statement: two things that change places, and another name in the place of the one in the claim."""

from collections.abc import Iterator, Sequence

from ralph_grounding.similarity.clauses import Clause
from ralph_grounding.similarity.statement import Statement
from ralph_grounding.text.words import ARTICLES, LINKS, PREPOSITIONS

__all__ = ["exchanged", "other_name"]

_FREE = frozenset({"de", "nl", "sv", "da", "no", "ru", "pl"})
"""Languages in which the object may come first."""
_SIDE = 5


def exchanged(ours: Statement, theirs: Statement, clause: Clause) -> Iterator[tuple[int, int]]:
    """Yield the stretch of a statement in which two things have changed places around the same word.

    "A beat B" and "B beat A" differ so; "A beat B" and "B was beaten by A" do not.
    """
    for place, word in enumerate(ours.words if ours.language not in _FREE else ()):
        if not ours.content[place] or word.number or ours.is_name(place) or _is_noun(ours, place):
            continue
        for other in theirs.at.get(word.stem, ()):
            if not clause.owns(other):
                continue
            before, after = _sides(ours, place, 0, len(ours.words))
            earlier, later = _sides(theirs, other, clause.first, clause.last)
            if _changed_places(before, after, earlier, later):
                yield theirs.words[clause.first].start, theirs.words[clause.last - 1].end
                return
    yield from _prepositions(ours, theirs, clause)


def _is_noun(said: Statement, place: int) -> bool:
    return place > 0 and said.words[place - 1].word in ARTICLES


def _sides(said: Statement, place: int, first: int, last: int) -> tuple[set[str], set[str]]:
    """Return the stems of names, or else of the nearest nouns, before and after a word; turned round in the passive."""
    start = next((p + 1 for p in range(place + 1, last) if said.words[p].word in LINKS["agent"]), 0)
    passive = start > 0 and (start == place + 2 or (place > first and said.words[place - 1].word in LINKS["being"]))
    before = [p for p in range(place - 1, first - 1, -1) if said.content[p]][:_SIDE]
    after = [p for p in range(start if passive else place + 1, last) if said.content[p]][:_SIDE]
    names = [[p for p in side if said.is_name(p) and not said.words[p].number] for side in (before, after)]
    one = {said.words[p].stem for p in (names[0] or before[:1])}
    two = {said.words[p].stem for p in (names[1] or after[:1])}
    return (two, one) if passive else (one, two)


def _changed_places(before: set[str], after: set[str], earlier: set[str], later: set[str]) -> bool:
    common = (before & after) | (earlier & later)
    return bool((before & later) - common) and bool((after & earlier) - common)


def _prepositions(ours: Statement, theirs: Statement, clause: Clause) -> Iterator[tuple[int, int]]:
    """Yield the names that stand after each other's prepositions, as in "from A to B" and "from B to A"."""
    mine = _after_prepositions(ours, 0, len(ours.words))
    yours = _after_prepositions(theirs, clause.first, clause.last)
    for preposition, place in mine.items():
        for other, there in yours.items():
            swapped = preposition != other and ours.words[place].stem == theirs.words[there].stem
            if not swapped or other not in mine or preposition not in yours:
                continue
            if ours.words[mine[other]].stem == theirs.words[yours[preposition]].stem:
                yield (
                    theirs.words[min(there, yours[preposition])].start,
                    theirs.words[max(there, yours[preposition])].end,
                )
                return


def _after_prepositions(said: Statement, first: int, last: int) -> dict[str, int]:
    """Return the place of the first content word after each preposition."""
    found: dict[str, int] = {}
    waiting = ""
    for place in range(first, last):
        word = said.words[place]
        if word.word in PREPOSITIONS and not said.content[place]:
            waiting = word.word
        elif said.content[place] and waiting:
            found.setdefault(waiting, place)
            waiting = ""
    return found


def other_name(
    ours: Statement, missing: Sequence[int], theirs: Statement, clause: Clause
) -> tuple[str, int, int] | None:
    """Return the claim's name, and the place of another name that stands where it should: as subject, or after "in"."""
    first, last = missing[0], missing[-1]
    if "/" in ours.text or any(theirs.words[p].word in LINKS["subject"] for p in range(clause.first, clause.last)):
        return None
    others = [
        place
        for place in range(clause.first, clause.last)
        if theirs.is_name(place) and theirs.words[place].stem not in ours.at and not theirs.words[place].number
        and not any(theirs.words[place].stem[:4] == ours.words[p].stem[:4] for p in missing)
        and (place or theirs.is_name(1) or theirs.text[theirs.words[0].start :].split(" ")[0].isupper())
    ]  # fmt: skip
    name = ours.text[ours.words[first].start : ours.words[last].end]
    before = ours.words[first - 1].word if first else ""
    opening = next((place for place in range(len(ours.words)) if ours.content[place]), 0)
    for other in others:
        preceding = theirs.words[other - 1].word if other > clause.first else ""
        beside = other > clause.first and theirs.words[other - 1].stem in ours.at and theirs.is_name(other - 1)
        as_subject = first <= opening + 1 and (preceding in LINKS["agent"] or _opens(theirs, other, clause) or beside)
        in_slot = before in PREPOSITIONS and preceding == before
        part = beside and first and ours.words[first - 1].stem == theirs.words[other - 1].stem
        if as_subject or in_slot or part:
            return name, theirs.words[other].start, theirs.words[other].end
    return None


def _opens(said: Statement, place: int, clause: Clause) -> bool:
    """Return True if only names and function words precede in the clause."""
    return all(not said.content[p] or said.is_name(p) for p in range(clause.first, place))
