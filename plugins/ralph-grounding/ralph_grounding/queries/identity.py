"""Identity of queries: ids, and near duplicates."""

from collections.abc import Iterable
from hashlib import sha256

from ralph_grounding.text.function_words import FUNCTION_WORDS
from ralph_grounding.text.tokens import tokens

__all__ = ["is_near", "query_id", "stems_of"]

_NEAR = 0.85
_FUNCTION_WORDS = frozenset(word for words in FUNCTION_WORDS.values() for word in words)


def query_id(text: str) -> str:
    """Derive the id of a question without one from its words, so that it is stable."""
    return f"q-{sha256(' '.join(text.casefold().split()).encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def stems_of(text: str, language: str = "") -> frozenset[str]:
    """Return the subject of a question: the stems of its content words, or of all words if there are none."""
    found = tokens(text[:2_000], language or None)
    telling = frozenset(token.stem for token in found if token.word not in _FUNCTION_WORDS)
    return telling or frozenset(token.stem for token in found)


def is_near(stems: frozenset[str], others: Iterable[frozenset[str]]) -> bool:
    """Return True if one of the others shares at least 85 % of all their stems."""
    return any(len(stems & other) >= _NEAR * len(stems | other) for other in others)
