"""Denials: a claim affirms something that a statement denies, or the reverse.

A negation also rules out names, whatever the verb: Windows, in "does not support Windows". Only names count, and only
if nothing else can be denied: "does not support Windows in the free edition" and "does not require Windows" rule out
nothing.
"""

from collections.abc import Iterator

from ralph_grounding.result import Conflict
from ralph_grounding.similarity.statement import ALIKE, Statement
from ralph_grounding.text.sentences import sentences
from ralph_grounding.text.words import DENYING_ENDINGS, DENYING_MARKS

__all__ = ["denials", "ruled_out_in_one"]

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


def denials(ours: Statement, theirs: Statement) -> Iterator[Conflict]:
    """Yield what only one of the two denies, if they are about the same and the statement is not a question."""
    if theirs.text.rstrip().endswith(("?", "？")):
        return
    found = list(_denials(ours, theirs)) if theirs.says_most_of(ours) else []
    yield from found or ruled_out_in_one(ours, theirs)


def _denials(ours: Statement, theirs: Statement) -> Iterator[Conflict]:
    if len(ours.denied_by) < len(theirs.denied_by):
        yield from _denied_by_them(ours, theirs)
    elif len(ours.denied_by) > len(theirs.denied_by):
        yield from _denied_by_us(ours, theirs)
    yield from _by_characters(ours, theirs)
    yield from _by_endings(ours, theirs)


def _denied_by_them(ours: Statement, theirs: Statement) -> Iterator[Conflict]:
    for place, word in enumerate(ours.words):
        places = theirs.places(word.stem)
        if not places or not ours.content[place] or place in ours.denied_by or place in ours.doubtful:
            continue
        if all(other in theirs.denied_by for other in places):
            negation = theirs.words[theirs.denied_by[places[0]]]
            expected = ours.written(place, place)
            yield theirs.conflict("negation", expected, negation.start, theirs.words[places[0]].end)


def _denied_by_us(ours: Statement, theirs: Statement) -> Iterator[Conflict]:
    for place, negation in ours.denied_by.items():
        places = theirs.places(ours.words[place].stem)
        if places and not any(other in theirs.doubtful for other in places):
            said = theirs.words[places[0]]
            yield theirs.conflict("negation", ours.written(negation, place), said.start, said.end)


def _by_characters(ours: Statement, theirs: Statement) -> Iterator[Conflict]:
    """Compare Chinese texts, with the negation in the character before."""
    for root, places in ours.at.items():
        others = theirs.at.get(root, ())
        if not others or root.isascii() or root[0] in DENYING_MARKS:
            continue
        denied = {_marked(ours, place) for place in places}
        denied_there = {_marked(theirs, place) for place in others}
        if len(denied) == len(denied_there) == 1 and denied != denied_there:
            word, said = ours.words[places[0]], theirs.words[others[0]]
            expected = ours.text[word.start - (True in denied) : word.end]
            yield theirs.conflict("negation", expected, said.start - (True in denied_there), said.end)
            return


def _marked(said: Statement, place: int) -> bool:
    start = said.words[place].start
    return start > 0 and said.text[start - 1] in DENYING_MARKS


def _by_endings(ours: Statement, theirs: Statement) -> Iterator[Conflict]:
    """Compare Japanese and Korean texts, with the negation at the end; for single sentences only."""
    ending, their_ending = DENYING_ENDINGS.search(ours.text), DENYING_ENDINGS.search(theirs.text)
    if (ending is None) == (their_ending is None) or len(sentences(theirs.text)) > 1:
        return
    start, end = their_ending.span() if their_ending else (0, len(theirs.text))
    yield theirs.conflict("negation", ending.group() if ending else ours.text, start, end)
