"""All words of all languages found in one pass over the prose."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import NamedTuple

from ahocorasick_rs import AhoCorasick

from ralph.analysis.lexicon import Keyword, Role, lexicon

__all__ = ["Hit", "Hits", "Vocabulary", "vocabulary"]

_GAPS = " \t\n*_"
_GAP = rf"[{_GAPS}]{{1,3}}"
_NUMBER = rf"(?:\d{{1,9}}{_GAP})?"
_INSIDE = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-./=")
"""What does not stand before a word: behind it, letters are the rest of another word, a path or an option."""
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
        self._openings = _by_first_word(forms)
        self._patterns: dict[str, re.Pattern[str]] = {}
        self._sought = _sought(self._openings)
        self._automaton = AhoCorasick(self._sought, store_patterns=False)

    def _add(self, role: Role, name: str, written: Iterable[str]) -> set[str]:
        forms = {" ".join(form.lower().split()) for form in written}
        for form in forms:
            roles = self._roles.setdefault(form.replace("# ", ""), [])
            if (role, name) not in roles:
                roles.append((role, name))
        return forms

    def find(self, prose: str) -> Hits:
        """Every word in the prose, which is in lower case, by its role and in order.

        One pass finds what a form may begin with; a pattern of all forms that begin so then looks closer.
        """
        hits: Hits = {}
        end = 0
        for index, start, _ in sorted(
            self._automaton.find_matches_as_indexes(prose, overlapping=True), key=itemgetter(1, 0)
        ):
            if start < end or (start and prose[start - 1] in _INSIDE and _is_letter(prose[start])):
                continue
            if match := self._pattern(self._sought[index].rstrip(_GAPS)).match(prose, start):
                end = match.end()
                for role, name in self._known(match[0]):
                    hits.setdefault(role, []).append(Hit(name, start, end))
        return hits

    def _pattern(self, opening: str) -> re.Pattern[str]:
        """The pattern of the forms that begin with a word; made when the word is first met."""
        if opening not in self._patterns:
            forms = sorted(self._openings[opening], key=len, reverse=True)
            self._patterns[opening] = re.compile("|".join(map(_expression, forms)))
        return self._patterns[opening]

    def _known(self, found: str) -> list[tuple[Role, str]]:
        return (
            self._roles.get(found) or self._roles.get(_SPACES.sub(" ", found)) or self._roles[_NUMBERS.sub(" ", found)]
        )


def _by_first_word(forms: Iterable[str]) -> dict[str, list[str]]:
    openings: dict[str, list[str]] = {}
    for form in forms:
        openings.setdefault(form.partition(" ")[0], []).append(form)
    return openings


def _sought(openings: Mapping[str, Sequence[str]]) -> list[str]:
    """What to look for: first words, longest first; with the gap behind them where no form ends there."""
    sought: list[str] = []
    for word, forms in openings.items():
        sought += [word] if word in forms else [word + gap for gap in _GAPS]
    return sorted(sought, key=len, reverse=True)


def _expression(form: str) -> str:
    words = "".join(_NUMBER if word == "#" else re.escape(word) + _GAP for word in form.split(" "))
    return words.removesuffix(_GAP) + (_AFTER if _is_letter(form[-1]) else "")


def _is_letter(char: str) -> bool:
    return char.isascii() and char.isalnum()


@lru_cache(maxsize=16)
def vocabulary(keywords: tuple[Keyword, ...], languages: tuple[str, ...]) -> Vocabulary:
    """The vocabulary of some languages with some keywords more."""
    return Vocabulary(keywords, languages)
