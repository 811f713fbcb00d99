"""The failures that Codex reports, in Ralph's kinds.

Codex reports neither status nor kind, only a sentence, and not always the provider's: these are the sentences of
version 0.169.
"""

import re
from datetime import datetime, timedelta

from ralph import Failed
from ralph.executors import Wordings, classify_failure, kind_of_status

__all__ = ["failure_of", "wait_in"]

_STATUS = re.compile(r"(?:unexpected status|last status:) (\d{3})\b")
_LIMITED = re.compile("usage limit|rate limit|too many requests|out of credits|quota exceeded", re.IGNORECASE)
_TOO_LONG = re.compile("model's context window|context_length_exceeded|maximum context length", re.IGNORECASE)
_AUTH = "not logged in|log ?in again|sign in again|refresh token|codex login|environment variable"
_BUSY = "high demand|overloaded|internal server error|at capacity"
_BROKEN = r"stream closed before response\.completed|failed to parse"
_GONE = "stream disconnected|error sending request|timed? ?out|waiting for network|lookup address"
_REFUSED = "not exist|not found|not supported|unsupported|invalid|not allowed|content policy"
_WORDINGS: Wordings = (
    ("auth", re.compile(_AUTH, re.IGNORECASE)),
    ("unavailable", re.compile(_BUSY, re.IGNORECASE)),
    ("protocol", re.compile(_BROKEN, re.IGNORECASE)),
    ("unavailable", re.compile(_GONE, re.IGNORECASE)),
    ("refused", re.compile(_REFUSED, re.IGNORECASE)),
)

_BOUND = 300
_PART = re.compile(r"(\d{1,9}(?:\.\d{1,9})?) ?(milliseconds?|ms|seconds?|minutes?|hours?|days?|s|m|h|d)\b")
_IN = re.compile(r"try again in ((?:\d{1,9}(?:\.\d{1,9})? ?[a-z]{1,12}[ ,]{0,2}){1,4})", re.IGNORECASE)
_AT = re.compile(
    r"try again at (?:([A-Z][a-z]{2}) (\d{1,2})(?:st|nd|rd|th), (\d{4}) )?(\d{1,2}):(\d{2}) ([AP]M)", re.IGNORECASE
)
_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def failure_of(message: str, *, now: datetime, retry_after: float | None = None) -> Failed:
    """Return a failure that Codex reports: by the HTTP status if the message names one, else by its wording.

    A message that says nothing known counts as unavailable: it may pass.

    Args:
        message: Codex's.
        now: in the local time zone, which Codex uses for times.
        retry_after: in seconds, if more is known than the message says.
    """
    said = " ".join(message[:10_000].split())[:_BOUND]
    status = _status(said)
    if retry_after is None and status is not None and kind_of_status(status) == "rate_limited":
        retry_after = wait_in(said, now)
    return classify_failure(said, status=status, wordings=_WORDINGS, retry_after=retry_after)


def wait_in(message: str, now: datetime) -> float | None:
    """Return the wait that a message asks for, in seconds: "try again in 2 hours 5 minutes", "… at 3:04 PM"."""
    if found := _IN.search(message):
        parts = _PART.findall(found[1].lower())
        return sum(float(number) * _unit(unit) for number, unit in parts) if parts else None
    if found := _AT.search(message):
        at = _moment(found, now)
        return None if at is None else max(0.0, (at - now).total_seconds())
    return None


def _unit(name: str) -> float:
    return 0.001 if name.startswith(("ms", "mill")) else _SECONDS[name[0]]


def _moment(found: re.Match[str], now: datetime) -> datetime | None:
    """Return the moment; without a day, the next time that the clock shows it."""
    month, day, year, hour, minute, half = found.groups()
    try:
        at = now.replace(hour=int(hour) % 12 + 12 * (half.upper() == "PM"), minute=int(minute), second=0, microsecond=0)
        if month:
            return at.replace(year=int(year), month=_MONTHS.index(month.lower()) + 1, day=int(day))
    except ValueError:
        return None
    # Codex rounds down to the minute.
    return at if at > now - timedelta(minutes=1) else at + timedelta(days=1)


def _status(message: str) -> int | None:
    """Return the status that a message names, or the one that Codex itself takes for the reason of its words."""
    if found := _STATUS.search(message):
        return int(found[1])
    return 429 if _LIMITED.search(message) else 400 if _TOO_LONG.search(message) else None
