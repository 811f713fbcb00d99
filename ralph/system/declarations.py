"""Markers for the fields of settings: a flag, what a workspace may set without consent, a secret, a duration.

They stand next to a setting's type, default and help, so that nothing else has to name the setting:

    max_duration: Annotated[Duration | None, Flag("--max-duration", "TIME", LIMITS)] = Field(default=None, …)
"""

import re
from dataclasses import dataclass
from math import inf
from typing import Annotated, Any, Literal, cast

from pydantic import BeforeValidator, Field, PositiveFloat, PositiveInt

AGENT = "The agent"
TIMES = "Time for one turn of the agent (90s, 15m, 2h)"
LIMITS = "Limits"
ENDING = "When the run ends"
WORK = "The agent's changes"
OTHER = "Other settings"
"""The groups of `ralph run --help`."""

_YEAR = 366 * 86400.0
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = re.compile(r"(?:\d{1,9}(?:\.\d{1,6})?(?:ms|[smhd]))+\Z", re.ASCII)
_PART = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)(ms|[smhd])", re.ASCII)


@dataclass(frozen=True, slots=True)
class Flag:
    """The command-line flag of a setting.

    Attributes:
        name: the flag, such as "--max-iterations".
        metavar: the placeholder of its value in the help, such as "N".
        group: the group of the help that lists it.
        resume: `ralph resume` takes it, too.
    """

    name: str
    metavar: str
    group: str
    resume: bool = False


@dataclass(frozen=True, slots=True)
class Marker:
    """A property of a setting without a value of its own."""

    name: str


CONSENT = Marker("consent")
"""It can run programs, send data elsewhere, cost more or hide something: a workspace needs consent for any value."""

HARMLESS = Marker("harmless")
"""No value gives the agent more rights, time or money, or makes a verdict easier: a workspace may set it."""


@dataclass(frozen=True, slots=True)
class Tighter:
    """The direction in which a setting confines a run more; set in a workspace, any other value needs consent.

    Attributes:
        order: "less" or "more" of a number or of a list's entries; or the values from the tightest to the loosest.
            A number that is unset is the loosest.
    """

    order: Literal["less", "more"] | tuple[str | bool, ...]

    def permits(self, value: Any, default: Any) -> bool:
        """Return whether a value is at least as tight as the default."""
        if isinstance(self.order, tuple):
            return self.order.index(value) <= self.order.index(default)
        if isinstance(default, tuple):
            value, default = set(value), set(cast("tuple[object, ...]", default))
        less = self.order == "less"
        loosest = inf if less else -inf
        value, default = (loosest if each is None else each for each in (value, default))
        return bool(value <= default if less else value >= default)

    def __str__(self) -> str:
        if isinstance(self.order, tuple):
            return ", then ".join(f"`{str(each).lower() if isinstance(each, bool) else each}`" for each in self.order)
        return self.order


SECRET = Marker("secret")
"""Its values are masked wherever they appear, and they are not stored."""


def parse_duration(value: object) -> object:
    """Return the seconds of "90s", "15m", "1h30m" or a number; any other value is returned for pydantic to reject.

    Raises:
        ValueError: a text is not a duration.
    """
    if isinstance(value, str):
        text = value.strip().lower()
        if _DURATION.match(text):
            return sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(text))
        if re.fullmatch(r"\d{1,9}(\.\d{1,6})?", text, re.ASCII):
            return float(text)
    if isinstance(value, bool | str):
        raise ValueError("write a duration as 90s, 15m or 2h")  # noqa: TRY004 - the one that pydantic reports
    return value


def format_duration(seconds: float) -> str:
    """Return a duration in the largest unit that needs no fraction, such as "30m"."""
    unit = next((unit for unit in ("d", "h", "m") if seconds and seconds % _UNITS[unit] == 0), "s")
    return f"{seconds / _UNITS[unit]:g}{unit}"


Duration = Annotated[PositiveFloat, Field(le=_YEAR), BeforeValidator(parse_duration)]
"""Seconds, more than none and at most a year; settings also take text such as "15m"."""

Wait = Annotated[float, Field(ge=0, le=_YEAR), BeforeValidator(parse_duration)]
"""A `Duration` that may be zero."""


def parse_size(value: object) -> object:
    """Return the bytes of "512M", "4G" or a number; any other value is returned for pydantic to reject.

    Raises:
        ValueError: a text is not a size.
    """
    if not isinstance(value, str):
        return value
    match = re.fullmatch(r"(\d{1,15})([KMGT]?)(?:i?B)?", value.strip(), re.ASCII | re.IGNORECASE)
    if match is None:
        raise ValueError("write a size as 512M or 4G")
    return int(match[1]) * 1024 ** " KMGT".index(match[2].upper() or " ")


Size = Annotated[PositiveInt, BeforeValidator(parse_size)]
"""Bytes; settings also take text such as "4G"."""
