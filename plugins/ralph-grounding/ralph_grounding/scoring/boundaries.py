"""Word boundaries, in scripts with and without spaces. Characters are ranges for regular expression classes."""

import re

__all__ = ["GAPLESS", "JOINED", "begins_word", "ends_word", "has_gapless"]

GAPLESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3041-\u309f"
    "\u30a0-\u30fa\u30fc-\u318f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc"
    "\U00020000-\U0003ffff"
)
"""Letters that stand beside those of another script without a space: Chinese, Japanese, Thai, Korean."""

JOINED = (
    "\u00ad\u0300-\u036f\u0610-\u061a\u064b-\u065f\u0900-\u0903\u093a-\u094f\u0981-\u0983\u09bc-\u09cd\u1ab0-\u1aff\u1dc0-\u1dff"
    "\u200b-\u200f\u2060\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f\ufeff"
)
"""Marks and invisible characters: between two letters they join them, elsewhere they are ignored."""

_GAPLESS = re.compile(f"[{GAPLESS}]")
_HAN = re.compile(
    "[\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
_SEE_THROUGH = re.compile(f"[_{JOINED}]")
_ACCENT = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]")
_FARTHEST = 16  # characters to look through; a longer run of them is a boundary


def has_gapless(text: str) -> bool:
    """Return True if the text contains a letter of a script without spaces."""
    return bool(_GAPLESS.search(text))


def begins_word(text: str, start: int) -> bool:
    """Return True if a word may begin at `start`, the place of one of its letters.

    Chinese words may begin anywhere. A word of another script without spaces begins where the script does: the Japanese
    word for "line" is not found in that for "online".
    """
    before = _letter(text, range(start - 1, max(-1, start - 1 - _FARTHEST), -1))
    first = text[start]
    if not before or not _is_word(first):
        return True
    if _GAPLESS.match(first):
        return bool(_HAN.match(first)) or not _same_script(first, before)
    return bool(_GAPLESS.match(before))


def ends_word(text: str, end: int) -> bool:
    """Return True if a word may end before `end`.

    In a script without spaces it may: particles and other words follow it.
    """
    if end < len(text) and _ACCENT.match(text[end]):
        return False
    after = _letter(text, range(end, min(len(text), end + _FARTHEST)))
    last = text[end - 1]
    return not after or not _is_word(last) or bool(_GAPLESS.match(last)) or bool(_GAPLESS.match(after))


def _letter(text: str, places: range) -> str:
    """Return the first word character on the way, past emphasis and invisible ones; empty if another comes first."""
    for place in places:
        if not _SEE_THROUGH.match(text[place]):
            return text[place] if _is_word(text[place]) else ""
    return ""


def _is_word(character: str) -> bool:
    return character.isalnum()


def _same_script(one: str, other: str) -> bool:
    return _script(one) == _script(other)


def _script(character: str) -> str:
    if "\uac00" <= character <= "\ud7ff" or "\u1100" <= character <= "\u11ff" or "\u3130" <= character <= "\u318f":
        return "hangul"
    if "\u3041" <= character <= "\u309f":
        return "hiragana"
    if "\u30a0" <= character <= "\u30ff" or "\u31f0" <= character <= "\u31ff" or "\uff66" <= character <= "\uff9f":
        return "katakana"
    return "han" if _HAN.match(character) else "other"
