"""Denials: a claim affirms something that a statement denies, or the reverse."""

from collections.abc import Iterator

from ralph_grounding.result import Conflict
from ralph_grounding.similarity.ruled_out import ruled_out_in_one
from ralph_grounding.similarity.statement import Statement
from ralph_grounding.text.negations import DENYING_ENDINGS, DENYING_MARKS
from ralph_grounding.text.sentences import sentences

__all__ = ["denials"]


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
