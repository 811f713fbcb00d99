"""The language of a text, and the stems of its words."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any

from ralph_grounding.text.words import BASE_FORMS, FUNCTION_WORDS, NEGATIONS

__all__ = ["ALGORITHMS", "detect_language", "guess_language", "stem"]

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
_STEM_SAMPLE = 4_000
_BY_ALPHABET = (
    ("\u0370", "\u03ff", "el"),
    ("\u0400", "\u04ff", "ru"),
    ("\u0600", "\u06ff", "ar"),
    ("\u0900", "\u097f", "hi"),
    ("\u4e00", "\u9fff", "zh"),
)


def guess_language(text: str) -> str:
    """Return the ISO code of the language with most function words in the text's beginning, "en" if there are none.

    Good enough to choose a stemmer: it costs microseconds. For users, call `language.detect_language`.
    """
    beginning = text[:_STEM_SAMPLE]
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


_LOOKED_AT = 8_000
_PROSE = 2_000
_FEWEST_LETTERS = 20
_SURE = 0.6

# A Chinese character or a syllable of Hangul carries as much as this many letters.
_LETTERS_EACH = 3

_NO_PROSE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]{0,200}`|</?[a-zA-Z][^<>]{0,200}>|[\d_#*|<>{}\[\]\\]+", re.DOTALL)
_ADDRESS = re.compile(r"://|@|^www\.")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_KANA = re.compile("[\u3041-\u3096\u30a1-\u30fa\u31f0-\u31ff\uff66-\uff9d]")
_HANGUL = re.compile("[\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3]")


def detect_language(text: str) -> str:
    """Return the ISO 639-1 code of the main language in the text's beginning; "" if that is not certain.

    Code, addresses and markup are ignored; of the rest 2,000 characters are used. Fewer than about twenty letters are
    not enough. The first call loads a model, which takes about a second; a further one takes less than one millisecond.
    The same text always has the same language, and no text raises.
    """
    words = _NO_PROSE.sub(" ", text[:_LOOKED_AT]).split()
    prose = " ".join(word for word in words if not _ADDRESS.search(word))[:_PROSE]
    han, kana, hangul = (len(script.findall(prose)) for script in (_HAN, _KANA, _HANGUL))
    east_asian = han + kana + hangul
    letters = sum(letter.isalpha() for letter in prose) - east_asian
    if letters + _LETTERS_EACH * east_asian < _FEWEST_LETTERS:
        return ""
    if _LETTERS_EACH * east_asian > letters:
        return _east_asian(han, kana, hangul)
    language, probability = _classifier()(prose)
    return language if probability >= _SURE else ""


def _east_asian(han: int, kana: int, hangul: int) -> str:
    if hangul > han + kana:
        return "ko"
    # A Chinese text may quote a Japanese name; a Japanese one is hardly without a kana in ten characters.
    return "ja" if 10 * kana > han else "zh"


@cache
def _classifier() -> Callable[[str], tuple[str, float]]:
    """Return a function from a text to a two-letter language code and its probability; it keeps nothing of the text."""
    from py3langid import langid  # pyright: ignore[reportMissingTypeStubs]

    identifier: Any = langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE, norm_probs=True)  # pyright: ignore[reportUnknownMemberType]
    identifier.set_languages([code for code in identifier.labels if len(code) == 2])
    return identifier.classify
