"""Names that a negation rules out, whatever the verb: Windows, in "does not support Windows".

Only names count, and only if nothing else can be denied: "does not support Windows in the free edition" and "does not
require Windows" rule out nothing.
"""

from collections.abc import Iterator

from ralph_grounding.result import Conflict
from ralph_grounding.similarity.statement import ALIKE, Statement

__all__ = ["ruled_out_in_one"]

_BEFORE = 8
"""Words between a negation and the end of what it rules out."""
_JOINING = frozenset({
    "or",
    "nor",
    "and",
    "oder",
    "und",
    "noch",
    "ou",
    "et",
    "ni",
    "o",
    "y",
    "e",
    "of",
    "en",
    "och",
    "og",
})
_CLOSING = frozenset({"yet", "either", "anymore"})
_LEAVING_ROOM = frozenset({
    "without", "only", "just", "merely", "simply", "until", "than", "as", "like", "requir", "need", "depend", "reli",
    "limit", "restrict", "differ", "compar", "matter", "mean", "exclud", "wie", "als", "nur", "seulement", "solo",
    "sans", "ohne", "sin", "senza",
})  # fmt: skip
_EXCEPTING = frozenset({"except", "but", "exclud", "unlik", "besid", "apart", "instead", "without", "non", "other"})


def ruled_out_in_one(ours: Statement, theirs: Statement) -> Iterator[Conflict]:
    """Yield names that one of the two rules out and the other has, if the other has little else beyond the first."""
    for root, negation in _ruled_out(ours).items():
        places = theirs.at.get(root, ())
        if places and _affirmed(theirs, places) and ours.says_most_of(theirs, without=places, least=ALIKE):
            word = theirs.words[places[0]]
            yield theirs.conflict("negation", ours.written(negation, ours.at[root][0]), word.start, word.end)
    for root, negation in _ruled_out(theirs).items():
        places = ours.at.get(root, ())
        if places and _affirmed(ours, places) and theirs.says_most_of(ours, without=places, least=ALIKE):
            start, end = theirs.words[negation].start, theirs.words[theirs.at[root][0]].end
            yield theirs.conflict("negation", ours.written(places[0], places[0]), start, end)


def _ruled_out(said: Statement) -> dict[str, int]:
    """Return the stems of the ruled-out names that occur once, each with the place of the negation."""
    found: dict[str, int] = {}
    for negation in sorted(set(said.denied_by.values())):
        for place in _things(said, negation):
            if len(said.at[said.words[place].stem]) == 1:
                found[said.words[place].stem] = negation
    return found


def _things(said: Statement, negation: int) -> Iterator[int]:
    """Yield the places of a name at the end of the clause and of those joined to it, with at most a verb between."""
    verbs, name = 0, -1
    if said.words[negation].stem in _LEAVING_ROOM:
        return
    for place in range(negation + 1, min(negation + 1 + _BEFORE, len(said.words))):
        word = said.words[place]
        if said.clause[place] != said.clause[negation] or word.word in _JOINING or word.word in _CLOSING:
            if name < 0:
                return
            yield name
            if word.word not in _JOINING or said.clause[place] != said.clause[negation]:
                return
            name, verbs = -1, 1
        elif name >= 0 or word.stem in _LEAVING_ROOM or (said.content[place] and not said.is_name(place) and verbs):
            return
        elif said.is_name(place):
            name = place
        else:
            verbs += said.content[place]
    if name == len(said.words) - 1:
        yield name


def _affirmed(said: Statement, places: tuple[int, ...]) -> bool:
    """Return True if nothing casts doubt on the statement, and no place is part of a longer name."""
    doubted = {said.clause[place] for place in said.doubtful}
    return not any(
        said.clause[place] in doubted or _excepted(said, place) or _in_longer_name(said, place) for place in places
    )


def _excepted(said: Statement, place: int) -> bool:
    return any(word.stem in _EXCEPTING for word in said.words[max(0, place - 2) : place])


def _in_longer_name(said: Statement, place: int) -> bool:
    return said.is_name(place + 1) or (place > 1 and said.is_name(place - 1))
