"""The end of a limit: the words of a message, and the point in time that they mean.

A message names seconds ("try again in 20s", "retry-after: 60", "in 3 days 4 hours") or a time ("resets 3pm
(Europe/Berlin)", "resets Oct 9 at 10am", "usage limit reached|1760000000"). The analysis has no clock: it reads seconds
at once, and keeps a time in the message's words for `resets_at`.
"""

import math
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from zoneinfo import ZoneInfo

from ralph.analysis.result import Signal
from ralph.analysis.text import Span
from ralph.system.text import pattern

_GRACE = timedelta(minutes=15)
"""A time of day that passed no longer ago than this is today's: the message was late, not a day early."""
_HALF_A_YEAR = timedelta(days=183)

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_AMOUNT = (
    r"\d{1,7}(?:\.\d{1,6})?\s?(?:ms|millis\w{0,9}|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)(?![a-z])"
)
# "total retry wait time: 5 seconds" says how long the agent has waited.
_WAIT = pattern(
    r"\b(?<!total )(?<!retry )(?:try(?:ing)? again|retry(?:ing)?|retry[-_ ]after|resets?|available again|wait)\b"
    r"[^\n\d.;]{0,20}?"
    rf"({_AMOUNT}(?:(?:,|\sand)?\s?{_AMOUNT}){{0,3}})"
    r"|retry[-_ ]after[\"']?\s{0,2}[:=]?\s{0,2}(\d{1,7}(?:\.\d{1,6})?)(?![\w:])",
    re.IGNORECASE,
)
_DIGITS = pattern(r"\d+")
_PIECE = pattern(r"(\d{1,7}(?:\.\d{1,6})?)\s?(ms|mil|[smhd])", re.IGNORECASE)

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = rf"(?:{'|'.join(_MONTHS)})[a-z]{{0,6}}\.?"
_DATE = rf"{_MONTH}\s\d{{1,2}}(?:st|nd|rd|th)?(?:,?\s\d{{4}})?|\d{{1,2}}\s{_MONTH}(?:\s\d{{4}})?"
_HALF = r"(?:\s?(?P<half>[ap])(?:m\b|\.m\.))"
_CLOCK = rf"(?P<hour>\d{{1,2}})(?=:\d|\s?[ap]\.?m)(?::(?P<minute>\d{{2}})(?::\d{{2}})?)?{_HALF}?"
_ZONE = r"(?:\s?\((?P<zone>[\w/+-]{1,40})\)|\s(?P<zone2>utc|gmt|[a-z]{1,20}/[\w/+-]{1,30}))?"
_ISO = r"(?P<iso>\d{4}-\d{2}-\d{2}[t ]\d{2}:\d{2}(?::\d{2})?(?:\.\d{1,9})?(?:\s?(?:z|utc)|[+-]\d{2}:?\d{2})?)"
_ON = rf"(?:(?:(?P<date>{_DATE})|(?P<tomorrow>tomorrow)|today),?\s(?:at\s)?)?"
_SAID = rf"(?P<unix>1\d{{9}}(?:\d{{3}})?)(?!\d)|{_ISO}|{_ON}{_CLOCK}{_ZONE}"
_TIME = pattern(rf"(?:\b(?:resets?|try again|available|until)\b|\|)[^\n\d]{{0,25}}?(?P<said>{_SAID})", re.IGNORECASE)
_WHOLE = pattern(_SAID, re.IGNORECASE)


def ends_of_limit(text: str, span: Span) -> Iterator[Signal]:
    """Yield a message's seconds to wait (the amount of "retry_after") and its time (the name of "limited_until")."""
    if wait := _WAIT.search(text, *span):
        seconds = _seconds(wait)
        why = f"It asks to wait {seconds:g} seconds."
        yield Signal("retry_after", "", *wait.span(), 0, why, "limited", math.ceil(seconds))
    if end := _TIME.search(text, *span):
        yield Signal("limited_until", end["said"], *end.span("said"), 0, "It names the end of the limit.", "limited")


def seconds_left(message: str, at: datetime) -> float | None:
    """Return the seconds until the limit in a message is over; None if it names neither seconds nor a time.

    Args:
        at: now, with the zone of times that name none.
    """
    if wait := _WAIT.search(message):
        return _seconds(wait)
    end = _TIME.search(message)
    moment = resets_at(end["said"], at) if end else None
    return (moment - at).total_seconds() if moment else None


def _seconds(wait: re.Match[str]) -> float:
    if not wait[1]:
        return float(wait[2])
    return sum(float(piece[1]) * _UNITS.get(piece[2].lower(), 0.001) for piece in _PIECE.finditer(wait[1]))


def resets_at(said: str, at: datetime) -> datetime | None:
    """Return the point in time that a message means, in the zone of `at` and never before it; None if it means none.

    Args:
        said: such as "3pm (Europe/Berlin)", "Oct 9 at 10am", "15:30", an ISO time or a Unix time in (milli)seconds.
        at: now, with the zone of times that name none. A time of day that is over is tomorrow's.
    """
    match = _WHOLE.fullmatch(" ".join(said.split()))
    if match is None:
        return None
    try:
        if match["unix"]:
            number = int(match["unix"])
            moment = datetime.fromtimestamp(number / 1000 if len(match["unix"]) > 10 else number, UTC)
        elif match["iso"]:
            moment = _iso(match["iso"], at)
        else:
            moment = _by_clock(match, at)
        return max(moment, at).astimezone(at.tzinfo)
    except (ValueError, OverflowError):
        return None


def _iso(said: str, at: datetime) -> datetime:
    moment = datetime.fromisoformat(re.sub(r"\s?(?:z|utc)$", "+00:00", said, flags=re.IGNORECASE))
    return moment if moment.tzinfo else moment.replace(tzinfo=at.tzinfo)


def _by_clock(match: re.Match[str], at: datetime) -> datetime:
    """Return a time of day, on the named day or the next on which it comes."""
    now = at.astimezone(_zone(match["zone"] or match["zone2"] or "") or at.tzinfo)
    clock = _time_of_day(match)
    if match["date"]:
        return _dated(match["date"].lower(), clock, now)
    moment = datetime.combine(now.date(), clock, now.tzinfo)
    return moment + timedelta(days=1) if match["tomorrow"] or moment < now - _GRACE else moment


def _dated(said: str, clock: time, now: datetime) -> datetime:
    """Return a time on a day of a month, of the next year if it would be long over.

    Raises:
        ValueError: the month has no such day.
    """
    month = 1 + next(index for index, name in enumerate(_MONTHS) if name in said)
    day, *year = map(int, _DIGITS.findall(said))
    moment = datetime.combine(date(year[0] if year else now.year, month, day), clock, now.tzinfo)
    return moment.replace(year=now.year + 1) if not year and moment < now - _HALF_A_YEAR else moment


def _time_of_day(match: re.Match[str]) -> time:
    """Return the time of day.

    Raises:
        ValueError: no clock shows such a time.
    """
    hour, half = int(match["hour"]), (match["half"] or "").lower()
    if half:
        if not 1 <= hour <= 12:
            raise ValueError(match[0])
        hour = hour % 12 + 12 * (half == "p")
    return time(hour, int(match["minute"] or 0))


def _zone(name: str) -> tzinfo | None:
    """Return a zone by its name; None if it is unknown."""
    for spelling in (name, name.title()) if name else ():
        try:
            return ZoneInfo(spelling)
        except (KeyError, ValueError, OSError):
            continue
    return None
