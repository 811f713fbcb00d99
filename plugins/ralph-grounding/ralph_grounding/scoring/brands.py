"""Brands in a text: as whole words, in the spellings in which a brand is meant."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from ralph_grounding.scoring.boundaries import begins_word, ends_word

__all__ = ["BrandMention", "find_brands"]

_MOST_BRANDS, _LONGEST_BRAND = 2000, 200
_SHORT = 3
_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_ALIKE = {**_FULL_WIDTH, 0x2018: "'", 0x2019: "'", 0x02BC: "'", 0x2010: "-", 0x2011: "-", 0x0130: "i"}


class BrandMention(NamedTuple):
    """Where a brand is named; `brand` is the name that was looked for."""

    start: int
    end: int
    brand: str


def find_brands(text: str, brands: Iterable[str]) -> Iterator[BrandMention]:
    """All places where a brand stands as a word of its own; those of several brands may overlap.

    Case matters only for a name that is an everyday word ("Apple") or has up to three letters ("HP"): it counts as it
    is written, and in capitals. A name that was given in small letters is found in any case.
    """
    folded = _fold(text)
    for brand in list(dict.fromkeys(brands))[:_MOST_BRANDS]:
        name = " ".join(brand.split())[:_LONGEST_BRAND]
        if not _can_be_found(name):
            continue
        spellings = {name, name.upper()} if _is_everyday(name) else None
        for start, end in _occurrences(folded, name):
            if spellings and " ".join(text[start:end].split()) not in spellings:
                continue
            if begins_word(text, start) and ends_word(text, end):
                yield BrandMention(start, end, brand)


def _occurrences(folded: str, name: str) -> Iterator[tuple[int, int]]:
    for form in sorted({unicodedata.normalize(form, _fold(name)) for form in ("NFC", "NFD")}):
        words = form.split()
        if words[0] in folded:
            pattern = r"\s{1,8}".join(re.escape(word) for word in words)
            for found in re.finditer(pattern, folded):
                yield found.span()


def _can_be_found(name: str) -> bool:
    return any(character.isalnum() for character in name) and (len(name) > 1 or name.isascii())


def _is_everyday(name: str) -> bool:
    if name == name.lower():
        return False
    words = name.lower().split()
    return (len(words) == 1 and len(name) <= _SHORT) or all(word in _everyday_words() for word in words)


@cache
def _everyday_words() -> frozenset[str]:
    """English words that are brands, too."""
    lines = files("ralph_grounding.scoring").joinpath("everyday_words.txt").read_text("utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


def _fold(text: str) -> str:
    """Small letters, plain apostrophes and hyphens, no full-width letters; as long as the text: places agree."""
    if text.isascii():
        return text.lower()
    alike = text.translate(_ALIKE)
    folded = alike.lower()
    return folded if len(folded) == len(text) else "".join(map(_small, alike))


def _small(character: str) -> str:
    small = character.lower()
    return small if len(small) == 1 else character
