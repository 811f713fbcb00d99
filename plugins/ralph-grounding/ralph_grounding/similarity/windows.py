"""Search in texts of any length for the windows that may make a claim, and the share of it that each says."""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from heapq import nlargest
from itertools import pairwise
from typing import NamedTuple

from ralph_grounding.similarity.claim import Claim
from ralph_grounding.similarity.thesaurus import synonyms
from ralph_grounding.text.sentences import Span, sentences
from ralph_grounding.text.tokens import Token, tokens

__all__ = ["Place", "Reading", "Window", "Windows"]

# Found by hand on claims with human labels; a tenth more or less makes no significant difference.
_APART = 0.8
"""The credit for a word that is there, but not near any of its neighbours in the claim."""
_NEAR = 5
"""The distance of neighbouring words, in tokens."""
_SYNONYM = 0.6
_LEAST_ALIKE = 0.15
_ALIKE = 1.8
"""The credit for a word by the letters that it shares with another: none up to the least share of three-letter
sequences, and in proportion from there on, up to a maximum.
"""
_LONGER = 0.25
"""The minimum that a further sentence must add to belong to the stretch that makes the claim."""
_MOST_SENTENCES = 3


class Reading(NamedTuple):
    """The share of a claim that a window says.

    Attributes:
        recall: 0–1, the weight of the claim's words that are there, each by its credit.
        credits: the credit of each word, in order.
        start, end: the sentences that say most of it.
    """

    recall: float
    credits: tuple[float, ...]
    start: int
    end: int


class Window:
    """The words of one or more consecutive sentences.

    Args:
        words: its tokens, in order.
        sentences: its sentences, in order; they contain all the tokens.
    """

    def __init__(self, words: Sequence[Token], sentences: Sequence[Span]) -> None:
        self._places = defaultdict[str, list[int]](list)
        for place, word in enumerate(words):
            self._places[word.stem].append(place)
        self._sentences = sentences
        starts = [word.start for word in words]
        self._ends = [bisect_left(starts, sentence.end) for sentence in sentences]
        self._spelt: dict[str, str] = {}  # joined by spaces: most have one, and a list each would cost more
        self._stem_of = {word.word: word.stem for word in words if not word.number}
        for spelling in self._stem_of:
            for letters in _triples(spelling):
                known = self._spelt.get(letters)
                self._spelt[letters] = spelling if known is None else f"{known} {spelling}"

    def read(self, claim: Claim) -> Reading:
        """Measure how much of the claim is here; 0 for a claim without words."""
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
        """Return the most similar stem in this window to the word, and its credit; "" and 0 without any."""
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
        shared = Counter(spelling for letters in triples for spelling in self._spelt.get(letters, "").split())
        best, most = "", 0.0
        for spelling, count in shared.items():
            alike = 2 * count / (len(triples) + len(_triples(spelling)))
            if alike > most or (alike == most and spelling < best):
                best, most = spelling, alike
        return best, most

    def _lonely(self, claim: Claim, places: Sequence[Sequence[int]], place: int) -> bool:
        """Return True if the word's neighbours in the claim are here, but not near it."""
        if not claim.tokens[place].content:
            return False
        beside = [places[other] for other in _neighbours(claim, place) if places[other]]
        return bool(beside) and not any(_near(places[place], others) for others in beside)

    def _best_sentences(self, weighed: Sequence[tuple[float, Sequence[int]]]) -> tuple[int, int]:
        """Return the first and the last of the sentences that say most, as few as possible."""
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
    """Return the places of the content words before and after."""
    before = next((other for other in range(place - 1, -1, -1) if claim.tokens[other].content), None)
    after = next((other for other in range(place + 1, len(claim.tokens)) if claim.tokens[other].content), None)
    return [other for other in (before, after) if other is not None]


def _near(some: Sequence[int], others: Sequence[int]) -> bool:
    return any(bisect_left(others, place - _NEAR) < bisect_right(others, place + _NEAR) for place in some)


@lru_cache(maxsize=16_384)
def _triples(word: str) -> frozenset[str]:
    """Return its sequences of three letters; the word's ends count as letters."""
    ended = f"^{word}$"
    return frozenset(ended[at : at + 3] for at in range(len(ended) - 2))


_SENTENCE = 60
"""Tokens after which a sentence is cut, to keep the evidence readable."""


class Place(NamedTuple):
    """A stretch of one of the texts."""

    text: str
    span: Span


