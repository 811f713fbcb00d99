"""Where a reply mentions files, changes and repairs: what its summary is made of, found in one pass."""

from functools import cache
from typing import NamedTuple

from ahocorasick_rs import AhoCorasick, MatchKind

__all__ = ["CHANGED", "MENDED", "MENDED_IN_CHINESE", "Mentions", "mentions"]

_READ = 20_000
"""Characters in which single files and repairs are looked for, from the end: that is where a reply reports."""
CHANGED = (
    "modified",
    "changed",
    "updated",
    "edited",
    "created",
    "added",
    "wrote",
    "implemented",
    "refactored",
    "rewrote",
    "fixed",
)
"""What the name of a file that was changed stands behind."""
MENDED = ("fixed", "resolved", "corrected")
MENDED_IN_CHINESE = ("修復", "修复", "修正", "解決", "解决")
_WORDS_BY_KIND = (
    ("file", "changes", "文件", "檔案", "档案"),
    CHANGED,
    MENDED,
    ("文件", "檔案", "档案", *MENDED_IN_CHINESE),
)
_WORDS = tuple(dict.fromkeys(word for words in _WORDS_BY_KIND for word in words))
_KINDS = [tuple(kind for kind, words in enumerate(_WORDS_BY_KIND) if word in words) for word in _WORDS]


class Mentions(NamedTuple):
    """Where some words stand in the end of a text, each kind in order.

    Attributes:
        tail: the end of the text.
        everywhere: this is all of the text.
        labels: what every label of a list of files has one of.
        changed, mended: the words of `CHANGED` and `MENDED`.
        chinese: files and repairs in Chinese.
    """

    tail: str
    everywhere: bool
    labels: list[int]
    changed: list[int]
    mended: list[int]
    chinese: list[int]


def mentions(lower: str) -> Mentions | None:
    """What is mentioned in a text, which is in lower case; None where nothing is."""
    tail = lower[-_READ:]
    found = _words().find_matches_as_indexes(tail)
    everywhere = len(tail) == len(lower)
    if everywhere and not found:
        return None
    places: tuple[list[int], ...] = ([], [], [], [])
    for index, place, _ in found:
        for kind in _KINDS[index]:
            places[kind].append(place)
    return Mentions(tail, everywhere, *places)


@cache
def _words() -> AhoCorasick:
    return AhoCorasick(_WORDS, MatchKind.LeftmostLongest, store_patterns=False)
