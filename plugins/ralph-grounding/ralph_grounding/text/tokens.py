"""Units of comparison: stems of words, numbers, and pairs of characters in scripts without spaces.

Designations are names of one letter or little more: Plan B, Vitamin D, C++, World War II, gate A12.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from ralph_grounding.text.language import guess_language
from ralph_grounding.text.language import stem as stem_of
from ralph_grounding.text.words import FUNCTION_WORDS

__all__ = [
    "Token",
    "is_designation",
    "looks_like_designation",
    "number_of_digits",
    "number_of_word",
    "tokens",
    "tokens_of",
    "with_zeros",
    "zeros_of_word",
]

# A comma that is not followed by three digits can only be a decimal one; for "1.000" only the language
# decides.
_DECIMAL_COMMA = frozenset({
    "ca",
    "da",
    "de",
    "es",
    "fi",
    "fr",
    "it",
    "nb",
    "nl",
    "no",
    "pl",
    "pt",
    "ro",
    "ru",
    "sv",
    "tr",
})

_WORDS = {
    "en": "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty",
    "de": "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
    "fr": "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize",
    "es": "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince",
    "it": "zero uno due tre quattro cinque sei sette otto nove dieci undici dodici",
    "pt": "zero um dois três quatro cinco seis sete oito nove dez onze doze",
    "nl": "nul een twee drie vier vijf zes zeven acht negen tien elf twaalf",
}
# Indefinite articles with the same spelling as the number are left as words.
_ARTICLES = frozenset({"un", "uno", "um", "een"})
_ENGLISH = {
    "first": "1", "second": "2", "third": "3", "fourth": "4", "fifth": "5", "sixth": "6", "seventh": "7",
    "eighth": "8", "ninth": "9", "tenth": "10", "eleventh": "11", "twelfth": "12", "thirty": "30", "forty": "40",
    "fifty": "50", "sixty": "60", "seventy": "70", "eighty": "80", "ninety": "90",
}  # fmt: skip
_BY_LANGUAGE = {
    language: {word: str(value) for value, word in enumerate(words.split()) if word not in _ARTICLES}
    for language, words in _WORDS.items()
}
_BY_LANGUAGE["en"] |= _ENGLISH

_SCALES = {
    "en": {"hundred": 2, "thousand": 3, "million": 6, "mn": 6, "billion": 9, "bn": 9, "trillion": 12},
    "de": {
        "hundert": 2,
        "tausend": 3,
        "million": 6,
        "millionen": 6,
        "mio": 6,
        "milliarde": 9,
        "milliarden": 9,
        "mrd": 9,
    },
    "fr": {"cents": 2, "mille": 3, "million": 6, "millions": 6, "milliard": 9, "milliards": 9},
    "es": {"mil": 3, "millón": 6, "millones": 6},
    "it": {"mila": 3, "milione": 6, "milioni": 6, "miliardo": 9, "miliardi": 9},
    "pt": {"mil": 3, "milhão": 6, "milhões": 6},
    "nl": {"duizend": 3, "miljoen": 6, "miljard": 9},
}


def zeros_of_word(word: str, language: str) -> int:
    """Return the zeros that a lower-case word adds to the number before it: six for "million"; 0 for any other word."""
    return _SCALES.get(language, {}).get(word, 0)


def with_zeros(digits: str, zeros: int) -> str:
    """Multiply plain digits by that power of ten: "1.5" with six is "1500000"."""
    whole, _, fraction = digits.partition(".")
    moved = whole + fraction[:zeros].ljust(zeros, "0")
    rest = fraction[zeros:]
    return f"{moved.lstrip('0') or '0'}.{rest}" if rest else moved.lstrip("0") or "0"


def number_of_word(word: str, language: str) -> str:
    """Return the digits of a lower-case number word; "" for any other word."""
    return _BY_LANGUAGE.get(language, {}).get(word, "")


def number_of_digits(written: str, language: str) -> str:
    """Return a number without thousands separators, with a decimal point: "1,250.50" is "1250.5".

    A space separates thousands, too. Anything that these rules do not accept as a number, such as a version, a date or
    an address, keeps its points.
    """
    if written.isdecimal():
        return written.lstrip("0") or "0"
    digits = written.replace(" ", "")
    comma = "," if language not in _DECIMAL_COMMA else "."
    point = "." if comma == "," else ","
    if (plain := _plain(digits, thousands=comma, decimal=point)) is None:
        plain = _plain(digits, thousands=point, decimal=comma)
    return digits.replace(",", ".") if plain is None else plain


def _plain(digits: str, *, thousands: str, decimal: str) -> str | None:
    whole, found, fraction = digits.partition(decimal)
    first, *groups = whole.split(thousands)
    if any(len(group) != 3 for group in groups) or (groups and not 1 <= len(first) <= 3):
        return None
    if found and not fraction.isdecimal():
        return None
    number = (first + "".join(groups)).lstrip("0") or "0"
    fraction = fraction.rstrip("0")
    return f"{number}.{fraction}" if fraction else number


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
    r"|(?P<number>\d{1,40}(?:[.,]\d{1,40}|[\u00a0\u202f]\d{3}(?!\d)){0,8})(?P<ending>(?:st|nd|rd|th)\b)?"
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
    after_number = False
    for match in _TOKEN.finditer(text, start, len(text) if end is None else end):
        first, last = match.span()
        match match.lastgroup:
            case "word":
                stem, word, number, elided = _unit(match[0], language)
                token = Token(stem, word, first + elided, last, number)
            case "unspaced":
                found.extend(_pairs(text, first, last))
                after_number = False
                continue
            case _:
                token = _number(match["number"], first, last, language)
        if after_number and (joined := _joined(found[-1], token, language)):
            found[-1] = joined
        else:
            found.append(token)
            after_number = token.number
    return found


@lru_cache(maxsize=128)
def tokens_of(text: str, language: str) -> Sequence[Token]:
    """Return the tokens of a short text; the last are cached, as a claim is read in several ways."""
    return tuple(tokens(text, language))


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


@lru_cache(maxsize=32_768)
def _unit(written: str, language: str) -> tuple[str, str, bool, int]:
    """Return the compared form of a word, its lower case, whether it is a number, and the letters elided before it."""
    word, start = written, 0
    if not word.isascii():
        word = unicodedata.normalize("NFKC", word).replace("’", "'")
    word = word.casefold()
    if language in _ELIDING and (elided := _ELIDED.match(word)):
        start, word = elided.end(), word[elided.end() :]
    number = number_of_word(word, language)
    return number or _stem(word, language), word, bool(number), start


_stem = lru_cache(maxsize=32_768)(stem_of)


_WRITTEN = re.compile(r"[A-Z](?:\+\+|#)?|[IVX]{2,5}|[A-Z]{1,3}\d{1,4}[A-Z]?")
_SET_APART = re.compile(r"[ \t\u00a0\u202f-]")


def looks_like_designation(written: str) -> bool:
    """Return True if a word, as written, may be such a name anywhere."""
    return _WRITTEN.fullmatch(written) is not None


def is_designation(text: str, words: Sequence[Token], place: int, language: str) -> bool:
    """Return True if a word of a text is such a name there: "A" and "I" only after a word that they may designate."""
    word = words[place]
    written = text[word.start : word.end]
    if not "A" <= written[:1] <= "Z" or not looks_like_designation(written):
        return False
    if written not in ("A", "I"):
        return True
    before = words[place - 1] if place else None
    if before is None or not _SET_APART.fullmatch(text, before.end, word.start):
        return False
    named = before.word not in FUNCTION_WORDS.get(language, frozenset[str]())
    return named and (written == "A" or text[before.start].isupper())
