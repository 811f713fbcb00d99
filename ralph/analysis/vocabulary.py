"""All words of all languages found in one pass over the prose."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from ralph.analysis.lexicon import Keyword, Role, lexicon

__all__ = ["Hit", "Hits", "Vocabulary", "vocabulary"]

_GAP = r"[ \t\n*_]{1,3}"
_NUMBER = rf"(?:\d{{1,9}}{_GAP})?"
_BEFORE = r"a-z0-9_\-./="
_AFTER = r"(?![a-z0-9_(]|[-./=][a-z0-9_])"
_SPACES = re.compile(r"[\s*_]+")
_NUMBERS = re.compile(r"[\s*_]+(?:\d{1,9}[\s*_]+)?")


class Hit(NamedTuple):
    """A word, the name that it goes by, and where it stands in the prose."""

    name: str
    start: int
    end: int


Hits = dict[Role, list[Hit]]


class Vocabulary:
    """The words to look for.

    A longer phrase is preferred to a shorter one that begins at the same place, and words within a found phrase are
    not found again: "make sure" hides "sure".
    """

    def __init__(self, keywords: Sequence[Keyword], languages: Sequence[str]) -> None:
        lexicons = [lexicon(language) for language in languages]
        known = (*(keyword for words in lexicons for keyword in words.keywords), *keywords)
        self.keywords = {keyword.text.lower(): keyword for keyword in known}
        self._roles: dict[str, list[tuple[Role, str]]] = {}
        forms: set[str] = set()
        for name, keyword in self.keywords.items():
            forms |= self._add("keyword", name, (name, *keyword.forms))
        for words in lexicons:
            for role, names in words.words.items():
                for name, written in names.items():
                    forms |= self._add(role, name, written)
        self._pattern = re.compile(_alternation(forms))

    def _add(self, role: Role, name: str, written: Iterable[str]) -> set[str]:
        forms = {" ".join(form.lower().split()) for form in written}
        for form in forms:
            roles = self._roles.setdefault(form.replace("# ", ""), [])
            if (role, name) not in roles:
                roles.append((role, name))
        return forms

    def find(self, prose: str) -> Hits:
        """Every word in the prose, which is in lower case, by its role and in order."""
        hits: Hits = {}
        for match in self._pattern.finditer(prose):
            for role, name in self._known(match[0]):
                hits.setdefault(role, []).append(Hit(name, *match.span()))
        return hits

    def _known(self, found: str) -> list[tuple[Role, str]]:
        return (
            self._roles.get(found) or self._roles.get(_SPACES.sub(" ", found)) or self._roles[_NUMBERS.sub(" ", found)]
        )


def _alternation(forms: Iterable[str]) -> str:
    """One pattern for all forms. They are grouped by their first letter, which lets `re` skip ahead to it, and what
    may not stand before a word is looked at only then.
    """
    groups: list[str] = []
    for first, group in groupby(sorted(forms, key=lambda form: (form[0], -len(form), form)), key=lambda form: form[0]):
        letter = re.escape(first)
        boundary = rf"(?<![{_BEFORE}]{letter})" if _is_letter(first) else ""
        groups.append(rf"{letter}{boundary}(?:{'|'.join(_pattern(form[1:], form[-1]) for form in group)})")
    return "|".join(groups)


def _pattern(rest: str, last: str) -> str:
    words = "".join(_NUMBER if word == "#" else re.escape(word) + _GAP for word in rest.split(" "))
    return words.removesuffix(_GAP) + (_AFTER if _is_letter(last) else "")


def _is_letter(char: str) -> bool:
    return char.isascii() and char.isalnum()


@lru_cache(maxsize=16)
def vocabulary(keywords: tuple[Keyword, ...], languages: tuple[str, ...]) -> Vocabulary:
    """The vocabulary of some languages with some keywords more."""
    return Vocabulary(keywords, languages)
