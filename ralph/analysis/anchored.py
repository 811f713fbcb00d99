"""A pattern that is tried only where one of the words that it begins with stands."""

import re
from collections.abc import Iterator, Sequence

from ahocorasick_rs import AhoCorasick, MatchKind

__all__ = ["Anchored"]


class Anchored:
    """A regular expression whose matches all begin with one of a few words.

    `re` alone would try it at every character; finding the words first costs a tenth of that in prose.

    Args:
        words: what a match may begin with. Of words that overlap in the text only the first, longest one is tried.
        pattern: in the syntax of `re.VERBOSE`.
        needed: words of which every match has one. Where none is there, nothing is searched.
    """

    def __init__(self, words: Sequence[str], pattern: str, needed: Sequence[str] = ()) -> None:
        self._words = AhoCorasick(words, MatchKind.LeftmostLongest, store_patterns=False)
        self._pattern = re.compile(pattern, re.VERBOSE)
        self._needed = needed or words

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
