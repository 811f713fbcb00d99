"""What Codex's words for a failure mean. It tells no status and no kind, only a sentence, and that not always the
provider's: these are the sentences of version 0.169.
"""

import re
from datetime import datetime, timedelta

from ralph import Failed
from ralph.executors import kind_of_status
from ralph.types.output import FailureKind

__all__ = ["failure_of", "wait_in"]

_BOUND = 300

_STATUS = re.compile(r"(?:unexpected status|last status:) (\d{3})\b")
_WORDS: tuple[tuple[str, FailureKind, int | None], ...] = (
    ("usage limit|rate limit|too many requests|out of credits|quota exceeded", "rate_limited", 429),
    ("not logged in|log ?in again|sign in again|refresh token|codex login|environment variable", "auth", None),
    ("model's context window|context_length_exceeded|maximum context length", "refused", 400),
    ("high demand|overloaded|internal server error|at capacity", "unavailable", None),
    (r"stream closed before response\.completed|failed to parse", "protocol", None),
    ("stream disconnected|error sending request|timed? ?out|waiting for network|lookup address", "unavailable", None),
    ("not exist|not found|not supported|unsupported|invalid|not allowed|content policy", "refused", None),
)
"""In the order in which they are asked; a status that is given is the one that Codex itself takes for the reason."""

_PART = re.compile(r"(\d{1,9}(?:\.\d{1,9})?) ?(milliseconds?|ms|seconds?|minutes?|hours?|days?|s|m|h|d)\b")
_IN = re.compile(r"try again in ((?:\d{1,9}(?:\.\d{1,9})? ?[a-z]{1,12}[ ,]{0,2}){1,4})", re.IGNORECASE)
_AT = re.compile(
    r"try again at (?:([A-Z][a-z]{2}) (\d{1,2})(?:st|nd|rd|th), (\d{4}) )?(\d{1,2}):(\d{2}) ([AP]M)", re.IGNORECASE
)
_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def failure_of(message: str, *, now: datetime, retry_after: float | None = None) -> Failed:
    """Puts a failure that Codex reports into Ralph's kinds: by the HTTP status where the message tells one, else by
    its wording. What says nothing that is known may pass, and counts as unavailable.

    Args:
        now: in the local time zone, which Codex tells times in.
        retry_after: in seconds, where more is known than the message tells.
    """
    said = " ".join(message[:10_000].split())[:_BOUND]
    found = _STATUS.search(said)
    kind, status = (kind_of_status(int(found[1])), int(found[1])) if found else _by_wording(said)
    if kind == "rate_limited" and retry_after is None:
        retry_after = wait_in(said, now)
    return Failed(failure=kind, message=said, status=status, retry_after=retry_after)


def wait_in(message: str, now: datetime) -> float | None:
    """The wait that a message asks for, in seconds: "try again in 2 hours 5 minutes", "try again at 3:04 PM"."""
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
    """When that is; without a day, it is the next time that the clock shows it."""
    month, day, year, hour, minute, half = found.groups()
    try:
        at = now.replace(hour=int(hour) % 12 + 12 * (half.upper() == "PM"), minute=int(minute), second=0, microsecond=0)
        if month:
            return at.replace(year=int(year), month=_MONTHS.index(month.lower()) + 1, day=int(day))
    except ValueError:
        return None
    # The minute that is under way is one that Codex has rounded down to.
    return at if at > now - timedelta(minutes=1) else at + timedelta(days=1)


def _by_wording(said: str) -> tuple[FailureKind, int | None]:
    for words, kind, status in _WORDS:
        if re.search(words, said, re.IGNORECASE):
            return kind, status
    return "unavailable", None
