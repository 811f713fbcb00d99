"""The words of each language; extra keywords are registered the way its own are.

How to add a language:

1. Have real replies in it. A language that nobody's agent writes costs every analysis time and finds nothing.
2. Write a package beside these, as `spanish` is: a `Lexicon` with its code ("fr"), its completion keywords, and its
   other words by the part that they play. `base.Role` says what each part does; one that is left out is not found,
   and nothing breaks. Write whole forms in lower case: no stems, no patterns, every gender and number that is met; a
   phrase hides the words within it. Without word boundaries (Chinese) a word is found within others: `plain` takes
   those that only look like one ("完成後" is no "完成").
3. Write a function that gives it, name that in `LEXICONS` below, and its code in `ralph.analysis.analyzer.LANGUAGES`.
4. Write its cases beside its tests, `tests/unit/analysis/languages/CODE.toml`: at least two replies of each state that
   words decide, and some that look like one and are none. A test runs the cases of every language, and fails for one
   that has none.
"""

from collections.abc import Callable, Mapping

from ralph.analysis.lexicon.base import Keyword, Lexicon, Phrase, Role, Words
from ralph.errors import UnknownNameError

__all__ = ["LEXICONS", "Keyword", "Lexicon", "Phrase", "Role", "Words", "lexicon"]


def _english() -> Lexicon:
    from ralph.analysis.lexicon.english import ENGLISH

    return ENGLISH


def _chinese() -> Lexicon:
    from ralph.analysis.lexicon.chinese import CHINESE

    return CHINESE


def _spanish() -> Lexicon:
    from ralph.analysis.lexicon.spanish import SPANISH

    return SPANISH


def _german() -> Lexicon:
    from ralph.analysis.lexicon.german import GERMAN

    return GERMAN


LEXICONS: Mapping[str, Callable[[], Lexicon]] = {"en": _english, "zh": _chinese, "es": _spanish, "de": _german}
"""The languages by their codes; the words of one are made when they are first asked for."""


def lexicon(language: str) -> Lexicon:
    """The lexicon of a language, such as "en".

    Raises:
        UnknownNameError: there is none.
    """
    if language not in LEXICONS:
        raise UnknownNameError("language", language, LEXICONS)
    return LEXICONS[language]()
