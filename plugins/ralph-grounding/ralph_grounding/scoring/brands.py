"""Brands in a text: as whole words, in the spellings that mean a brand."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple

from ralph_grounding.scoring.boundaries import begins_word, ends_word

__all__ = ["BrandMention", "Brands"]

_MOST_BRANDS, _LONGEST_BRAND = 10_000, 200
_SHORT = 3
_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_ALIKE = {**_FULL_WIDTH, 0x2018: "'", 0x2019: "'", 0x02BC: "'", 0x2010: "-", 0x2011: "-", 0x0130: "i"}
_LATIN = re.compile(r"[0-9a-z]+")


class BrandMention(NamedTuple):
    """A mention of a brand; `brand` is the name that was searched for."""

    start: int
    end: int
    brand: str


class _Sought(NamedTuple):
    """A brand in one of the forms in which it may stand in a folded text.

    Attributes:
        signs: the necessary content of a text with the brand: its runs of Latin letters and digits, as whole words,
            because no word continues beside a brand; if it has none, its letters.
        spellings: the accepted spellings; empty: any.
    """

    brand: str
    words: tuple[str, ...]
    signs: frozenset[str]
    spellings: frozenset[str]


class Brands:
    """Brands to search for, prepared once for any number of texts: the cost of a text hardly depends on their number.

    Names of more than 200 characters are ignored, and only the first 10,000 names are used.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._by_sign: dict[str, list[_Sought]] = {}
        for brand in list(dict.fromkeys(names))[:_MOST_BRANDS]:
            for sought in _forms(brand):
                self._by_sign.setdefault(max(sought.signs, key=len), []).append(sought)

    def find(self, text: str) -> Iterator[BrandMention]:
        """Find all places where a brand stands as a separate word; those of several brands may overlap.

        Case matters only for a name that is an everyday word ("Apple") or has up to three letters ("HP"): it counts as
        written, and in capitals. A name that was given in lower case is found in any case.
        """
        folded = _fold(text)
        signs = {*_LATIN.findall(folded), *folded}
        for sign in signs & self._by_sign.keys():
            for sought in self._by_sign[sign]:
                if sought.signs <= signs and all(word in folded for word in sought.words):
                    yield from _places(sought, text, folded)


def _forms(brand: str) -> Iterator[_Sought]:
    name = " ".join(brand.split())
    if not _can_be_found(name):
        return
    spellings = frozenset({name, name.upper()} if _is_everyday(name) else ())
    for form in sorted({unicodedata.normalize(form, _fold(name)) for form in ("NFC", "NFD")}):
        words = tuple(form.split())
        yield _Sought(brand, words, frozenset(_LATIN.findall(form)) or frozenset("".join(words)), spellings)


def _places(sought: _Sought, text: str, folded: str) -> Iterator[BrandMention]:
    for found in _pattern(sought.words).finditer(folded):
        start, end = found.span()
        if sought.spellings and " ".join(text[start:end].split()) not in sought.spellings:
            continue
        if begins_word(text, start) and ends_word(text, end):
            yield BrandMention(start, end, sought.brand)


@lru_cache(maxsize=_MOST_BRANDS)
def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    """Compile the pattern, cached because that takes longer than the search."""
    return re.compile(r"\s{1,8}".join(re.escape(word) for word in words))


def _can_be_found(name: str) -> bool:
    if len(name) > _LONGEST_BRAND or not any(character.isalnum() for character in name):
        return False
    return len(name) > 1 or name.isascii()


def _is_everyday(name: str) -> bool:
    if name == name.lower():
        return False
    words = name.lower().split()
    return (len(words) == 1 and len(name) <= _SHORT) or all(word in _everyday_words() for word in words)


@cache
def _everyday_words() -> frozenset[str]:
    """Return the English words that are brands, too."""
    lines = files("ralph_grounding.scoring").joinpath("everyday_words.txt").read_text("utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


def _fold(text: str) -> str:
    """Return lower case, plain apostrophes and hyphens, no full-width letters; the length and all places stay."""
    if text.isascii():
        return text.lower()
    alike = text.translate(_ALIKE)
    folded = alike.lower()
    return folded if len(folded) == len(text) else "".join(map(_small, alike))


def _small(character: str) -> str:
    small = character.lower()
    return small if len(small) == 1 else character
