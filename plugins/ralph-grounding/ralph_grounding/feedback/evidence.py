"""The sentence of a passage that a statement is about, found by their common words."""

from functools import lru_cache
from typing import NamedTuple

from ralph_grounding.text.function_words import FUNCTION_WORDS
from ralph_grounding.text.sentences import sentences
from ralph_grounding.text.span import trimmed
from ralph_grounding.text.stems import guess_language
from ralph_grounding.text.tokens import tokens

__all__ = ["Evidence", "evidence"]

_FOR_LANGUAGE = 2000
_FUNCTION_WORD = 0.1


class Evidence(NamedTuple):
    """A sentence of a passage.

    Attributes:
        shared: 0–1, the share of content words, without numbers, in common with the statement, relative to the one that
            has fewer.
    """

    text: str
    shared: float


class _Sentence(NamedTuple):
    text: str
    content: frozenset[str]
    others: frozenset[str]


def evidence(passage: str, statement: str) -> Evidence:
    """Return the sentence with most words in common with the statement: the shorter of two, the first if none."""
    language = guess_language(passage[:_FOR_LANGUAGE])
    said = _sentence(statement, language)

    def worth(sentence: _Sentence) -> tuple[float, int]:
        common = len(sentence.content & said.content) + _FUNCTION_WORD * len(sentence.others & said.others)
        return common, -len(sentence.text)

    best = max(_sentences(passage, language), key=worth, default=_Sentence("", frozenset(), frozenset()))
    fewer = min(len(best.content), len(said.content))
    return Evidence(best.text, len(best.content & said.content) / fewer if fewer else 0.0)


@lru_cache(maxsize=512)
def _sentences(passage: str, language: str) -> tuple[_Sentence, ...]:
    spans = (trimmed(passage, span) for span in sentences(passage))
    return tuple(_sentence(passage[span.start : span.end], language) for span in spans if span.start < span.end)


def _sentence(text: str, language: str) -> _Sentence:
    function_words = FUNCTION_WORDS.get(language, frozenset[str]())
    content: set[str] = set()
    others: set[str] = set()
    for token in tokens(text, language):
        (others if token.number or token.word in function_words else content).add(token.stem)
    return _Sentence(text, frozenset(content), frozenset(others))
