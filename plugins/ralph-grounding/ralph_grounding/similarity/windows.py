"""Search in texts of any length for the windows that may make a claim."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from heapq import nlargest
from itertools import pairwise
from typing import NamedTuple

from ralph_grounding.similarity.claim import Claim
from ralph_grounding.similarity.thesaurus import synonyms
from ralph_grounding.similarity.window import Window
from ralph_grounding.text.sentences import sentences
from ralph_grounding.text.span import Span
from ralph_grounding.text.tokens import Token, tokens

__all__ = ["Place", "Windows"]

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
