"""What agents say of their failures."""

import pytest

from ralph_acp.failures import classify

KINDS_BY_WORDS = [
    ("Internal error: Incorrect API key provided.", -32603, None, "auth", None, None),
    ("Unauthorized", -32603, {"statusCode": 401}, "auth", 401, None),
    ("Authentication required", -32000, None, "auth", None, None),
    ("Authentication failed with provider at http://x/v1 (HTTP 401).", None, None, "auth", 401, None),
    ("429 Too many requests, try again in 20s", 429, None, "rate_limited", 429, 20.0),
    ("Rate limit reached. Retry after 3 min", -32603, {}, "rate_limited", None, 180.0),
    ("retried 5 times (15.56 seconds) Last error: 429 Rate limit reached.", None, None, "rate_limited", 429, None),
    ("HTTP 503", -32603, None, "unavailable", 503, None),
    ("Internal error", -32603, {"status": 500}, "unavailable", 500, None),
    ("Error: 400 This model's maximum context length is 128000 tokens.", None, None, "refused", 400, None),
    ("The model does not exist.", -32603, None, "refused", None, None),
    ("Resource not found", -32002, None, "refused", None, None),
    ("JSON parsing failed: Unexpected token", -32603, None, "protocol", None, None),
    ("", -32603, ["odd"], "unavailable", None, None),
    ("took 429 seconds", None, None, "unavailable", None, None),
]


def test_what_is_said_decides_the_kind(subtests: pytest.Subtests):
    for message, code, data, failure, status, retry_after in KINDS_BY_WORDS:
        with subtests.test(message=message):
            failed = classify(message, code=code, data=data)
            assert (failed.failure, failed.status, failed.retry_after) == (failure, status, retry_after)


def test_a_message_is_for_people():
    assert len(classify("x " * 100_000).message) <= 300
    assert classify("Internal error: It is\n  down").message == "It is down"
