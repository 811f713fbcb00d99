"""Patterns that are tried only where one of their words stands, and numbers as people write them."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property

from ahocorasick_rs import AhoCorasick, MatchKind

from ralph.system.text import pattern
from ralph.system.text import pattern as late

__all__ = ["COUNT", "PrefilteredPattern", "WindowPattern", "ends_with_count", "has_digit", "matches_at", "parse_count"]


def matches_at(expression: re.Pattern[str], text: str, places: Iterable[int]) -> Iterator[re.Match[str]]:
    """The matches that begin at some ascending places; none overlaps another."""
    end = 0
    for place in places:
        if place >= end and (match := expression.match(text, place)):
            end = match.end()
            yield match


class PrefilteredPattern:
    """A regular expression whose matches all begin with one of a few words.

    `re` alone would try it at every character; finding the words first costs a tenth of that in prose.

    Args:
        words: what a match may begin with. Of words that overlap in the text only the first, longest one is tried.
        pattern: in the syntax of `re.VERBOSE`.
        needed: words of which every match has one. Where none is there, nothing is searched.
    """

    def __init__(self, words: Sequence[str], pattern: str, needed: Sequence[str] = ()) -> None:
        self._begins = words
        self._needed = needed
        self._pattern = late(pattern, re.VERBOSE)

    @cached_property
    def _words(self) -> AhoCorasick:
        return AhoCorasick(self._begins, MatchKind.LeftmostLongest, store_patterns=False)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """The matches in order; none overlaps another."""
        if self._needed and not any(map(text.__contains__, self._needed)):
            return iter(())
        places = [start for _, start, _ in self._words.find_matches_as_indexes(text)]
        return matches_at(self._pattern, text, places) if places else iter(())

    def search(self, text: str) -> re.Match[str] | None:
        """The first match."""
        return next(self.finditer(text), None)


class WindowPattern:
    """A regular expression that is searched only around words which every match has.

    For words that are rarer than what a match begins with, such as a number.

    Args:
        words: one of them stands in every match.
        pattern: in the syntax of `re.VERBOSE`.
        before, after: how many characters of a match may stand before and behind the word's beginning.
        likely: whether a match may be around a word at some place of a text, at a quick look. Around others nothing is
            searched.
    """

    MOST = 100
    """Places of each word that are looked at."""

    def __init__(
        self, words: Sequence[str], pattern: str, before: int, after: int, likely: Callable[[str, int], bool]
    ) -> None:
        self._words, self._likely = words, likely
        self._pattern = late(pattern, re.VERBOSE)
        self._before, self._after = before, after

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """The matches around one word after another; what is near two of them is found twice."""
        for word in self._words:
            place = text.find(word)
            for _ in range(self.MOST):
                if place < 0:
                    break
                if self._likely(text, place):
                    yield from self._pattern.finditer(text, max(0, place - self._before), place + self._after)
                place = text.find(word, place + 1)

    def search(self, text: str) -> re.Match[str] | None:
        """The match that begins first, around whatever word."""
        return min(self.finditer(text), key=re.Match[str].start, default=None)


_TEN = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_CHINESE = "一二三四五六七八九十"
_WORDS = (
    {word: count for count, word in enumerate(_TEN, start=1)}
    | {word: count for count, word in enumerate(_CHINESE, start=1)}
    | {"both": 2, "兩": 2, "两": 2}
)

_ASCII_DIGIT, _DIGIT = pattern("[0-9]"), pattern(r"\d")

COUNT = rf"(?:\d{{1,6}}|{'|'.join(_TEN)}|both)"
"""A number in lower case, as a part of a pattern."""


_COUNT_ENDS = (*_TEN, "both")


def ends_with_count(word: str) -> bool:
    """Whether a word in lower case ends as what `COUNT` finds does."""
    return word[-1:].isdigit() or word.endswith(_COUNT_ENDS)


def parse_count(said: str) -> int:
    """What a number says that `COUNT`, or a Chinese digit, has found."""
    return _WORDS.get(said) or int(said)


def has_digit(text: str) -> bool:
    """Whether a digit stands in it, of any script. Those of ASCII are found five times as fast."""
    return (_ASCII_DIGIT if text.isascii() else _DIGIT).search(text) is not None
