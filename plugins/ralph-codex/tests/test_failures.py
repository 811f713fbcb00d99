"""What Codex's words for a failure mean."""

from datetime import datetime, timedelta, timezone

import pytest

from ralph_codex.failures import failure_of, wait_in

NOW = datetime(2026, 11, 21, 22, 30, 20, tzinfo=timezone(timedelta(hours=1)))


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("unexpected status 403 Forbidden: You are not allowed to use this model., url: http://x", "refused"),
        ("unexpected status 503 Service Unavailable: The engine is currently overloaded.", "unavailable"),
        ("exceeded retry limit, last status: 429 Too Many Requests", "rate_limited"),
        ("unexpected status 418 I'm a teapot: url: http://x", "refused"),
        ("unexpected status 529: overloaded", "unavailable"),
        ("You’ve hit your usage limit. Upgrade to Pro or try again at 11:31 PM.", "rate_limited"),
        ("Your access token could not be refreshed. Please log out and sign in again.", "auth"),
        ("Codex ran out of room in the model's context window.", "refused"),
        ("The model `x` does not exist or you do not have access to it.", "refused"),
        ("stream disconnected before completion: failed to lookup address information", "unavailable"),
        ("", "unavailable"),
        ("x" * 100_000, "unavailable"),
    ],
)
def test_kinds(message: str, kind: str):
    assert failure_of(message, now=NOW).failure == kind


@pytest.mark.parametrize(
    ("message", "seconds"),
    [
        ("Please try again in 31.5s. Visit x.", 31.5),
        ("Please try again in 250ms.", 0.25),
        ("or try again in 2 days 3 hours 5 minutes.", 2 * 86_400 + 3 * 3_600 + 300),
        ("or try again at 11:31 PM.", 3_640),
        ("or try again at 12:05 AM.", 5_680),
        ("or try again at 10:30 PM.", 0),
        ("or try again at Nov 23rd, 2026 10:30 PM.", 2 * 86_400 - 20),
        ("or try again at Nov 33rd, 2026 10:30 PM.", None),
        ("or try again at 99:99 PM.", None),
        ("or try again later.", None),
        ("try again in " + "9" * 50_000, None),
    ],
)
def test_waits(message: str, seconds: float | None):
    assert wait_in(message, NOW) == (None if seconds is None else pytest.approx(seconds))


def test_what_is_known_better_than_the_message_tells_counts():
    assert failure_of("rate limit reached, try again in 5s", now=NOW, retry_after=7).retry_after == 7
