"""Numbers as people write them, and their values."""

__all__ = ["number_of_digits", "number_of_word", "with_zeros", "zeros_of_word"]

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
