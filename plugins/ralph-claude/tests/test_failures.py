"""What the end of a turn means."""

import time
from typing import Any

import pytest

from ralph_claude.failures import failure_of, retried


def test_a_turn_that_went_well_has_no_failure() -> None:
    assert failure_of({"subtype": "success", "is_error": False, "result": "API Error: 500"}, {}) is None
    assert failure_of({}, {}) is None


KINDS = [
    ({"api_error_status": 401}, {}, "auth"),
    ({"api_error_status": 403}, {"error": "authentication_failed"}, "refused"),
    ({"api_error_status": 402}, {}, "rate_limited"),
    ({"api_error_status": 404}, {"error": "model_not_found"}, "refused"),
    ({"api_error_status": 429}, {"error": "rate_limit"}, "rate_limited"),
    ({"api_error_status": 500}, {"error": "server_error"}, "unavailable"),
    ({"api_error_status": 413}, {}, "refused"),
    ({"api_error_status": 503}, {}, "unavailable"),
    ({"api_error_status": "no number"}, {"api_error_status": 529}, "unavailable"),
    ({"api_error": "usage_limit_reached"}, {}, "rate_limited"),
    ({"api_error": "connection_failed"}, {"error": "server_error"}, "unavailable"),
    ({}, {"error": "authentication_failed"}, "auth"),
    ({}, {"error": "billing_error"}, "rate_limited"),
    ({"result": "Claude AI usage limit reached|1795258018"}, {}, "rate_limited"),
    ({"result": "You've hit your weekly limit · resets Nov 24, 3pm (UTC)"}, {}, "rate_limited"),
    ({"result": "Not logged in · Please run /login"}, {}, "auth"),
    ({"result": "API Error: JSON Parse error: Unrecognized token '<'"}, {"error": "unknown"}, "protocol"),
    ({"subtype": "error_during_execution", "errors": ["Something broke."]}, {}, "crashed"),
    ({"subtype": "error_max_turns", "errors": 7, "terminal_reason": "max_turns"}, {}, "crashed"),
]


def test_kinds(subtests: pytest.Subtests) -> None:
    """The subtype is "success" even where a key was not accepted."""
    for result, error, failure in KINDS:
        with subtests.test(result=result):
            found = failure_of({"subtype": "success", "is_error": True, **result}, error)
            assert found is not None
            assert found.failure == failure
            assert found.message


def test_what_it_said_is_bounded() -> None:
    found = failure_of({"is_error": True, "result": "x" * 100_000}, {})
    assert found is not None
    assert len(found.message) == 300


def test_a_moment_that_was_told_counts_more_than_words() -> None:
    limited = {"is_error": True, "api_error_status": 429, "result": "limit reached · resets 3pm (UTC)"}
    found = failure_of(limited, {}, resets_at=time.time() + 100)
    assert found is not None
    assert 95 < (found.retry_after or 0) <= 100
    over = failure_of(limited, {}, resets_at=time.time() - 100)
    assert over is not None
    assert over.retry_after == 0


@pytest.mark.parametrize(
    ("event", "failure"),
    [
        ({"error_status": 429, "retry_delay_ms": 8_000, "attempt": 1}, None),
        ({"error_status": 429, "retry_delay_ms": 45_000, "attempt": 1}, "rate_limited"),
        ({"error_status": 401, "retry_delay_ms": 500, "attempt": 1}, None),
        ({"error_status": 401, "retry_delay_ms": 500, "attempt": 2}, "auth"),
        ({"error_status": 529, "retry_delay_ms": 45_000, "attempt": 3}, None),
        ({"error_status": None, "retry_delay_ms": "soon", "attempt": None}, None),
    ],
)
def test_what_is_not_waited_for(event: dict[str, Any], failure: str | None) -> None:
    found = retried(event)
    assert (found and found.failure) == failure
