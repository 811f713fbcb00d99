"""The failures that Codex reports, in Ralph's kinds.

Codex reports neither status nor kind, only a sentence, and not always the provider's: these are the sentences of
version 0.169.
"""

import re
from datetime import datetime

from ralph import Failed
from ralph.executors import Wordings, classify_failure, kind_of_status, wait_in

__all__ = ["failure_of"]

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


def _status(message: str) -> int | None:
    """Return the status that a message names, or the one that Codex itself takes for the reason of its words."""
    if found := _STATUS.search(message):
        return int(found[1])
    return 429 if _LIMITED.search(message) else 400 if _TOO_LONG.search(message) else None
