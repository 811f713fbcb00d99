"""Names of one letter or little more: Plan B, Vitamin D, C++, World War II, gate A12."""

import re
from collections.abc import Sequence

from ralph_grounding.text.function_words import FUNCTION_WORDS
from ralph_grounding.text.tokens import Token

__all__ = ["is_designation", "looks_like_designation"]

_WRITTEN = re.compile(r"[A-Z](?:\+\+|#)?|[IVX]{2,5}|[A-Z]{1,3}\d{1,4}[A-Z]?")
_SET_APART = re.compile(r"[ \t\u00a0\u202f-]")


def looks_like_designation(written: str) -> bool:
    """Return True if a word, as written, may be such a name anywhere."""
    return _WRITTEN.fullmatch(written) is not None


def is_designation(text: str, words: Sequence[Token], place: int, language: str) -> bool:
    """Return True if a word of a text is such a name there: "A" and "I" only after a word that they may designate."""
    word = words[place]
    written = text[word.start : word.end]
    if not looks_like_designation(written):
        return False
    if written not in ("A", "I"):
        return True
    before = words[place - 1] if place else None
    if before is None or not _SET_APART.fullmatch(text, before.end, word.start):
        return False
    named = before.word not in FUNCTION_WORDS.get(language, frozenset[str]())
    return named and (written == "A" or text[before.start].isupper())
