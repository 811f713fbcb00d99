"""A claim or a sentence, analysed far enough to see disagreements."""

import re
from collections.abc import Container, Iterable, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from ralph_grounding.result import Conflict, ConflictKind, TextPosition
from ralph_grounding.similarity.thesaurus import synonyms
from ralph_grounding.text.tokens import Token, is_designation, tokens_of
from ralph_grounding.text.words import DOUBTING, FUNCTION_WORDS, is_negation

__all__ = ["ALIKE", "Statement", "statement"]

ALIKE = 0.6
"""The share of a claim's other words that a statement must have to conflict with it; else its subject differs."""

_LOOKED_AT = 4_000
_BREAK = re.compile(r"[.,;:!?()\[\]{}\n—–。，；：！？、]")
_BREAKING = frozenset({"but", "while", "although", "though", "whereas", "because", "aber", "mais", "pero", "obwohl"})
_REACH = 6
"""The number of content words after a negation that it may deny."""
_ADDING = frozenset({"only", "just", "merely", "simply", "nur", "solo", "seulement", "until", "doubt", "matter"})
"""After a negation these cancel it, as in "not only"."""


_MODIFYING = frozenset({"longer", "yet", "ever", "again", "mehr", "plus", "noch"})


class Statement(NamedTuple):
    """The words of a statement.

    Attributes:
        text: the analysed part of it.
        words: its tokens, in order.
        content: for each word, whether it is a content word; negations are not.
        denied_by: for the place of a word the place of the negation directly before it.
        doubtful: places of words that a negation before them may be about, or that are said to fail, to lack …
        at: the places of each stem.
        clause: of each word the number of its clause.
    """

    text: str
    words: tuple[Token, ...]
    content: tuple[bool, ...]
    denied_by: dict[int, int]
    doubtful: frozenset[int]
    at: dict[str, tuple[int, ...]]
    clause: tuple[int, ...]
    language: str

    def has(self, root: str) -> bool:
        """Return True if the stem is there, or a synonym of it."""
        return root in self.at or any(other in self.at for other in synonyms(root, self.language))

    def places(self, root: str) -> tuple[int, ...]:
        """Return the places of the stem, or else of its synonyms."""
        if root in self.at:
            return self.at[root]
        return tuple(place for other in synonyms(root, self.language) for place in self.at.get(other, ()))

    def is_name(self, place: int) -> bool:
        """Return True if the word there is written like a name."""
        if place >= len(self.words):
            return False
        word = self.words[place]
        return self.content[place] and not word.number and self.text[word.start].isupper()

    def says_most_of(self, claim: "Statement", *, without: Container[int] = (), least: float = ALIKE) -> bool:
        """Return True if it has most of the claim's content words, and at least one; ignores those at some places."""
        rest = [word.stem for place, word in enumerate(claim.words) if claim.content[place] and place not in without]
        shared = sum(self.has(root) for root in rest)
        return shared > 0 and shared >= least * len(rest)

    def written(self, first: int, last: int) -> str:
        """Return the text from one word to another, both included."""
        return self.text[self.words[first].start : self.words[last].end]

    def conflict(self, kind: ConflictKind, expected: str, start: int, end: int) -> Conflict:
        """Make a conflict between the text there and the expected one."""
        position = TextPosition(start=start, end=end)
        return Conflict(kind=kind, expected=expected, said=self.text[start:end], position=position)

    def beside(self, place: int, reach: int) -> list[int]:
        """Return the places of up to `reach` content words before and after, the nearest first on each side."""
        before = (other for other in range(place - 1, -1, -1) if self.content[other])
        after = (other for other in range(place + 1, len(self.words)) if self.content[other])
        return [*islice(before, reach), *islice(after, reach)]


def statement(text: str, language: str) -> Statement:
    """Analyse the first 4,000 characters of a text."""
    return _statement(text[:_LOOKED_AT], language)


@lru_cache(maxsize=256)
def _statement(text: str, language: str) -> Statement:
    words = tuple(tokens_of(text, language))
    function_words = FUNCTION_WORDS.get(language, frozenset[str]())
    negations = [is_negation(word.word, language) for word in words]
    content = tuple(
        word.number or (word.word not in function_words and not negated) or is_designation(text, words, place, language)
        for place, (word, negated) in enumerate(zip(words, negations, strict=True))
    )
    clauses = _clauses(text, words)
    denied_by, doubtful = _denied(words, content, negations, clauses)
    at: dict[str, list[int]] = {}
    for place, word in enumerate(words):
        at.setdefault(word.stem, []).append(place)
    return Statement(
        text,
        words,
        content,
        denied_by,
        frozenset(doubtful),
        {root: tuple(found) for root, found in at.items()},
        tuple(clauses),
        language,
    )


def _clauses(text: str, words: Sequence[Token]) -> list[int]:
    """Return the number of each word's clause."""
    clauses: list[int] = []
    clause, end = 0, 0
    for word in words:
        spaced = text[end : word.start]
        if word.word in _BREAKING or (spaced not in ("", " ") and _BREAK.search(spaced)):
            clause += 1
        clauses.append(clause)
        end = word.end
    return clauses


def _denied(
    words: Sequence[Token], content: Sequence[bool], negations: Sequence[bool], clauses: Sequence[int]
) -> tuple[dict[int, int], set[int]]:
    denied_by: dict[int, int] = {}
    doubtful: set[int] = set()
    for place, word in enumerate(words):
        doubts = word.stem in DOUBTING and content[place]
        if not negations[place] and not doubts:
            continue
        adds = place + 1 < len(words) and words[place + 1].word in _ADDING
        about = list(_about(place, content, clauses))
        doubtful.update(about)
        denied = next((other for other in about if not _modifies(words[other].word)), None)
        if denied is not None and negations[place] and not adds:
            denied_by[denied] = place
    return denied_by, doubtful


def _modifies(word: str) -> bool:
    """Return True if a negation is rather about the word after this one, as in "no longer supported"."""
    return word in _MODIFYING or word.endswith("ly")


def _about(place: int, content: Sequence[bool], clauses: Sequence[int]) -> Iterable[int]:
    """Return the next content words in the same clause."""
    found = 0
    for other in range(place + 1, len(content)):
        if clauses[other] != clauses[place] or found == _REACH:
            return
        if content[other]:
            found += 1
            yield other
