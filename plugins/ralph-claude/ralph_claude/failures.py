"""The failures that Claude Code reports, in Ralph's kinds.

Claude Code calls a turn a "success" even if the key was not accepted, so its result is judged by `is_error`. The HTTP
status then decides the kind, its own name for the error next, and its wording last.
"""

import re
import time

from ralph import Failed
from ralph.executors import Event, Wordings, classify_failure, wait_in
from ralph.executors.program_output import number, text, texts
from ralph.types import evolve
from ralph.types.output import FailureKind

__all__ = ["failure_of", "retried", "wait_asked_for"]

_BOUND = 300
_SHORT_WAIT = 30.0
"""Seconds that Claude Code may wait by itself: giving up a turn in its middle costs more."""

_BACKOFF = 1.0
"""Seconds; Claude Code's own first pauses are shorter, so a longer one was requested."""

_KINDS: dict[str, FailureKind] = {
    "authentication_failed": "auth",
    "billing_error": "rate_limited",
    "connection_failed": "unavailable",
    "invalid_request": "refused",
    "max_output_tokens": "refused",
    "model_not_found": "refused",
    "overloaded": "unavailable",
    "rate_limit": "rate_limited",
    "server_error": "unavailable",
    "usage_limit_reached": "rate_limited",
}
_WORDINGS: Wordings = (
    ("rate_limited", re.compile(r"\blimit reached\b|\bhit your .{0,40}limit\b", re.IGNORECASE)),
    ("auth", re.compile(r"not logged in|/login|invalid api key|authentication", re.IGNORECASE)),
    ("protocol", re.compile(r"parse error|unexpected (?:token|end)|malformed|invalid json", re.IGNORECASE)),
)


def failure_of(result: Event, error: Event, resets_at: float | None = None, wait: float | None = None) -> Failed | None:
    """Return the failure that the end of a turn means; None if it succeeded.

    Args:
        result: the message that ended it.
        error: the message that took the place of the model's answer, or nothing.
        resets_at: when a subscription's limit is over, in seconds since 1970, if that was reported.
        wait: how long to wait for the end of any other limit, in seconds, if that was reported.
    """
    if result.get("is_error") is not True:
        return None
    said = _said(result)
    status = _status(result) or _status(error)
    named = _KINDS.get(text(result.get("api_error"))) or _KINDS.get(text(error.get("error")))
    failure = classify_failure(said, status=status, kind=named, wordings=_WORDINGS, otherwise="crashed")
    if failure.failure != "rate_limited":
        return failure
    left = max(resets_at - time.time(), 0.0) if resets_at else wait or wait_in(said[:_BOUND])
    return evolve(failure, retry_after=left)


def wait_asked_for(event: Event) -> float | None:
    """Return how long the provider asks to wait after a rate limit, in seconds, from a retry of Claude Code's."""
    wait = (number(event.get("retry_delay_ms")) or 0.0) / 1000
    return wait if _status(event, "error_status") == 429 and wait > _BACKOFF else None


def retried(event: Event) -> Failed | None:
    """Return the failure for which a turn is given up at once, where Claude Code would wait; else None.

    That is a limit that lasts, or a key that was refused again.
    """
    status, wait = _status(event, "error_status"), wait_asked_for(event)
    if wait and wait > _SHORT_WAIT:
        said = f"The provider limits the rate, and asks to wait for {wait:.0f} s."
        return Failed(failure="rate_limited", message=said, status=status, retry_after=wait)
    if status == 401 and (number(event.get("attempt")) or 0) > 1:
        return Failed(failure="auth", message="The provider does not accept the key.", status=status)
    return None


def _said(result: Event) -> str:
    told = [text(result.get("result")), *texts(result.get("errors"))]
    said = " ".join(" ".join(told)[:10_000].split()) or f"The turn failed: {text(result.get('terminal_reason'))}."
    return said[:_BOUND]


def _status(event: Event, name: str = "api_error_status") -> int | None:
    status = event.get(name)
    return status if isinstance(status, int) and 100 <= status <= 999 else None