class Windows:
    """Index of the words of texts, by their windows.

    A text is cut into blocks of whole sentences; two consecutive blocks are a window, so that a claim across the border
    of two is found as well. The index of several texts is about as large as they are; the words of a single one are
    kept, too, with its windows that were read.

    Args:
        places: the texts, or stretches of them.
        language: the language of their words.
        block: the approximate number of tokens in a block; a text of up to two blocks is one window.
    """

    def __init__(self, places: Sequence[Place], language: str, block: int) -> None:
        self._language = language
        self._places = places
        self._windows: list[Place] = []
        self._words: dict[int, Sequence[Token]] = {}
        self._read: dict[int, Window] = {}
        self._first_windows: list[int] = []
        self._by_stem: dict[str, list[int]] = {}
        for place in places:
            self._first_windows.append(len(self._windows))
            self._add(place, block)

    def _add(self, place: Place, block: int) -> None:
        words = tokens(place.text, self._language, start=place.span.start, end=place.span.end)
        blocks = list(_blocks(_pieces(place, words), block)) if words else []
        first, last = len(self._windows), len(self._windows) + max(0, len(blocks) - 2)
        for number, (_, first_word, last_word) in enumerate(blocks, start=first):
            windows = (max(number - 1, first), min(number, last))
            for stem in {word.stem for word in words[first_word:last_word]}:
                found = self._by_stem.setdefault(stem, [])
                found.extend(window for window in dict.fromkeys(windows) if not found or found[-1] < window)
        for one, next_one in pairwise(blocks) if len(blocks) > 1 else zip(blocks, blocks, strict=True):
            if len(self._places) == 1:
                self._words[len(self._windows)] = words[one.first : next_one.last]
            self._windows.append(Place(place.text, Span(one.span.start, next_one.span.end)))

    def candidates(self, claim: Claim, count: int) -> list[int]:
        """Return the windows with most of the claim's words, the best first; all of them if there are no more."""
        if len(self._windows) <= count:
            return list(range(len(self._windows)))
        words = [word for word in claim.tokens if word.content] or claim.tokens
        weights = {word.token.stem: word.weight for word in words}
        found: dict[int, float] = {}
        for stem, weight in weights.items():
            for window in self._with_any({stem, *synonyms(stem, self._language)}):
                found[window] = found.get(window, 0.0) + weight
        return nlargest(count, found, key=lambda window: (found[window], -window))

    def _with_any(self, stems: set[str]) -> Iterable[int]:
        found = [self._by_stem[stem] for stem in stems if stem in self._by_stem]
        return found[0] if len(found) == 1 else {window for windows in found for window in windows}

    def window(self, number: int) -> Window:
        """Return the window for reading."""
        place = self._windows[number]
        if number not in self._words:
            return _window(place, self._language)
        if number not in self._read:
            self._read[number] = _window_of(place, self._words[number])
        return self._read[number]

    def place_of(self, number: int) -> int:
        """Return the number of the text that contains the window."""
        return bisect_right(self._first_windows, number) - 1


@lru_cache(maxsize=64)
def _window(place: Place, language: str) -> Window:
    return _window_of(place, tokens(place.text, language, start=place.span.start, end=place.span.end))


def _window_of(place: Place, words: Sequence[Token]) -> Window:
    return Window(words, [piece.span for piece in _pieces(place, words)])


class _Piece(NamedTuple):
    """A stretch of a text, and its tokens, the last not included."""

    span: Span
    first: int
    last: int


def _pieces(place: Place, words: Sequence[Token]) -> Iterator[_Piece]:
    """Yield the sentences, long ones cut. Together they cover the place."""
    start, first = place.span.start, 0
    starts = [word.start for word in words]
    for sentence in sentences(place.text, *place.span):
        last = bisect_left(starts, sentence.end, first)
        while last - first > _SENTENCE:
            yield _Piece(Span(start, starts[first + _SENTENCE]), first, first + _SENTENCE)
            start, first = starts[first + _SENTENCE], first + _SENTENCE
        yield _Piece(Span(start, sentence.end), first, last)
        start, first = sentence.end, last


def _blocks(pieces: Iterable[_Piece], size: int) -> Iterator[_Piece]:
    """Yield the same, with consecutive pieces joined up to that number of tokens."""
    block: _Piece | None = None
    for piece in pieces:
        if block is None or piece.last - block.first > size:
            if block is not None:
                yield block
            block = piece
        else:
            block = _Piece(Span(block.span.start, piece.span.end), block.first, piece.last)
    if block is not None:
        yield block
