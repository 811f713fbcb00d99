"""Words found in a text despite different spelling, joining or splitting."""

from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from ralph_grounding.text import Token

__all__ = ["Vocabulary"]

# The share of pairs of letters from which two words count as the same, misspelt or inflected in a way that the
# stemmer does not know.
_ALIKE = 0.65
_SHORTEST = 4
_LENGTHS_APART = 3

# Bounds the work on endless texts: look-ups per vocabulary, and words compared per look-up.
_LOOKUPS = 64
_CANDIDATES = 512


class Vocabulary:
    """The words of a text. It counts its searches for misspellings, and stops beyond a limit."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._stems = {token.stem for token in tokens}
        self._words = {token.word for token in tokens}
        self._joined = {first.word + second.word for first, second in pairwise(tokens)}
        self._by_letter: dict[str, dict[str, None]] = defaultdict(dict)
        for token in tokens:
            if not token.number and len(token.word) >= _SHORTEST:
                self._by_letter[token.word[0]][token.word] = None
        self._lookups = 0

    def __contains__(self, stem: str) -> bool:
        return stem in self._stems

    def share(self, token: Token, before: str = "", after: str = "") -> float:
        """Return the share of a word in the text: 1 as it is, joined or split; less if misspelt; or 0.

        Numbers are there or they are not.
        """
        if token.stem in self._stems:
            return 1.0
        if token.number:
            return 0.0
        word = token.word
        if word in self._joined or word + after in self._words or before + word in self._words:
            return 1.0
        return self._misspelt(word)

    def _misspelt(self, word: str) -> float:
        if len(word) < _SHORTEST or self._lookups >= _LOOKUPS:
            return 0.0
        self._lookups += 1
        pairs = _pairs(word)
        likeness = 0.0
        for other in list(self._by_letter.get(word[0], ()))[:_CANDIDATES]:
            if abs(len(other) - len(word)) <= _LENGTHS_APART:
                others = _pairs(other)
                likeness = max(likeness, 2 * len(pairs & others) / (len(pairs) + len(others)))
        return likeness if likeness >= _ALIKE else 0.0


@lru_cache(maxsize=16_384)
def _pairs(word: str) -> frozenset[str]:
    """Return its pairs of letters, and the first letter alone."""
    return frozenset(word[at : at + 2] for at in range(len(word) - 1)) | {word[0]}
