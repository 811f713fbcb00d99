"""The stem of a word, by the rules of its language."""

import unicodedata
from collections import Counter
from typing import Any

from ralph_grounding.text.function_words import FUNCTION_WORDS
from ralph_grounding.text.irregular import BASE_FORMS
from ralph_grounding.text.negations import NEGATIONS

__all__ = ["ALGORITHMS", "guess_language", "stem"]

ALGORITHMS = {
    "ar": "arabic", "ca": "catalan", "da": "danish", "de": "german", "el": "greek", "en": "english", "es": "spanish",
    "et": "estonian", "eu": "basque", "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi",
    "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian", "nb": "norwegian",
    "ne": "nepali", "nl": "dutch", "nn": "norwegian", "no": "norwegian", "pl": "polish", "pt": "portuguese",
    "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish", "ta": "tamil", "tr": "turkish",
    "yi": "yiddish",
}  # fmt: skip
"""The stemming algorithm of a language, by its ISO code."""

_TELLING = {language: known | NEGATIONS[language] for language, known in FUNCTION_WORDS.items()}
_LOOKED_AT = 4_000
_BY_ALPHABET = (
    ("\u0370", "\u03ff", "el"),
    ("\u0400", "\u04ff", "ru"),
    ("\u0600", "\u06ff", "ar"),
    ("\u0900", "\u097f", "hi"),
)


def guess_language(text: str) -> str:
    """Return the ISO code of the language with most function words in the text's beginning, "en" if there are none.

    Good enough to choose a stemmer: it costs microseconds. For users, call `language.detect_language`.
    """
    beginning = text[:_LOOKED_AT]
    words = beginning.casefold().replace("'", " ").replace("’", " ").split()
    said = Counter(words)
    counts = {language: sum(said[word] for word in said.keys() & known) for language, known in _TELLING.items()}
    best = max(counts, key=lambda language: (counts[language], language == "en"))
    if counts[best]:
        return best
    letters = [letter for letter in beginning[:400] if letter.isalpha()]
    for first, last, language in _BY_ALPHABET:
        if 2 * sum(first <= letter <= last for letter in letters) > len(letters):
            return language
    return "en"


def stem(word: str, language: str) -> str:
    """Return the stem of a lower-case word, without accents; the word itself in a language without rules."""
    import snowballstemmer  # pyright: ignore[reportMissingTypeStubs]

    algorithm = ALGORITHMS.get(language)
    if algorithm is None:
        return _without_accents(word)
    if language == "en":
        word = BASE_FORMS.get(word.removesuffix("'s"), word)
    # A stemmer stores its current word, so one cannot serve two threads; making one costs little.
    stemmer: Any = snowballstemmer.stemmer(algorithm)  # pyright: ignore[reportUnknownMemberType]
    return _without_accents(stemmer.stemWord(word)) or word


def _without_accents(word: str) -> str:
    if word.isascii():
        return word
    letters = unicodedata.normalize("NFD", word)
    return unicodedata.normalize("NFC", "".join(letter for letter in letters if not "\u0300" <= letter <= "\u036f"))
