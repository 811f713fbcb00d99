"""All words of all languages found in one pass over the prose."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

from ahocorasick_rs import AhoCorasick

from ralph.analysis.lexicon import Keyword, Role, lexicon
from ralph.analysis.skim import Skim
from ralph.analysis.text import Span

__all__ = ["FIRST", "LAST", "Hit", "Hits", "Vocabulary", "vocabulary"]

FIRST, LAST = 2_000, 4_000
"""Places that are looked at of a text with more, from the beginning and from the end."""

_INSIDE = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-./=")
"""What does not stand before a word: behind it, letters are the rest of another word, a path or an option."""
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_")
_JOINTS = frozenset("-./=")
_GOES_ON = _LETTERS | _JOINTS | {"("}
"""What does not stand behind a word; a joint may, unless a letter follows it."""
_AFTER = r"(?![a-z0-9_(]|[-./=][a-z0-9_])"
_WIDE = re.compile(r"  (?<=[\w'] {2}) ?(?=\w)")
"""The two or three spaces between words that are left of a line's end or of emphasis."""
_NUMBER = r"(?:\d{1,9} )?"
_NUMBERS = re.compile(r" (?:\d{1,9} )?")
_STRONG: frozenset[Role] = frozenset({"blocked", "limit"})


class Hit(NamedTuple):
    """A word, the name that it goes by, and where it stands in the prose."""

    name: str
    start: int
    end: int


class Hits(dict[Role, list[Hit]]):
    """The hits of each role, in order.

    Attributes:
        left_out: places that were not looked at because there were too many.
    """

    left_out: int = 0


Parts = Sequence[tuple[Role, str]]
"""The roles that a form plays, each with the name that it goes by."""


class _Form(NamedTuple):
    """A form as it is looked for, with single spaces.

    Attributes:
        ends_word: no letter may stand behind it.
        numbers: looks closer where a number stands within the form, of which `text` is the beginning.
    """

    text: str
    parts: Parts = ()
    ends_word: bool = False
    numbers: re.Pattern[str] | None = None


