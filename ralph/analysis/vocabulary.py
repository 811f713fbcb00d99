"""All words of all languages found in one pass over the prose."""

import re
import sys
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache
from operator import itemgetter
from typing import Any, NamedTuple, cast

from ahocorasick_rs import AhoCorasick

from ralph.analysis.lexicon import Keyword, Role, lexicon
from ralph.analysis.prescan import Skim
from ralph.analysis.text import Span
from ralph.system.text import pattern

__all__ = ["FIRST", "LAST", "Hit", "Hits", "Vocabulary", "vocabulary"]

FIRST, LAST = 2_500, 5_000
"""Places of words from which on a text is not searched any further from its beginning, and from its end. Ordinary prose
has fewer in all that is read closely.
"""
_AT_ONCE = 8_192
"""Characters that are searched before the places are counted."""

_INSIDE = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-./=")
"""What does not stand before a word: behind it, letters are the rest of another word, a path or an option."""
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_")
_JOINTS = frozenset("-./=")
_GOES_ON = _LETTERS | _JOINTS | {"("}
"""What does not stand behind a word; a joint may, unless a letter follows it."""
_AFTER = r"(?![a-z0-9_(]|[-./=][a-z0-9_])"
_EMPHASIS = pattern(r"\*(?:(?<=[\w']\*)|(?<=[\w'][ \n]\*))\*{0,2}[ \n]?(?=[\w'])")
_WRAPPED = pattern(r"\n(?<=[\w',]\n)[ \t]{1,2}(?=[\w'])")
"""What stands between two words for a space: marks of emphasis, a line's end with the next one's indentation."""
_NUMBER = r"(?:\d{1,9} )?"
_ANY_NUMBER = pattern(" # ")
_NUMBERS = pattern(r" (?:\d{1,9} )?")
_STRONG: frozenset[Role] = frozenset({"blocked", "limit"})


class Hit(NamedTuple):
    """A word, the name that it goes by, and where it stands in the prose."""

    name: str
    start: int
    end: int


class Hits(defaultdict[Role, list[Hit]]):
    """The hits of each role, in order.

    Attributes:
        left_out: characters that were not searched because there were too many words before and behind them.
    """

    left_out: int = 0


_Parts = tuple[tuple[str, tuple[Role, ...]], ...]
"""The names that a form goes by, each with the roles that it then plays."""
_Place = tuple[int, int, int]
"""Which form, where it begins and where it ends."""
_BEGIN = itemgetter(1)
_Written = dict[str, dict[str, list[Role]]]
"""The names of each form, with their roles."""
_new: Callable[[type[Hit], tuple[str, int, int]], Hit] = cast("Any", tuple).__new__
"""Makes a hit in half the time that calling the class takes."""


_Form = tuple[_Parts, _Parts, bool, str]
"""What a form plays among the other words, and what in claims; whether no letter may stand behind it; and what stands
before the number in forms of which it is the beginning, empty for a whole form. Plain tuples are taken apart in a third
of the time that named ones need.
"""


