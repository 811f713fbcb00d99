"""Amounts: numbers with their units on a common scale, so that 90 minutes are 1.5 hours and 6 pm is 18:00."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ralph_grounding.similarity.statement import Statement
from ralph_grounding.text.tokens import Token

__all__ = ["Amount", "amounts", "same_amount"]

_UNITS = {
    "time": "ms millisecond milliseconds=.001|s sec secs second seconds sekunde sekunden seconde secondes segundo "
    "segundos=1|min mins minute minutes minuten minuto minutos minuti=60|h hr hrs hour hours stunde stunden heure "
    "heures hora horas ora ore=3600|day days tag tage tagen jour jours día días dia dias giorno giorni=86400|week "
    "weeks woche wochen semaine semaines semana semanas settimana settimane=604800|fortnight fortnights=1209600|month "
    "months monat monate monaten mois mes meses mese mesi=2629800|year years yr yrs jahr jahre jahren an ans année "
    "années año años ano anos anno anni=31557600",
    "dollar": "$ dollars dollar usd bucks=1",
    "euro": "€ euros euro eur=1",
    "pound": "£ gbp quid=1",
    "yen": "¥ yen jpy=1",
    "franc": "francs franken chf=1",
    "cent": "cents cent=1",
    "length": "mm millimetre millimetres millimeter millimeters=.001|cm centimetre centimetres centimeter "
    "centimeters=.01|m metre metres meter meters mètre mètres metro metros metri=1|km kilometre kilometres kilometer "
    "kilometers kilomètre kilomètres kilómetros=1000|inch inches=.0254|ft foot feet=.3048|yd yard yards=.9144|mi mile "
    "miles=1609.344",
    "weight": "mg=.001|g gram grams gramm=1|kg kilo kilos kilogram kilograms kilogramm=1000|oz ounce "
    "ounces=28.3495|lb lbs=453.592|tonne tonnes=1000000",
    "volume": "ml millilitre millilitres milliliter milliliters=.001|cl=.01|l litre litres liter liters=1|gallon "
    "gallons=3.78541|pint pints=.473176",
    "data": "kb kilobyte kilobytes=1e3|mb megabyte megabytes=1e6|gb gigabyte gigabytes=1e9|tb terabyte terabytes=1e12",
    "power": "w watt watts=1|kw kilowatt kilowatts=1000|mw megawatt megawatts=1e6",
    "speed": "km/h kmh kph=1|mph=1.609344|m/s=3.6",
    "area": "m² sqm=1|km²=1e6|ha hectare hectares hektar=1e4|acre acres=4046.86",
    "temperature": "°c celsius=1|°f fahrenheit=1|°k kelvin=1",
    "share": "% percent prozent pct=.01",
}
_UNIT_OF = {
    word: (dimension, float(factor))
    for dimension, units in _UNITS.items()
    for words, factor in (unit.split("=") for unit in units.split("|"))
    for word in words.split()
}
_SIGNS = "$€£¥"
_AFTER = re.compile(
    r"[ \t\u00a0\u202f-]?(km/h|m/s|k?m²|°[ \t]?[cf]\b|degrees (?:celsius|fahrenheit)|percent|[$€£¥%]|[^\W\d_]+)",
    re.IGNORECASE,
)
_CLOCK = re.compile(
    r"(?P<hour>\d{1,2})(?:(?P<mark>[:.h])(?P<minute>[0-5]\d))?(?![\d:.]\d)"
    r"(?:[ \t\u00a0]?(?:(?P<half>[ap])\.?m\b\.?|(?P<uhr>uhr\b|o[’']clock)))?",
    re.IGNORECASE,
)
_MOMENTS = {"noon": 12 * 60.0, "midday": 12 * 60.0, "midnight": 0.0, "mittag": 12 * 60.0, "mitternacht": 0.0}
_SHARES = {"half": 0.5, "hälfte": 0.5, "moitié": 0.5, "mitad": 0.5, "quarter": 0.25, "third": 1 / 3, "thirds": 1 / 3}
_PARTS = {"half": 0.5, "quarter": 0.25, "halbe": 0.5, "halben": 0.5}
_DOZEN = {"dozen": 12.0, "dutzend": 12.0, "douzaine": 12.0, "docena": 12.0}
_LASTING = frozenset({"takes", "lasts", "for", "take", "last", "within"})
_EXACT = 1e-3
_CONVERTED = 0.012
_BINARY = 0.1
_ARTICLES = frozenset({"a", "an", "one", "ein", "eine", "einer", "einen", "une", "un", "una"})


_OPENING = _ARTICLES | _MOMENTS.keys() | _PARTS.keys() | _SHARES.keys()
"""The words that an amount without digits may begin with."""


class Amount(NamedTuple):
    """A number with its unit, on the scale of its dimension.

    Attributes:
        dimension: what is measured, such as "time"; "" for a number alone.
        value: in the first unit of the dimension; a time of day in minutes.
        number: as written, without the unit.
        factor: that of the unit.
        first, last: the places of its words.
        start, end: of the number and its unit in the text.
    """

    dimension: str
    value: float
    number: str
    factor: float
    first: int
    last: int
    start: int
    end: int


def same_amount(one: Amount, other: Amount) -> bool:
    """Return True if both are the same; a number without a unit is the same as the number with one."""
    if one.dimension != other.dimension:
        return one.number == other.number and not (one.dimension and other.dimension)
    wide = _BINARY if one.dimension == "data" else _CONVERTED
    tolerance = _EXACT if one.factor == other.factor else wide
    if one.dimension == "temperature":
        return abs(one.value - other.value) <= (0.01 if one.factor == other.factor else 0.6)
    return abs(one.value - other.value) <= tolerance * max(abs(one.value), abs(other.value))


def amounts(said: Statement) -> tuple[Amount, ...]:
    """Return the amounts of a statement, in order; a time of day and "an hour and a half" are one each."""
    return tuple(_summed(sorted(_found(said), key=lambda amount: amount.start)))


def _found(said: Statement) -> Iterator[Amount]:
    words, until = said.words, -1
    for place, word in enumerate(words):
        if word.start < until or not (word.number or word.word in _OPENING):
            continue
        amount = _clock(said, place) or (_counted(said, place) if word.number else _in_words(said, place))
        if amount is not None:
            amount = _and_a_half(said, amount)
            until = amount.end
            yield amount


def _clock(said: Statement, place: int) -> Amount | None:
    word = said.words[place]
    if word.word in _MOMENTS:
        return Amount("clock", _MOMENTS[word.word], word.word, 1, place, place, word.start, word.end)
    match = _CLOCK.match(said.text, word.start) if word.number else None
    if match is None or not (match["half"] or match["uhr"] or match["mark"] in {":", "h"}):
        return None
    hour, minute = int(match["hour"]), int(match["minute"] or 0)
    if hour > 24 or (match["mark"] == ":" and said.text[word.start - 1 : word.start] in {":", "."}):
        return None
    if match["half"]:
        hour = hour % 12 + (12 if match["half"].lower() == "p" else 0)
    last = _last_word(said.words, place, match.end())
    return Amount("clock", float(hour % 24 * 60 + minute), match[0], 1, place, last, match.start(), match.end())


def _counted(said: Statement, place: int) -> Amount | None:
    word = said.words[place]
    if word.stem.count(".") > 1:
        return None
    number, start, end = float(word.stem), word.start, word.end
    if said.text[end : end + 1].lower() == "k" and not said.text[end + 1 : end + 2].isalnum():
        number, end = number * 1000, end + 1
    if said.text[start - 1 : start] == "-" and not said.text[max(start - 2, 0) : start - 1].strip():
        number, start = -number, start - 1
    if half := _HALF.match(said.text, end):
        number, end = number + 0.5, half.end()
    last = _last_word(said.words, place, end)
    written = f"{number:g}"
    sign = said.text[max(start - 1, 0) : start]
    if sign and sign in _SIGNS:
        return Amount(_UNIT_OF[sign][0], number, written, 1, place, last, start - 1, end)
    if unit := _unit_after(said, last, end):
        (dimension, factor), stop = unit
        value = number * factor
        if dimension == "temperature" and "f" in said.text[end:stop].lower():
            value, factor = (number - 32) * 5 / 9, 5 / 9
        return Amount(dimension, value, written, factor, place, _last_word(said.words, place, stop), start, stop)
    following = said.words[last + 1].word if last + 1 < len(said.words) else ""
    if following in _SHARES and following not in {"half", "hälfte"} and number < 10:  # "three quarters"
        return Amount(
            "share", number * _SHARES[following], written, 1, place, last + 1, start, said.words[last + 1].end
        )
    if following in _DOZEN:
        return Amount("", number * 12, f"{number * 12:g}", 1, place, last + 1, start, said.words[last + 1].end)
    return Amount("", number, written, 1, place, last, start, end)


def _unit_after(said: Statement, place: int, end: int) -> tuple[tuple[str, float], int] | None:
    """Return the unit after a number, and its end; also in "1.5 to 2 hours" and "two and a half hours"."""
    match = _AFTER.match(said.text, end)
    if match is None:
        return None
    written = match[1].casefold().replace(" ", "").removeprefix("degrees")
    unit = _UNIT_OF.get(written)
    if unit is None and written in {"quarters", "quarter"}:
        return None
    if unit is None and written in {"to", "bis", "or"} and place + 2 < len(said.words) and said.words[place + 2].number:
        further = _unit_after(said, place + 2, said.words[place + 2].end)
        return (further[0], end) if further else None
    return (unit, match.end()) if unit else None


def _in_words(said: Statement, place: int) -> Amount | None:
    """Return amounts such as "an hour", "half an hour", "half", and "a dozen"."""
    words, word = said.words, said.words[place]
    following = [other.word for other in words[place + 1 : place + 3]]
    if word.word in _ARTICLES and following and following[0] in _DOZEN:
        return Amount("", 12.0, "12", 1, place, place + 1, word.start, words[place + 1].end)
    part = _PARTS.get(word.word) or (word.word in _ARTICLES and following[:1] == ["half"] and 0.5) or 0.0
    for at, name in enumerate(following):
        unit = _UNIT_OF.get(name) if name not in _ARTICLES else None
        if part and unit and unit[0] in {"time", "length", "volume", "weight"}:
            last = place + 1 + at
            return Amount(unit[0], part * unit[1], f"{part:g}", unit[1], place, last, word.start, words[last].end)
        if name not in _ARTICLES and name != "half":
            break
    if word.word in _ARTICLES and following and (unit := _UNIT_OF.get(following[0])) and unit[0] == "time":
        before = words[place - 1].word if place else ""
        if following[1:] == ["and"] or following[0] == "fortnight" or before in _LASTING:
            return Amount("time", unit[1], "1", unit[1], place, place + 1, word.start, words[place + 1].end)
    if word.word in _SHARES and following[:1] in (["of"], ["der"], ["de"], ["des"]):
        return Amount("share", _SHARES[word.word], word.word, 1, place, place, word.start, word.end)
    return None


def _and_a_half(said: Statement, amount: Amount) -> Amount:
    half = _HALF.match(said.text, amount.end) if amount.dimension else None
    if half is None:
        return amount
    last = _last_word(said.words, amount.last, half.end())
    return amount._replace(value=amount.value + amount.factor / 2, last=last, end=half.end())


def _last_word(words: Sequence[Token], place: int, end: int) -> int:
    while place + 1 < len(words) and words[place + 1].start < end:
        place += 1
    return place


_HALF = re.compile(r"\s+and\s+a\s+half\b", re.IGNORECASE)


def _summed(found: Sequence[Amount]) -> Iterator[Amount]:
    """Join neighbours such as "1 hour 30 minutes"; a later part has a smaller unit."""
    before: Amount | None = None
    for amount in found:
        if before is not None and before.dimension == amount.dimension != "" and amount.factor < before.factor:
            before = before._replace(value=before.value + amount.value, last=amount.last, end=amount.end)
            continue
        if before is not None:
            yield before
        before = amount
    if before is not None:
        yield before
