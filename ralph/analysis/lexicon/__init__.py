"""The words of each language; further keywords are registered in the same way as the built-in ones.

docs/how-to/add-a-language.md shows how to add a language.
"""

from collections.abc import Mapping
from importlib import import_module

from ralph.analysis.lexicon.base import Keyword, Lexicon, Phrase, Role, Words
from ralph.errors import UnknownNameError

__all__ = ["LEXICONS", "Keyword", "Lexicon", "Phrase", "Role", "Words", "lexicon"]

LEXICONS: Mapping[str, str] = {"en": "english", "zh": "chinese", "es": "spanish", "de": "german"}
"""The module of each language's lexicon, by the language's code."""


def lexicon(language: str) -> Lexicon:
    """Return the lexicon of a language, such as "en"; its words are expanded when they are first used.

    Raises:
        UnknownNameError: the language has no lexicon.
    """
    if language not in LEXICONS:
        raise UnknownNameError("language", language, LEXICONS)
    found: Lexicon = import_module(f"ralph.analysis.lexicon.{LEXICONS[language]}").LEXICON
    return found
