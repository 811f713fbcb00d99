"""The words of each language. A language is one module here; extra keywords are registered the way its own are."""

from ralph.analysis.lexicon.base import Keyword, Lexicon, Role, Words
from ralph.analysis.lexicon.chinese import CHINESE
from ralph.analysis.lexicon.english import ENGLISH
from ralph.errors import UnknownNameError

__all__ = ["LEXICONS", "Keyword", "Lexicon", "Role", "Words", "lexicon"]

LEXICONS = {known.language: known for known in (ENGLISH, CHINESE)}


def lexicon(language: str) -> Lexicon:
    """The lexicon of a language, such as "en".

    Raises:
        UnknownNameError: there is none.
    """
    if language not in LEXICONS:
        raise UnknownNameError("language", language, LEXICONS)
    return LEXICONS[language]
