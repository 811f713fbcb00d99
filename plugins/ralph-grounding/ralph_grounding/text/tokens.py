"""Units of comparison: stems of words, numbers, and pairs of characters in scripts without spaces."""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from ralph_grounding.text.numerals import number_of_digits, number_of_word, with_zeros, zeros_of_word
from ralph_grounding.text.stems import guess_language
from ralph_grounding.text.stems import stem as stem_of

__all__ = ["Token", "tokens"]

_LONGEST = 64
_TENS = frozenset({"20", "30", "40", "50", "60", "70", "80", "90"})
_UNITS = frozenset("123456789")

# Scripts that are written without spaces, and Hangul, whose particles cling to the words.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
# Marks that belong to the letter before them, which `\w` leaves out, and the vowel signs of Indian scripts.
_MARKS = "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0980-\u0dff"

# Every repetition is bounded or runs over characters that nothing after it can match, so that the search is linear.
_TOKEN = re.compile(
    rf"(?P<unspaced>[{_UNSPACED}]+)"
    r"|(?P<number>\d{1,40}(?:[.,]\d{1,40}|[\u00a0\u202f]\d{3}(?!\d)){0,8}+)(?P<ending>(?:st|nd|rd|th)\b)?"
    rf"|(?P<word>(?:(?![{_UNSPACED}])[^\W\d_])"
    rf"(?:(?![{_UNSPACED}])[^\W_]|[{_MARKS}]|['’](?=[^\W\d_])){{0,{_LONGEST - 1}}}"
    r"(?:(?<=\b[a-z])(?:\+\+|\#))?)",  # C, C++ and C# are three
    re.IGNORECASE,
)
_ELIDED = re.compile(r"(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|dell|nell|all|un)['’](?=.)")
_ELIDING = frozenset({"fr", "it", "ca"})


class Token(NamedTuple):
    """A unit of comparison, with its place: `text[start:end]` is its source.

    Attributes:
        stem: the compared form; for a number its plain digits, such as "1250.5", also of "twenty" or "third".
        word: as written, in lower case.
        number: whether it is one.
    """

    stem: str
    word: str
    start: int
    end: int
    number: bool = False


def tokens(text: str, language: str | None = None, *, start: int = 0, end: int | None = None) -> list[Token]:
    """Return the tokens of `text[start:end]`, in order, with places in the whole text.

    Stretches of Chinese, Japanese, Korean or Thai become overlapping pairs of characters; a single character stays one.
    Time and memory grow with the length of the text.

    Args:
        text: the text.
        language: an ISO code; guessed from the text if None.
        start: the first character.
        end: the end of the stretch; None for the text's end.
    """
    if language is None:
        language = guess_language(text)
    found: list[Token] = []
    for token in _tokens(text, language, start, len(text) if end is None else end):
        joined = _joined(found[-1], token, language) if found and found[-1].number else None
        if joined is None:
            found.append(token)
        else:
            found[-1] = joined
    return found


def _tokens(text: str, language: str, start: int, end: int) -> Iterator[Token]:
    for match in _TOKEN.finditer(text, start, end):
        first, last = match.span()
        match match.lastgroup:
            case "unspaced":
                yield from _pairs(text, first, last)
            case "word":
                yield _word(text, first, last, language)
            case _:
                yield _number(match["number"], first, last, language)


def _joined(number: Token, token: Token, language: str) -> Token | None:
    """Join two neighbours into one number, as in "twenty-five" and "1.5 million"; None for others."""
    if token.start > number.end + 1 or number.stem.count(".") > 1:
        return None
    if token.number:
        if not (number.stem in _TENS and token.stem in _UNITS and number.word.isalpha() and token.word.isalpha()):
            return None
        stem = number.stem[0] + token.stem
    elif zeros := zeros_of_word(token.word, language):
        stem = with_zeros(number.stem, zeros)
    else:
        return None
    return Token(stem, f"{number.word} {token.word}", number.start, token.end, number=True)


def _pairs(text: str, start: int, end: int) -> Iterator[Token]:
    for first in range(start, max(end - 1, start + 1)):
        pair = text[first : min(first + 2, end)]
        yield Token(pair, pair, first, first + len(pair))


def _number(written: str, start: int, end: int, language: str) -> Token:
    digits = written
    if not written.isascii():
        digits = "".join(str(unicodedata.decimal(sign, sign)) for sign in unicodedata.normalize("NFKC", written))
    return Token(number_of_digits(digits, language), written, start, end, number=True)


def _word(text: str, start: int, end: int, language: str) -> Token:
    word = text[start:end]
    if not word.isascii():
        word = unicodedata.normalize("NFKC", word).replace("’", "'")
    word = word.casefold()
    if language in _ELIDING and (elided := _ELIDED.match(word)):
        start, word = start + elided.end(), word[elided.end() :]
    stem, number = _unit(word, language)
    return Token(stem, word, start, end, number)


@lru_cache(maxsize=32_768)
def _unit(word: str, language: str) -> tuple[str, bool]:
    """Return the compared form of a word, and whether it is a number."""
    number = number_of_word(word, language)
    return number or stem_of(word, language), bool(number)
