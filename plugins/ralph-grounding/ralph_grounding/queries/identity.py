"""Which queries are the same."""

from collections.abc import Iterable
from hashlib import sha256

from ralph_grounding.text.function_words import FUNCTION_WORDS
from ralph_grounding.text.tokens import tokens

__all__ = ["is_near", "query_id", "stems_of"]

_NEAR = 0.85
_FUNCTION_WORDS = frozenset(word for words in FUNCTION_WORDS.values() for word in words)


def query_id(text: str) -> str:
    """The id of a question that has none: made from its words, so that it stays while they do."""
    return f"q-{sha256(' '.join(text.casefold().split()).encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def stems_of(text: str, language: str = "") -> frozenset[str]:
    """What a question is about: the stems of its words but for those that say little; of all words where all do."""
    found = tokens(text[:2_000], language or None)
    telling = frozenset(token.stem for token in found if token.word not in _FUNCTION_WORDS)
    return telling or frozenset(token.stem for token in found)


def is_near(stems: frozenset[str], others: Iterable[frozenset[str]]) -> bool:
    """Whether one of the others shares at least 85 % of all their stems."""
    return any(len(stems & other) >= _NEAR * len(stems | other) for other in others)
