"""Filters over analyses, as users write them: `accuracy<50 and provider=openai, flag!=empty_response`.

A filter is a list of conditions that must all hold, joined by `and` or a comma. A score that was not measured meets
none.
"""

import math
import re
from typing import Literal, NamedTuple, cast

from ralph.errors import UsageError

__all__ = ["Condition", "FilterError", "Operator", "parse_filter"]

Operator = Literal["<", "<=", ">", ">=", "=", "!="]

SCORES = ("accuracy", "completeness", "attribution", "combined", "support", "contradiction")
TIERED = ("accuracy.tier", "completeness.tier", "attribution.tier", "tier")
NAMES = ("provider", "model", "domain", "query", "run", "flag")
_TIERS = ("excellent", "good", "fair", "poor")
_FIELDS = (*SCORES, *NAMES, *TIERED)

_LONGEST = 2000
_SPACE = re.compile(r"\s*")
_FIELD = re.compile(r"[A-Za-z_.]+")
_OPERATOR = re.compile(r"<=|>=|!=|<|>|=")
_QUOTED = re.compile(r'"([^"]*)"')
_BARE = re.compile(r'[^\s,"<>=!]+')
_JOINT = re.compile(r"\s*,\s*|\s+and\s+", re.IGNORECASE)


class Condition(NamedTuple):
    """One condition. `value` is a number for a score, else a text; `tier` alone means any of the three."""

    field: str
    operator: Operator
    value: float | str


class FilterError(UsageError):
    """A filter that is not valid.

    Attributes:
        position: of the first wrong character, from 1.
    """

    def __init__(self, text: str, at: int, problem: str, remedy: str) -> None:
        self.position = at + 1
        shown = ascii(text if len(text) <= 80 else text[:80] + "…")[1:-1]
        super().__init__(f"The filter `{shown}` cannot be read at character {at + 1}: {problem}.", remedy)


def parse_filter(text: str) -> tuple[Condition, ...]:
    """Parse a filter into its conditions; an empty filter has none.

    Raises:
        FilterError: names the position, and what is possible there.
    """
    if len(text) > _LONGEST:
        raise FilterError(text, _LONGEST, "it is too long", f"Write at most {_LONGEST} characters.")
    return _Reader(text).conditions()


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def conditions(self) -> tuple[Condition, ...]:
        self._take(_SPACE)
        if self._at == len(self._text):
            return ()
        found = [self._condition()]
        while self._text[self._at :].strip():
            if not self._take(_JOINT):
                raise self._wrong(self._at, "`and` or a comma is missing", "Join conditions with `and` or a comma.")
            found.append(self._condition())
        return tuple(found)

    def _condition(self) -> Condition:
        start = self._at
        field = self._take(_FIELD).lower()
        if field not in _FIELDS:
            problem = f"there is no field {ascii(field[:40])[1:-1]}" if field else "there is no field"
            raise self._wrong(start, problem, f"Fields are {', '.join(_FIELDS)}.")
        self._take(_SPACE)
        operator = self._operator(field)
        self._take(_SPACE)
        start = self._at
        return Condition(field, operator, self._checked(field, self._value(field), start))

    def _operator(self, field: str) -> Operator:
        start = self._at
        possible = ("<", "<=", ">", ">=", "=", "!=") if field in SCORES else ("=", "!=")
        operator = self._take(_OPERATOR)
        if operator not in possible:
            problem = f"{field} does not support {operator}" if operator else f"there is no operator after {field}"
            raise self._wrong(start, problem, f"Operators for {field} are {' '.join(possible)}.")
        return cast("Operator", operator)

    def _value(self, field: str) -> str:
        if quoted := _QUOTED.match(self._text, self._at):
            self._at = quoted.end()
            return quoted[1]
        if not (value := self._take(_BARE)):
            raise self._wrong(self._at, f"there is no value for {field}", 'Put values with spaces in "quotes".')
        return value

    def _checked(self, field: str, value: str, start: int) -> float | str:
        if field in TIERED and (value := value.lower()) not in _TIERS:
            raise self._wrong(start, "this is not a tier", f"Tiers are {', '.join(_TIERS)}.")
        if field not in SCORES:
            return value
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise self._wrong(start, "this is not a number", f"{field} is compared with a number from 0 to 100.")
        return number

    def _take(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self._text, self._at)
        if found is None:
            return ""
        self._at = found.end()
        return found[0]

    def _wrong(self, at: int, problem: str, remedy: str) -> FilterError:
        return FilterError(self._text, at, problem, remedy)
