"""Words that negate the words after them, by language."""

import re

__all__ = ["DENYING_ENDINGS", "DENYING_MARKS", "DOUBTING", "NEGATIONS", "is_negation"]

_LISTS = {
    "en": "not no never without cannot neither nor none nobody nothing nowhere lack lacks lacked lacking "
    "unable cant dont doesnt isnt wont",
    "de": "nicht kein keine keinen keinem keiner keines nie niemals ohne weder niemand nichts",
    "fr": "pas jamais sans aucun aucune rien ni",
    "es": "no nunca jamás sin ningún ninguna ninguno nada tampoco ni",
    "it": "non mai senza nessun nessuno nessuna niente nulla né",
    "pt": "não nunca jamais sem nenhum nenhuma nada nem",
    "nl": "niet geen nooit zonder niemand niets noch",
    "sv": "inte ej aldrig utan ingen inget inga",
    "da": "ikke aldrig uden ingen intet",
    "no": "ikke aldri uten ingen intet",
    "ru": "не нет никогда без никто ничего ни",
    "pl": "nie nigdy bez nikt nic ani żaden żadna żadne",
}

NEGATIONS = {language: frozenset(words.split()) for language, words in _LISTS.items()}

_DOUBTING = (
    "fail refus prevent stop ban forbid reject deni without unlik avoid hard bare rare seldom longer cancel impossibl "
    "end former only"
)
DOUBTING = frozenset(_DOUBTING.split())
"""Stems of English words that leave it open whether the following words hold."""

DENYING_ENDINGS = re.compile(
    r"ではない|ではありません|じゃない|ません|なかった|(?<=[ぁ-ん])ない(?![ぁ-ん])|아닙니다|아니다|아니에요|아닌|않|없"
)
"""In Japanese and Korean, endings that negate the words before them."""

DENYING_MARKS = frozenset("不没沒未無无非")
"""Chinese characters that negate the one after them."""


def is_negation(word: str, language: str) -> bool:
    """Return True if a lower-case word negates the words after it."""
    return word in NEGATIONS.get(language, frozenset()) or (language == "en" and word.endswith(("n't", "n’t")))
