"""How a reply sounds by its words alone: finished, blocked, or asking. Weighted sums, learned from cases.

Every word counts once, with a weight for standing anywhere and another one for standing among the first. The weights
lie in `wording.json` beside this module; tests/unit/analysis/fit_wording.py learned them from the labelled replies
among the project's own test cases. A sum of 0 says nothing; each step of 1 multiplies the odds by 2.7.
"""

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import fsum
from typing import NamedTuple

__all__ = ["SOUNDS", "Weights", "Wording", "features", "weights", "wording"]

SOUNDS = ("done", "blocked", "question")
"""The states that a reply is told by its words."""

_FIRST = 25
"""How many words are the first."""

_HEAD, _TAIL = 4_000, 8_000
"""Characters of a longer reply that are read at either end."""

_SIGNS = "?!:…✅✓✔❌⚠"
"""What counts as a word of its own; other punctuation counts for nothing."""

_KEPT = f"{_SIGNS}'/"
"""Characters that stay, besides letters."""

_COMMON = 0xA000
"""Characters before this one are remembered; a text may hold a million others."""

_Row = tuple[float, ...]
"""A number for each of `SOUNDS`."""


class Weights(NamedTuple):
    """What was learned, for each of `SOUNDS`: without any word, where the task is known, and for the words."""

    base: _Row
    task: _Row
    anywhere: dict[str, _Row]
    first: dict[str, _Row]


@dataclass(frozen=True, slots=True)
class Wording:
    """How a reply sounds.

    Attributes:
        odds: the sum of the weights, for each of `SOUNDS`.
        count: how many different words there are.
        heard: the words that have a weight, with those weights.
    """

    odds: _Row
    count: int
    heard: list[tuple[str, _Row]]

    def telling(self, state: str, *, against: bool = False) -> list[str]:
        """The words that speak most for a state, or against it; three at most."""
        column, sign = SOUNDS.index(state), 1 if against else -1
        sums: dict[str, float] = {}
        for word, row in self.heard:
            sums[word] = sums.get(word, 0.0) + sign * row[column]
        return [word for _, word in sorted([(weight, word) for word, weight in sums.items() if weight < 0])[:3]]


@cache
def weights() -> Weights:
    """The weights that Ralph comes with."""
    return Weights(**json.loads(files("ralph.analysis").joinpath("wording.json").read_text("utf-8")))


class _Table(dict[int, int | str]):
    """What becomes of a character: letters and signs stay, Chinese ones stand apart, a digit is a #. A table that makes
    one character of one takes a tenth of the time in ASCII text, so that signs are set apart before.
    """

    def __missing__(self, code: int) -> int | str:
        kept = self._kept(chr(code))
        if code < _COMMON:
            self[code] = kept
        return kept

    def _kept(self, character: str) -> str:
        if "\u4e00" <= character <= "\u9fff":
            return f" {character} "
        if character.isdigit():
            return "#"
        return character if character.isalpha() or character in _KEPT else " "


_TABLE = _Table()


def features(prose: str) -> tuple[set[str], set[str]]:
    """The words of a reply, each once: all of them, and the first. A number is as many # as it has digits."""
    if len(prose) > _HEAD + _TAIL:
        prose = f"{prose[:_HEAD]} {prose[-_TAIL:]}"
    prose = prose.lower()
    for sign in _SIGNS:
        if sign in prose:
            prose = prose.replace(sign, f" {sign} ")
    words = prose.translate(_TABLE).split()
    return set(words), set(words[:_FIRST])


def wording(prose: str, *, task: bool, learned: Weights | None = None) -> Wording:
    """How a reply sounds.

    Args:
        prose: without code.
        task: whether the task is known.
    """
    learned = learned or weights()
    anywhere, first = features(prose)
    heard = [(word, learned.anywhere[word]) for word in anywhere & learned.anywhere.keys()]
    heard += [(word, learned.first[word]) for word in first & learned.first.keys()]
    rows = [learned.base, *[row for _, row in heard]]
    if task:
        rows.append(learned.task)
    odds = map(fsum, zip(*rows, strict=True))  # exact: the order of the words in a set is another one in each process
    return Wording(tuple(odds), len(anywhere), heard)
