"""Designations by a letter, as in "Plan B", that differ between a claim and a statement."""

from collections.abc import Iterator

from ralph_grounding.result import Conflict
from ralph_grounding.similarity.statement import Statement
from ralph_grounding.text.designations import is_designation

__all__ = ["other_designations"]


def other_designations(ours: Statement, theirs: Statement) -> Iterator[Conflict]:
    """Yield designations that differ beside the same word, if the claim's own is missing and the rest is similar."""
    expected, said = _designations(ours), _designations(theirs)
    if not expected or not said or not theirs.says_most_of(ours, without=expected):
        return
    known = {theirs.words[place].stem for place in said}
    for place in expected:
        word = ours.words[place]
        if word.stem in known:
            continue
        other = next((other for other in said if _beside_the_same(ours, place, theirs, other)), None)
        if other is not None and theirs.words[other].stem not in ours.at:
            name = theirs.words[other]
            yield theirs.conflict("entity", ours.text[word.start : word.end], name.start, name.end)


def _designations(said: Statement) -> list[int]:
    return [place for place in range(len(said.words)) if is_designation(said.text, said.words, place, said.language)]


def _beside_the_same(ours: Statement, place: int, theirs: Statement, other: int) -> bool:
    """Return True if the words before are the same, or the content words after."""
    if place and other and ours.words[place - 1].stem == theirs.words[other - 1].stem:
        return True
    last = place + 1 >= len(ours.words) or other + 1 >= len(theirs.words)
    return not last and ours.content[place + 1] and ours.words[place + 1].stem == theirs.words[other + 1].stem