class Vocabulary:
    """The words to look for.

    A longer phrase is preferred to a shorter one that begins at the same place, and words within a found phrase are
    not found again: "make sure" hides "sure". Words of claims and other words do not hide each other. Between the words
    of a phrase there may be up to three spaces, line ends or marks of emphasis.
    """

    def __init__(self, keywords: Sequence[Keyword], languages: Sequence[str]) -> None:
        lexicons = [lexicon(language) for language in languages]
        known = (*(keyword for words in lexicons for keyword in words.keywords), *keywords)
        self.keywords = {keyword.text.lower(): keyword for keyword in known}
        self._parts: _Written = {}
        self._claims: _Written = {}
        self._numbered: dict[str, list[str]] = {}
        for name, keyword in self.keywords.items():
            self._add(self._parts, "keyword", name, (name, *keyword.forms))
            if keyword.group == "done":
                self._add(self._parts, "finished", name, (name, *keyword.forms))
        for words in lexicons:
            for known, table in ((self._parts, words.words), (self._claims, words.claims)):
                for role, names in table.items():
                    for name, written in names.items():
                        self._add(known, role, name, written)
        self._patterns: dict[str, re.Pattern[str]] = {}
        begun = {f"{head} {digit}": head for head in self._numbered for digit in "0123456789"}
        whole = sorted({**self._parts, **self._claims}, key=len, reverse=True)
        sought = [*begun, *whole]  # what is preferred of that which begins at one place comes first
        self._forms: list[_Form] = [((), (), False, head) for head in begun.values()]
        self._forms += [
            (_parts_of(self._parts, text), _parts_of(self._claims, text), _is_letter(text[-1]), "") for text in whole
        ]
        self._automaton = AhoCorasick(sought, store_patterns=False)
        self._longest = max(map(len, sought), default=0)
        self._apart = frozenset(index for index, text in enumerate(sought) if not _is_letter(text[0]))

    def _add(self, known: _Written, role: Role, name: str, written: Iterable[str]) -> None:
        for form in (" ".join(form.lower().split()) for form in written):
            for number in _ANY_NUMBER.finditer(form):
                self._numbered.setdefault(form[: number.start()].replace("# ", ""), []).append(form)
            roles = known.setdefault(form.replace("# ", ""), {}).setdefault(name, [])
            if role not in roles:
                roles.append(role)

    def find(self, prose: str) -> Hits:
        """Every word in the prose, which is in lower case, by its role and in order."""
        text, gaps = _spaced(prose)
        places, left_out = self._search(text.replace("_", " ") if "_" in text else text)
        places.reverse()  # they come by their ends: of those that begin together the longest is now the first
        places.sort(key=_BEGIN)
        hits = self._hits(text, places, gaps)
        hits.left_out = left_out
        return hits

    def _search(self, text: str) -> tuple[list[_Place], int]:
        """Where forms stand, and how many characters were not searched because there are too many before and behind."""
        if len(text) <= _AT_ONCE:
            return self._automaton.find_matches_as_indexes(text, overlapping=True), 0
        first: list[_Place] = []
        last: list[_Place] = []
        begin, end = 0, len(text)
        while begin < end and len(first) < FIRST:
            first += self._search_part(text, begin, min(begin + _AT_ONCE, end))
            begin = min(begin + _AT_ONCE, end)
        while begin < end and len(last) < LAST:
            last += self._search_part(text, max(begin, end - _AT_ONCE), end)
            end = max(begin, end - _AT_ONCE)
        return first + last, end - begin

    def _search_part(self, text: str, begin: int, end: int) -> list[_Place]:
        """The forms that begin in a part of the text."""
        part = text[begin : end + self._longest]
        found = self._automaton.find_matches_as_indexes(part, overlapping=True)
        return [(index, begin + start, begin + stop) for index, start, stop in found if begin + start < end]

    def _hits(self, text: str, places: Iterable[_Place], gaps: Sequence[int]) -> Hits:
        """What stands at some places, none of a kind within another; the places are in order, the preferred first."""
        hits = Hits(list)
        after = claimed = 0
        forms, apart, first_gap = self._forms, self._apart, gaps[0] if gaps else sys.maxsize
        for index, start, end in places:
            if (start < after and start < claimed) or (text[start - 1] in _INSIDE and index not in apart):
                continue
            parts, claims, ends_word, numbered = forms[index]
            if ends_word and text[end] in _GOES_ON and (text[end] not in _JOINTS or text[end + 1] in _LETTERS):
                continue
            stop = end
            plays: _Parts = ()
            if numbered:
                if start >= after and (match := self._pattern(numbered).match(text, start)):
                    after = stop = match.end()
                    plays = _parts_of(self._parts, _NUMBERS.sub(" ", match[0]))
            elif parts and start >= after:
                after = end
                plays = parts
            if claims and start >= claimed:
                claimed = end
                plays = plays + claims if plays else claims
            first, last = (start, stop) if stop <= first_gap else _in_prose(start, stop, gaps)
            for name, roles in plays:
                hit = _new(Hit, (name, first, last))
                for role in roles:
                    hits[role].append(hit)
        return hits

    def _pattern(self, head: str) -> re.Pattern[str]:
        """The pattern of the forms that have a number behind some words; made when these are first met."""
        if head not in self._patterns:
            forms = sorted(self._numbered[head], key=len, reverse=True)
            self._patterns[head] = pattern("|".join(map(_expression, forms)))
        return self._patterns[head]

    def skim(self, text: str, spans: Sequence[Span]) -> Sequence[int]:
        """Places of the strongest phrases in the spans of a text in any case; where there are many, only of a few."""
        return self._skim(text, spans)

    @cached_property
    def _skim(self) -> Skim:
        """Those that are enough by themselves are a rank of their own, which other keywords cannot crowd out."""
        strong = {name for name, keyword in self.keywords.items() if keyword.weight == "very_high"}
        ranks: tuple[list[str], list[str]] = ([], [])
        for text, parts in self._parts.items():
            roles = {role for found in parts.values() for role in found}
            if roles & _STRONG or ("keyword" in roles and not strong.isdisjoint(parts)):
                ranks[0].append(text)
            elif "keyword" in roles:
                ranks[1].append(text)
        ranks[0].extend(form.rpartition(" # ")[2] for forms in self._numbered.values() for form in forms)
        return Skim(*ranks)


def _parts_of(known: _Written, text: str) -> _Parts:
    return tuple([(name, tuple(roles)) for name, roles in known.get(text, {}).items()])


def _spaced(prose: str) -> tuple[str, list[int]]:
    """The prose with single spaces between words; and where in that a character is missing, for each that is."""
    pieces: list[str] = []
    gaps: list[int] = []
    at = 0
    for start, end in _wide_gaps(prose):
        pieces.append(prose[at:start])
        gaps += [start + 1 - len(gaps)] * (end - start - 1)
        at = end
    text = " ".join((*pieces, f"{prose[at:]}  "))
    return text.replace("\n", " ").replace("\t", " ").replace("*", " "), gaps


def _in_prose(start: int, end: int, gaps: Sequence[int]) -> Span:
    """Where in the prose something stands, by its place among single spaces and the gaps that `_spaced` gives."""
    return start + bisect_right(gaps, start), end + bisect_left(gaps, end)


def _wide_gaps(prose: str) -> list[Span]:
    """The gaps of two or three characters between words, in order."""
    spans = [match.span() for match in _WRAPPED.finditer(prose)] if "\n " in prose else []
    if "*" in prose:
        emphasis = (match.span() for match in _EMPHASIS.finditer(prose))
        spans += [(start - (prose[start - 1] in " \n"), end) for start, end in emphasis]
        spans.sort()
    return spans


def _expression(form: str) -> str:
    words = "".join(_NUMBER if word == "#" else f"{re.escape(word)} " for word in form.split(" "))
    return words.removesuffix(" ") + (_AFTER if _is_letter(form[-1]) else "")


def _is_letter(char: str) -> bool:
    return char.isascii() and char.isalnum()


@lru_cache(maxsize=16)
def vocabulary(keywords: tuple[Keyword, ...], languages: tuple[str, ...]) -> Vocabulary:
    """The vocabulary of some languages with some keywords more."""
    return Vocabulary(keywords, languages)
