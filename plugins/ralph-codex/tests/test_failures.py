"""What Codex's words for a failure mean."""

from datetime import datetime, timedelta, timezone

import pytest

from ralph_codex.failures import failure_of

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


def test_what_is_known_better_than_the_message_tells_counts():
    assert failure_of("rate limit reached, try again in 5s", now=NOW, retry_after=7).retry_after == 7
