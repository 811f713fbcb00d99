"""The number that a task wants to be reached or kept below, such as "at least 90 %" or "under 300 kB"."""

from functools import lru_cache
from typing import NamedTuple

from ralph.analysis.text import Span
from ralph.system.text import pattern

__all__ = ["Bound", "bound"]

_TITLE = 200
"""Characters of the task in which it says what it is about."""
_UNITS = {
    **dict.fromkeys(("%", "％", "percent", "prozent"), ("%", 1.0)),
    **dict.fromkeys(("ms", "milliseconds", "毫秒"), ("s", 0.001)),
    **dict.fromkeys(("s", "sec", "second", "seconds", "segundos", "sekunden", "秒"), ("s", 1.0)),
    **dict.fromkeys(("min", "minute", "minutes", "minutos", "minuten", "分钟", "分鐘"), ("s", 60.0)),
    **dict.fromkeys(("kb", "kib"), ("kB", 1.0)),
    **dict.fromkeys(("mb", "mib"), ("kB", 1000.0)),
    **dict.fromkeys(("gb", "gib"), ("kB", 1_000_000.0)),
}
"""What each unit is measured in, and how much of that it is."""
_NAMES = "|".join(sorted(_UNITS, key=len, reverse=True))
_AMOUNT = rf"(\d(?<![\w.,]\d)\d{{0,8}}(?:[.,]\d{{1,3}})?) ?({_NAMES})(?![a-z])"
_AMOUNTS = pattern(_AMOUNT)
_LEAST = pattern(
    r"(?:\b(?:at least|above|over|more than|reach(?:es)?|mindestens|über|al menos|más de)|>=?|≥"
    rf"|至少|达到|達到|超过|超過) {{0,2}}{_AMOUNT}"
)
_MOST = pattern(
    r"(?:\b(?:below|under|less than|at most|within|no more than|unter|höchstens|weniger als|menos de|por debajo de)"
    rf"|<=?|≤|不超过|不超過|低于|低於|小于|小於|少于|少於) {{0,2}}{_AMOUNT}"
)
_MORE, _LESS = (
    pattern(r" (?:or (?:more|higher|better)|o más|oder mehr)|以上"),
    pattern(r" or (?:less|lower)|以[内內下]"),
)
"""What says behind the number which way it is meant."""


class Bound(NamedTuple):
    """A number that is to be reached, or kept below.

    Attributes:
        unit: what it is measured in: "%", "s" or "kB".
        least: whether it is to be reached.
    """

    amount: float
    unit: str
    least: bool

    def told(self, text: str, span: Span) -> tuple[Span, bool] | None:
        """Where a span of a text, in lower case, has the first number of its kind, and whether that meets it."""
        for found in _AMOUNTS.finditer(text, *span):
            unit, amount = _measured(found[1], found[2])
            if unit == self.unit:
                return found.span(), amount >= self.amount if self.least else amount <= self.amount
        return None


@lru_cache(maxsize=8)
def bound(task: str) -> Bound | None:
    """The one that the beginning of a task sets; None where it sets none, or several."""
    title = task[:_TITLE].lower()
    told: set[Bound] = set()
    for least, before, behind in ((True, _LEAST, _MORE), (False, _MOST, _LESS)):
        found = [
            *before.finditer(title),
            *(each for each in _AMOUNTS.finditer(title) if behind.match(title, each.end())),
        ]
        told.update(_bound(each[1], each[2], least=least) for each in found)
    return told.pop() if len(told) == 1 else None


def _bound(number: str, name: str, *, least: bool) -> Bound:
    unit, amount = _measured(number, name)
    return Bound(amount, unit, least)


def _measured(number: str, name: str) -> tuple[str, float]:
    """A number in what its unit is measured in. A comma before three digits sets off thousands."""
    unit, factor = _UNITS[name]
    whole, mark, rest = number.replace(",", ".").partition(".")
    thousands = "," in number and len(rest) == 3
    return unit, float(whole + rest if thousands else whole + mark + rest) * factor
