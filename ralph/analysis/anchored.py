"""Patterns that are tried only where one of their words stands."""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from ahocorasick_rs import AhoCorasick, MatchKind

from ralph.pattern import pattern as late

__all__ = ["Anchored", "Around"]


class Anchored:
    """A regular expression whose matches all begin with one of a few words.

    `re` alone would try it at every character; finding the words first costs a tenth of that in prose.

    Args:
        words: what a match may begin with. Of words that overlap in the text only the first, longest one is tried.
        pattern: in the syntax of `re.VERBOSE`.
        needed: words of which every match has one. Where none is there, nothing is searched.
    """

    def __init__(self, words: Sequence[str], pattern: str, needed: Sequence[str] = ()) -> None:
        self._begins = words
        self._needed = needed or words
        self._pattern = late(pattern, re.VERBOSE)

    @cached_property
    def _words(self) -> AhoCorasick:
        return AhoCorasick(self._begins, MatchKind.LeftmostLongest, store_patterns=False)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """The matches in order; none overlaps another."""
        if not any(map(text.__contains__, self._needed)):
            return
        end = 0
        for _, start, _ in self._words.find_matches_as_indexes(text):
            if start >= end and (match := self._pattern.match(text, start)):
                end = match.end()
                yield match

    def search(self, text: str) -> re.Match[str] | None:
        """The first match."""
        return next(self.finditer(text), None)


class Around:
    """A regular expression that is searched only around words which every match has.

    For words that are rarer than what a match begins with, such as a number.

    Args:
        words: one of them stands in every match.
        pattern: in the syntax of `re.VERBOSE`.
        before, after: how many characters of a match may stand before and behind the word's beginning.
        needed: what every match has as well, in a form that is found sooner. Around a word without it nothing is
            searched.
        near: how many characters before and behind the word's beginning that may stand; as many as a match by default.
    """

    MOST = 100
    """Places of each word that are looked at."""

    def __init__(
        self, words: Sequence[str], pattern: str, before: int, after: int, needed: str, *, near: int | None = None
    ) -> None:
        self._words, self._needed = words, late(needed)
        self._pattern = late(pattern, re.VERBOSE)
        self._before, self._after = before, after
        self._near = (before, after) if near is None else (near, near)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """The matches around one word after another; what is near two of them is found twice."""
        for word in self._words:
            place = text.find(word)
            for _ in range(self.MOST):
                if place < 0:
                    break
                if self._needed.search(text, max(0, place - self._near[0]), place + self._near[1]):
                    yield from self._pattern.finditer(text, max(0, place - self._before), place + self._after)
                place = text.find(word, place + 1)

    def search(self, text: str) -> re.Match[str] | None:
        """The first match around the first word that has one."""
        return next(self.finditer(text), None)
