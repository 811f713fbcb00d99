"""Detection of a text's language, for the user's information."""

import re
from collections.abc import Callable
from functools import cache
from typing import Any

__all__ = ["detect_language"]

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
