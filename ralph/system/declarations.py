"""Markers for the fields of settings: a command-line flag, the need for consent, a secret, a duration.

They stand next to a setting's type, default and help, so that nothing else has to name the setting:

    max_duration: Annotated[Duration | None, Flag("--max-duration", "TIME", LIMITS)] = Field(default=None, …)
"""

import re
from dataclasses import dataclass
from typing import Annotated

from pydantic import BeforeValidator, Field, PositiveFloat

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
"""It runs programs, widens what the agent may do, or sends data elsewhere: set in a workspace, it needs consent."""

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
