"""Units of the numbers in a statement, to distinguish 12 hours from 12 days."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from ralph_grounding.similarity.statement import Statement

__all__ = ["Measured", "measured"]

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
_OF = {
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
            yield Measured(word.stem, *_OF[sign], word.start - 1, end, place)
        elif (after := _NEXT.match(said.text, end)) and (unit := _unit(after, said.language)):
            end = after.end()
            yield Measured(word.stem, *unit, word.start, end, place)
        if (rate := _RATE.match(said.text, end)) and (unit := _OF.get(rate[1].casefold())) and unit[0] == "time":
            yield Measured(word.stem, "rate", unit[1], word.start, rate.end(), place)


def _unit(after: re.Match[str], language: str) -> tuple[str, int] | None:
    written = (after[1] + ("m" if after[2] else "")).casefold()
    unit = _OF.get(written)
    return None if unit and unit[0] == "clock" and language != "en" else unit
