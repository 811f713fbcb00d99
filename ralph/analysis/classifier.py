"""A classifier of how a reply sounds by its words alone: finished, blocked, or asking.

It sums weights that were learned from cases. Every word counts once, with a weight for its occurrence anywhere and
another for one among the first words. The weights are in `classifier.json` beside this module;
tests/unit/analysis/fit_classifier.py learned them from the labelled replies of the project's own test cases. A sum of 0
says nothing; each step of 1 multiplies the odds by 2.7. Weights have two decimals and are summed as whole hundredths,
so that the sum does not depend on the order of the words.
"""

import json
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from importlib.resources import files
from operator import add
from typing import NamedTuple

__all__ = ["CLASSES", "FIRST", "Classification", "Classifier", "Weights", "classifier", "load_weights", "tokenize"]

CLASSES = ("done", "blocked", "question")
"""The states that it tells apart."""

FIRST = 25
"""How many words count as the first."""

_HEAD, _TAIL = 4_000, 8_000
"""Characters that are read at the beginning and at the end of a longer reply."""

_SIGNS = "?!:"
_MARKS = "…✅✓✔❌⚠"
"""Marks that are words of their own; other punctuation is ignored."""

_KEPT = f"{_SIGNS}'/"
"""Characters that stay, besides letters."""

_COMMON = 0xA000
"""Replacements of characters before this one are cached; a text may have a million others."""

_FEW = 16
"""Up to so many distinct characters are replaced one by one; for more, the whole text is translated."""

_REPORTED = 3
"""How many words are reported."""

_Row = tuple[float, ...]
"""A weight for each of `CLASSES`."""
_Hundredths = tuple[int, ...]
"""The same in hundredths."""
_NONE = (0,) * len(CLASSES)


class Weights(NamedTuple):
    """The learned weights for each of `CLASSES`, with two decimals: the base, for a known task, and for the words."""

    base: _Row
    task: _Row
    anywhere: dict[str, _Row]
    first: dict[str, _Row]


def load_weights() -> Weights:
    """Load the built-in weights."""
    return Weights(**json.loads(files("ralph.analysis").joinpath("classifier.json").read_text("utf-8")))


class Classification(NamedTuple):
    """The sums of a reply and the words behind them.

    Attributes:
        odds: the sum of the weights in hundredths, for each of `CLASSES`.
        words: all its words in order.
        known: those with a weight, each once.
        rows: the weights of these.
    """

    odds: _Hundredths
    words: Sequence[str]
    known: Sequence[str]
    rows: Sequence[_Hundredths]

    def strongest_words(self, state: str, *, against: bool = False) -> list[str]:
        """Return the words that count most for a state, or against it; three at most."""
        column, sign = CLASSES.index(state), 1 if against else -1
        weighed = zip(self.known, self.rows, strict=True)
        told = sorted([(weight, word) for word, row in weighed if (weight := sign * row[column]) < 0])
        return [word for _, word in told[:_REPORTED]]


class Classifier:
    """Sums learned weights over the words of a reply."""

    def __init__(self, learned: Weights) -> None:
        self._base, self._task = _hundredths(learned.base), _hundredths(learned.task)
        self._others = {word: _hundredths(row) for word, row in learned.anywhere.items()}
        self._first = dict(self._others)
        for word, row in learned.first.items():
            self._first[word] = tuple(map(add, self._others.get(word, _NONE), _hundredths(row)))

    def classify(self, prose: str, *, task: bool) -> Classification:
        """Return how a reply sounds.

        Args:
            prose: without code, in lower case.
            task: whether the task is known.
        """
        found = tokenize(prose)
        first = self._first.keys() & found[:FIRST]
        others = self._others.keys() & found[FIRST:]
        others -= first
        rows = [*map(self._first.__getitem__, first), *map(self._others.__getitem__, others)]
        given = (self._base, self._task) if task else (self._base,)
        return Classification(tuple(map(sum, zip(*given, *rows, strict=True))), found, [*first, *others], rows)


@cache
def classifier() -> Classifier:
    """Return the classifier with the built-in weights."""
    return Classifier(load_weights())


def _hundredths(row: _Row) -> _Hundredths:
    return tuple([round(100 * weight) for weight in row])


class _Beyond(dict[int, str]):
    """Replacements for characters beyond ASCII: letters stay, Chinese ones and signs stand apart, a digit is a #."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        kept = character if character.isascii() else self._kept(character)
        if code < _COMMON:
            self[code] = kept
        return kept

    def _kept(self, character: str) -> str:
        if "\u4e00" <= character <= "\u9fff" or character in _MARKS:
            return f" {character} "
        if character.isdigit():
            return "#"
        return character if character.isalpha() else " "


def _in_ascii(code: int) -> int:
    """Return the replacement for a character of ASCII: letters and signs stay, a digit is a #."""
    character = chr(code)
    if character.isdigit():
        return ord("#")
    return code if character.isalpha() or character in _KEPT else ord(" ")


_BEYOND = _Beyond()
_ALL_ASCII = bytes(range(128))
_ASCII = bytes(map(_in_ascii, _ALL_ASCII)) + bytes(range(128, 256))
"""Replacements for the bytes of a text. Translating a thousand bytes takes a microsecond; translating characters takes
fifty as soon as one of them is not ASCII."""


def tokenize(prose: str) -> list[str]:
    """Return the words of a reply in order. A number is as many # as it has digits.

    Args:
        prose: in lower case, without lone surrogates, as `read` gives it.
    """
    if len(prose) > _HEAD + _TAIL:
        prose = f"{prose[:_HEAD]} {prose[-_TAIL:]}"
    encoded = prose.encode()
    text = encoded.translate(_ASCII).decode()
    for sign in _SIGNS:
        if sign in text:
            text = text.replace(sign, f" {sign} ")
    if not text.isascii():
        text = _translated(text, set(encoded.translate(None, _ALL_ASCII).decode()))
    return text.split()


def _translated(text: str, beyond: AbstractSet[str]) -> str:
    """Replace the characters of a text that are beyond ASCII."""
    if len(beyond) > _FEW:
        return text.translate(_BEYOND)
    for character in beyond:
        text = text.replace(character, _BEYOND[ord(character)])
    return text
