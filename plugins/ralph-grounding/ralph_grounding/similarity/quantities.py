"""Numbers and dates in claims: with the things that they count, in parts, and with their units."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from ralph_grounding.similarity.statement import Statement, statement

__all__ = ["Date", "Measured", "Quantity", "dates", "measured", "quantities"]

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan januar janvier enero",
            "february feb februar février febrero",
            "march mar märz mars marzo",
            "april apr avril abril",
            "may mai mayo",
            "june jun juni juin junio",
            "july jul juli juillet julio",
            "august aug août agosto",
            "september sep sept septembre septiembre",
            "october oct oktober octobre octubre",
            "november nov novembre noviembre",
            "december dec dezember décembre diciembre",
        ),
        start=1,
    )
    for name in names.split()
}
_DAYS = {
    name: number
    for number, names in enumerate(
        (
            "monday montag lundi lunes",
            "tuesday dienstag mardi martes",
            "wednesday mittwoch mercredi miércoles",
            "thursday donnerstag jeudi jueves",
            "friday freitag vendredi viernes",
            "saturday samstag sonnabend samedi sábado",
            "sunday sonntag dimanche domingo",
        ),
        start=1,
    )
    for name in names.split()
}
_AMBIGUOUS = frozenset({"may", "march", "mar", "mars", "sept", "sep", "dec", "nov", "jan"})
"""Months that are other words, too: a number or a capital letter must decide."""
_ISO = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b")
_DOTTED = re.compile(r"\b(\d{1,2})\.(\d{1,2})\.(\d{4})\b")
_SLASHED = re.compile(r"\b(\d{1,2})/(\d{1,2})/(\d{4})\b")
_TO = frozenset({"to", "-", "–", "—", "bis", "à", "a", "or", "and"})
_OF = frozenset({"of", "de"})
_BEFORE_YEARS = frozenset([
    "in",
    "since",
    "until",
    "till",
    "by",
    "from",
    "during",
    "after",
    "before",
    "of",
    "early",
    "late",
    "year",
    "between",
    "mid",
    "spring",
    "summer",
    "autumn",
    "fall",
    "winter",
    "im",
    "seit",
    "bis",
    "ab",
    "vor",
    "nach",
    "en",
    "depuis",
    "avant",
    "après",
    "desde",
    "hasta",
    "nel",
    "dal",
])


class Date(NamedTuple):
    """A date or a part of one; a missing part is 0.

    Attributes:
        weekday: 1 is Monday.
    """

    year: int
    month: int
    day: int
    weekday: int
    start: int
    end: int

    def agrees(self, other: "Date") -> bool:
        """Return True if both may be the same day: no part that both have differs."""
        return all(one == two for one, two in zip(self[:4], other[:4], strict=True) if one and two)

    def comparable(self, other: "Date") -> bool:
        """Return True if both have a part in common."""
        return any(one and two for one, two in zip(self[:4], other[:4], strict=True))


class Quantity(NamedTuple):
    """A number, and the words that show what it counts.

    Attributes:
        value: with its scale: of "1.5 million" it is 1500000. As written for other numerals, such as a version.
        unit: a sign beside it, as "%" or "$"; or "".
        before, after: the stems of the content words beside it; or "".
        named: the word before has a capital letter, as in "Python 3".
    """

    value: float | str
    unit: str
    before: str
    after: str
    named: bool
    start: int
    end: int


def dates(said: Statement) -> tuple[Date, ...]:
    """Return the dates of a statement, including days of the week."""
    return _dates(said.text, said.language)


@lru_cache(maxsize=1024)
def _dates(text: str, language: str) -> tuple[Date, ...]:
    return tuple(sorted([*_written(text), *_named(statement(text, language))], key=lambda date: date.start))


def _written(text: str) -> Iterator[Date]:
    for match in _ISO.finditer(text):
        yield Date(int(match[1]), int(match[2]), int(match[3]), 0, *match.span())
    for match in _DOTTED.finditer(text):
        yield Date(int(match[3]), int(match[2]), int(match[1]), 0, *match.span())
    for match in _SLASHED.finditer(text):  # 12/06 is either; only the year is certain then, unless both are the same
        one, two = int(match[1]), int(match[2])
        month, day = (two, one) if one > 12 or one == two else (one, two) if two > 12 else (0, 0)
        yield Date(int(match[3]), month, day, 0, *match.span())


def _named(said: Statement) -> Iterator[Date]:
    taken = -1
    for place, word in enumerate(said.words):
        if place <= taken or not (word.number or word.word in _DAYS or word.word in _MONTHS):
            continue
        if weekday := _DAYS.get(word.word):
            yield Date(0, 0, 0, weekday, word.start, word.end)
        elif month := _month(said, place):
            first, last, year, day = place, place, 0, 0
            before = place - 2 if place > 1 and said.words[place - 1].word in _OF else place - 1
            if _is_day(said, before):
                first, day = before, int(said.words[before].stem)
            if not day and _is_day(said, place + 1):
                last, day = place + 1, int(said.words[place + 1].stem)
            if _is_year(said, last + 1):
                last, year = last + 1, int(said.words[last + 1].stem)
            taken = last
            yield Date(year, month, day, 0, said.words[first].start, said.words[last].end)
        elif _is_year(said, place) and place and said.words[place - 1].word in _BEFORE_YEARS:
            yield Date(int(word.stem), 0, 0, 0, word.start, word.end)


def _month(said: Statement, place: int) -> int:
    word = said.words[place]
    month = _MONTHS.get(word.word, 0)
    if not month or word.word not in _AMBIGUOUS:
        return month
    beside = _is_day(said, place - 1) or _is_day(said, place + 1) or _is_year(said, place + 1)
    return month if beside and said.text[word.start].isupper() else 0


def _is_day(said: Statement, place: int) -> bool:
    return 0 <= place < len(said.words) and said.words[place].number and said.words[place].stem in _MONTH_DAYS


def _is_year(said: Statement, place: int) -> bool:
    if not 0 <= place < len(said.words):
        return False
    word = said.words[place]
    return word.number and len(word.word) == 4 and word.word.isdecimal() and word.word[:2] in _CENTURIES


_MONTH_DAYS = frozenset(str(day) for day in range(1, 32))
_CENTURIES = frozenset(str(century) for century in range(10, 21))


def quantities(said: Statement, apart_from: Sequence[Date]) -> list[Quantity]:
    """Return the numbers of a statement that are not parts of those dates."""
    return [
        _quantity(said, place)
        for place, word in enumerate(said.words)
        if word.number and not any(date.start <= word.start < date.end for date in apart_from)
    ]


def _quantity(said: Statement, place: int) -> Quantity:
    word = said.words[place]
    value: float | str = word.stem if word.stem.count(".") > 1 else float(word.stem)
    start, end, after = word.start, word.end, place + 1
    sign_before, sign_after = said.text[start - 1 : start], said.text[end : end + 2].strip()[:1]
    unit = sign_before if sign_before in "$€£¥#" else sign_after if sign_after in "%€£$°" else ""
    if unit == "" and after < len(said.words) and said.words[after].word in {"percent", "prozent"}:
        unit = "%"
    before = next((other for other in range(place - 1, -1, -1) if said.content[other]), -1)
    following = next((other for other in range(after, len(said.words)) if said.content[other]), -1)
    if _ranges(said, place, following):  # in "3 to 5 days" both are days
        following = next((other for other in range(following + 1, len(said.words)) if said.content[other]), -1)
    return Quantity(
        value,
        unit,
        said.words[before].stem if before >= 0 else "",
        said.words[following].stem if following >= 0 else "",
        before >= 0 and said.text[said.words[before].start].isupper(),
        start,
        end,
    )


def _ranges(said: Statement, first: int, last: int) -> bool:
    """Return True if a number and the next content word are the ends of a range, as in "3 to 5" and "3–5"."""
    if last < 0 or not said.words[last].number:
        return False
    return said.text[said.words[first].end : said.words[last].start].strip().casefold() in _TO


_UNITS = {
    "time": "seconds second sec s|minutes minute min mins minuten|hours hour h hrs hr stunden stunde heures heure "
    "horas hora|days day tage tagen tag jours jour días día|weeks week wochen woche semaines semaine semanas "
    "semana|months month monate monaten monat mois meses mes|years year jahre jahren jahr ans años año",
    "money": "$ dollars dollar usd|€ euros euro eur|£ pounds gbp|¥ yen jpy|francs franken chf|cents cent",
    "length": "mm millimetres millimeters|cm centimetres centimeters|m metres meters metre meter|km kilometres "
    "kilometers kilometre kilometer|inches inch|ft feet foot|yards yard|miles mile",
    "weight": "mg|g grams gram|kg kilograms kilogram kilos|oz ounces ounce|lb lbs|tons tonnes",
    "data": "kb kilobytes|mb megabytes megabyte|gb gigabytes gigabyte|tb terabytes terabyte",
    "temperature": "°c celsius|°f fahrenheit",
    "clock": "am|pm",
}
_UNIT_OF = {
    word: (dimension, number)
    for dimension, units in _UNITS.items()
    for number, words in enumerate(units.split("|"))
    for word in words.split()
}
_SIGNS = "$€£¥"
_NEXT = re.compile(r"[ \t\u00a0\u202f-]?(°[cf]\b|[$€£¥]|[^\W\d_]+)(\.m\b)?", re.IGNORECASE)
_RATE = re.compile(r"(?: ?/ ?| (?:per|a|an|each|every|pro|im|par|por) )([^\W\d_]+)", re.IGNORECASE)


class Measured(NamedTuple):
    """A number with its unit.

    Attributes:
        dimension: what is measured, such as "time"; "12 euros a month" has a "rate", too.
        unit: a unit of the dimension.
        start, end: of the number, the unit and the text between them.
        place: of the number, among the statement's words.
    """

    value: str
    dimension: str
    unit: int
    start: int
    end: int
    place: int


def measured(said: Statement) -> Iterator[Measured]:
    """Yield the numbers of a statement that have a unit, in order; one with a rate comes twice."""
    for place, word in enumerate(said.words):
        if not word.number:
            continue
        end = word.end
        sign = said.text[max(word.start - 1, 0) : word.start]
        if sign and sign in _SIGNS:
            yield Measured(word.stem, *_UNIT_OF[sign], word.start - 1, end, place)
        elif (after := _NEXT.match(said.text, end)) and (unit := _unit(after, said.language)):
            end = after.end()
            yield Measured(word.stem, *unit, word.start, end, place)
        if (rate := _RATE.match(said.text, end)) and (unit := _UNIT_OF.get(rate[1].casefold())) and unit[0] == "time":
            yield Measured(word.stem, "rate", unit[1], word.start, rate.end(), place)


def _unit(after: re.Match[str], language: str) -> tuple[str, int] | None:
    written = (after[1] + ("m" if after[2] else "")).casefold()
    unit = _UNIT_OF.get(written)
    return None if unit and unit[0] == "clock" and language != "en" else unit
