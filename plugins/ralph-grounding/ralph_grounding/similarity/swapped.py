"""Numbers that change places between a claim and a statement with the same words."""

from collections import Counter
from collections.abc import Iterator

from ralph_grounding.result import Conflict
from ralph_grounding.similarity.statement import Statement

__all__ = ["swapped"]


def swapped(ours: Statement, theirs: Statement) -> Iterator[Conflict]:
    """Yield two or more numbers that are the same in both, in another order, with the words between them in the same.

    Numbers without a word between them, as in "9, 12 and 15", may stand in any order.
    """
    known = {word.stem for place, word in enumerate(ours.words) if ours.content[place]}
    mine = [place for place in range(len(ours.words)) if ours.content[place]]
    other = [place for place in range(len(theirs.words)) if theirs.words[place].stem in known]
    if len(mine) != len(other) or not any(ours.words[place].number for place in mine):
        return
    pairs = list(zip(mine, other, strict=True))
    unlike = [pair for pair in pairs if ours.words[pair[0]].stem != theirs.words[pair[1]].stem]
    if not all(ours.words[one].number and theirs.words[two].number for one, two in unlike):
        return
    if len(unlike) < 2 or Counter(ours.words[one].stem for one, _ in unlike) != Counter(
        theirs.words[two].stem for _, two in unlike
    ):
        return
    if any(not ours.words[one].number for one, _ in pairs[pairs.index(unlike[0]) : pairs.index(unlike[-1])]):
        for one, two in unlike:
            expected, said = ours.words[one], theirs.words[two]
            yield theirs.conflict("number", ours.text[expected.start : expected.end], said.start, said.end)
