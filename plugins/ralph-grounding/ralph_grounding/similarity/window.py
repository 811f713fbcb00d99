"""A stretch of text small enough to be read at once, and how much of a claim it says."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from ralph_grounding.similarity.claim import Claim
from ralph_grounding.similarity.thesaurus import synonyms
from ralph_grounding.text.span import Span
from ralph_grounding.text.tokens import Token

__all__ = ["Reading", "Window"]

# Found by hand on claims that people judged, where a tenth more or less changes nothing that can be told from chance.
_APART = 0.8
"""What a word counts that is there, but not near any of those that stand beside it in the claim."""
_NEAR = 5
"""Tokens between two that are near each other."""
_SYNONYM = 0.6
_LEAST_ALIKE = 0.15
_ALIKE = 1.8
"""How much of a word is taken to be there for the letters that it shares with another: none up to the least share of
three letters in a row, and in proportion from there on, at most all."""
_LONGER = 0.25
"""What a further sentence must add to be part of the stretch that makes the claim."""
_MOST_SENTENCES = 3


class Reading(NamedTuple):
    """How much of a claim a window says.

    Attributes:
        recall: 0–1, the weight of the claim's words that are there, each as far as it is.
        credits: how far each of them is there, in their order.
        start, end: the sentences that say most of it.
    """

    recall: float
    credits: tuple[float, ...]
    start: int
    end: int


class Window:
    """The words of one or more sentences that follow each other.

    Args:
        words: its tokens, in order.
        sentences: where its sentences are, in order; they hold all the tokens.
    """

    def __init__(self, words: Sequence[Token], sentences: Sequence[Span]) -> None:
        self._places: dict[str, list[int]] = {}
        for place, word in enumerate(words):
            self._places.setdefault(word.stem, []).append(place)
        self._sentences = sentences
        starts = [word.start for word in words]
        self._ends = [bisect_left(starts, sentence.end) for sentence in sentences]
        self._spelt: dict[str, list[str]] = {}
        self._stem_of = {word.word: word.stem for word in words if not word.number}
        for spelling in self._stem_of:
            for letters in _triples(spelling):
                self._spelt.setdefault(letters, []).append(spelling)

    def read(self, claim: Claim) -> Reading:
        """How much of the claim is here. A claim without words is not."""
        found = [self._found(word.token, claim.language) for word in claim.tokens]
        places = [self._places.get(stem, []) for stem, _ in found]
        total = sum(word.weight for word in claim.tokens)
        if not total:
            return Reading(0.0, (), self._sentences[0].start, self._sentences[0].start)
        counted = tuple(
            credit * (_APART if credit == 1 and self._lonely(claim, places, place) else 1.0)
            for place, (_, credit) in enumerate(found)
        )
        recall = sum(word.weight * credit for word, credit in zip(claim.tokens, counted, strict=True)) / total
        weighed = [
            (word.weight * credit / total, at) for word, credit, at in zip(claim.tokens, counted, places, strict=True)
        ]
        first, last = self._best_sentences(weighed)
        return Reading(min(1.0, recall), counted, self._sentences[first].start, self._sentences[last].end)

    def _found(self, word: Token, language: str) -> tuple[str, float]:
        """The stem in this window that is most like the word, and how far it is the same; "" and 0 without any."""
        if word.stem in self._places:
            return word.stem, 1.0
        if word.number:
            return "", 0.0
        other, alike = self._most_alike(word.word)
        spelt = min(1.0, max(0.0, alike - _LEAST_ALIKE) * _ALIKE)
        if spelt < _SYNONYM:
            for synonym in synonyms(word.stem, language):
                if synonym in self._places:
                    return synonym, _SYNONYM
        return (self._stem_of[other], spelt) if spelt else ("", 0.0)

    def _most_alike(self, word: str) -> tuple[str, float]:
        triples = _triples(word)
        shared = Counter(spelling for letters in triples for spelling in self._spelt.get(letters, ()))
        best, most = "", 0.0
        for spelling, count in shared.items():
            alike = 2 * count / (len(triples) + len(_triples(spelling)))
            if alike > most or (alike == most and spelling < best):
                best, most = spelling, alike
        return best, most

    def _lonely(self, claim: Claim, places: Sequence[Sequence[int]], place: int) -> bool:
        """Whether the neighbours that a word with a meaning has in the claim are here, but elsewhere."""
        if not claim.tokens[place].content:
            return False
        beside = [places[other] for other in _neighbours(claim, place) if places[other]]
        return bool(beside) and not any(_near(places[place], others) for others in beside)

    def _best_sentences(self, weighed: Sequence[tuple[float, Sequence[int]]]) -> tuple[int, int]:
        """The first and the last of the sentences that say most, as few as will do."""
        said: dict[int, dict[int, float]] = {}
        for number, (weight, places) in enumerate(weighed):
            for place in places:
                said.setdefault(bisect_right(self._ends, place), {})[number] = weight
        best, most = (0, 0), 0.0
        for first in said:
            together: dict[int, float] = {}
            for last in range(first, first + _MOST_SENTENCES):
                together |= said.get(last, {})
                worth = sum(together.values()) - _LONGER * (last - first)
                if worth > most or (worth == most and (first, last) < best):
                    best, most = (first, last), worth
        return best


def _neighbours(claim: Claim, place: int) -> list[int]:
    """The places of the words with a meaning before and after."""
    before = next((other for other in range(place - 1, -1, -1) if claim.tokens[other].content), None)
    after = next((other for other in range(place + 1, len(claim.tokens)) if claim.tokens[other].content), None)
    return [other for other in (before, after) if other is not None]


def _near(some: Sequence[int], others: Sequence[int]) -> bool:
    return any(bisect_left(others, place - _NEAR) < bisect_right(others, place + _NEAR) for place in some)


@lru_cache(maxsize=16_384)
def _triples(word: str) -> frozenset[str]:
    """Three letters in a row, wherever in the word they are; its ends count as letters."""
    ended = f"^{word}$"
    return frozenset(ended[at : at + 3] for at in range(len(ended) - 2))