class Vocabulary:
    """The words to look for.

    A longer phrase is preferred to a shorter one that begins at the same place, and words within a found phrase are
    not found again: "make sure" hides "sure". Between its words there may be up to three spaces, line ends or marks of
    emphasis.
    """

    def __init__(self, keywords: Sequence[Keyword], languages: Sequence[str]) -> None:
        lexicons = [lexicon(language) for language in languages]
        known = (*(keyword for words in lexicons for keyword in words.keywords), *keywords)
        self.keywords = {keyword.text.lower(): keyword for keyword in known}
        self._parts: dict[str, list[tuple[Role, str]]] = {}
        self._numbered: dict[str, list[str]] = {}
        for name, keyword in self.keywords.items():
            self._add("keyword", name, (name, *keyword.forms))
        for words in lexicons:
            for role, names in words.words.items():
                for name, written in names.items():
                    self._add(role, name, written)
        self._forms = self._sought()
        self._automaton = AhoCorasick([form.text for form in self._forms], store_patterns=False)
        self._apart = frozenset(index for index, form in enumerate(self._forms) if not _is_letter(form.text[0]))

    def _add(self, role: Role, name: str, written: Iterable[str]) -> None:
        for form in (" ".join(form.lower().split()) for form in written):
            if " # " in form:
                self._numbered.setdefault(form.partition(" # ")[0], []).append(form)
            parts = self._parts.setdefault(form.replace("# ", ""), [])
            if (role, name) not in parts:
                parts.append((role, name))

    def _sought(self) -> list[_Form]:
        """What to look for; what is preferred of that which begins at one place comes first."""
        forms = [_Form(text, parts, _is_letter(text[-1])) for text, parts in self._parts.items()]
        forms.sort(key=lambda form: len(form.text), reverse=True)
        numbered: list[_Form] = []
        for head, written in self._numbered.items():
            pattern = re.compile("|".join(map(_expression, sorted(written, key=len, reverse=True))))
            numbered += [_Form(f"{head} {digit}", numbers=pattern) for digit in "0123456789"]
        return numbered + forms

    def find(self, prose: str) -> Hits:
        """Every word in the prose, which is in lower case, by its role and in order."""
        text, gaps = _spaced(prose)
        places = [
            (start, index, end)
            for index, start, end in self._automaton.find_matches_as_indexes(text, overlapping=True)
            if text[start - 1] not in _INSIDE or index in self._apart
        ]
        places.sort()
        hits = Hits()
        if len(places) > FIRST + LAST:
            hits.left_out = len(places) - FIRST - LAST
            places = places[:FIRST] + places[-LAST:]
        for start, end, parts in self._matched(text, places):
            first, last = (_in_prose(gaps, start), _in_prose(gaps, end - 1) + 1) if gaps else (start, end)
            for role, name in parts:
                hits.setdefault(role, []).append(Hit(name, first, last))
        return hits

    def _matched(self, text: str, places: Iterable[tuple[int, int, int]]) -> Iterator[tuple[int, int, Parts]]:
        """The forms that stand at some places, none within another; the places are in order, the preferred first."""
        after = 0
        for start, index, end in places:
            if start < after:
                continue
            _, parts, ends_word, numbers = self._forms[index]
            if numbers is None:
                if ends_word and text[end] in _GOES_ON and (text[end] not in _JOINTS or text[end + 1] in _LETTERS):
                    continue
                after = end
                yield start, end, parts
            elif match := numbers.match(text, start):
                after = match.end()
                yield start, after, self._parts[_NUMBERS.sub(" ", match[0])]

    def skim(self, text: str, spans: Sequence[Span]) -> Sequence[int]:
        """Places of the strongest phrases in the spans of a text in any case; where there are many, only of a few."""
        return self._skim(text, spans)

    @cached_property
    def _skim(self) -> Skim:
        """Those that are enough by themselves are a rank of their own, which other keywords cannot crowd out."""
        strong = {name for name, keyword in self.keywords.items() if keyword.weight == "very_high"}
        ranks: tuple[list[str], list[str]] = ([], [])
        for text, parts in self._parts.items():
            if any(name in strong if role == "keyword" else role in _STRONG for role, name in parts):
                ranks[0].append(text)
            elif any(role == "keyword" for role, _ in parts):
                ranks[1].append(text)
        ranks[0].extend(form.rpartition(" # ")[2] for forms in self._numbered.values() for form in forms)
        return Skim(*ranks)


def _spaced(prose: str) -> tuple[str, list[int]]:
    """The prose with single spaces between words; and where in that a character is missing, for each that is."""
    text = f"{prose}  ".replace("\n", " ").replace("\t", " ").replace("*", " ")
    if "_" in text:
        text = text.replace(" _", "  ").replace("_ ", "  ")
    pieces: list[str] = []
    gaps: list[int] = []
    at = 0
    for match in _WIDE.finditer(text):
        start, end = match.span()
        pieces.append(text[at : start + 1])
        gaps += [start + 1 - len(gaps)] * (end - start - 1)
        at = end
    return ("".join((*pieces, text[at:])), gaps) if gaps else (text, gaps)


def _in_prose(gaps: Sequence[int], position: int) -> int:
    return position + bisect_right(gaps, position)


def _expression(form: str) -> str:
    words = "".join(_NUMBER if word == "#" else f"{re.escape(word)} " for word in form.split(" "))
    return words.removesuffix(" ") + (_AFTER if _is_letter(form[-1]) else "")


def _is_letter(char: str) -> bool:
    return char.isascii() and char.isalnum()


@lru_cache(maxsize=16)
def vocabulary(keywords: tuple[Keyword, ...], languages: tuple[str, ...]) -> Vocabulary:
    """The vocabulary of some languages with some keywords more."""
    return Vocabulary(keywords, languages)
