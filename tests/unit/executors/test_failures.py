"""An agent's failure in Ralph's kinds and in words, and the wait that it asks for."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import available_timezones

import pytest

from ralph.executors import classify_failure, describe_exit, kind_of_status, status_in, wait_in


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        *((200, "protocol"), (302, "protocol"), (400, "refused"), (401, "auth"), (402, "rate_limited")),
        *((403, "refused"), (404, "refused"), (408, "unavailable"), (409, "unavailable"), (425, "unavailable")),
        *((429, "rate_limited"), (500, "unavailable"), (529, "unavailable")),
    ],
)
def test_a_status_of_the_service_has_a_kind(status: int, kind: str) -> None:
    assert kind_of_status(status) == kind


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (0, "ended with status 0"),
        (3, "ended with status 3"),
        (-9, "was killed by SIGKILL"),
        (-99, "was killed by signal 99"),
        (None, "does not end"),
    ],
)
def test_an_exit_status_in_words(code: int | None, words: str) -> None:
    assert describe_exit(code) == words


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("Rate limit reached for requests", "rate_limited"),
        ("Invalid API key", "auth"),
        ("The model m does not exist", "refused"),
        ("unexpected token < in the answer", "protocol"),
        ("Something broke", "unavailable"),
        ("Failed to authenticate: getaddrinfo EAI_AGAIN api.example.com", "unavailable"),
        ("authentication request failed: connect ECONNREFUSED 127.0.0.1:443", "unavailable"),
        ("could not log in first: Temporary failure in name resolution", "unavailable"),
        ("api.example.com: host not found", "unavailable"),
        ("quota service: connect ETIMEDOUT", "rate_limited"),
        ("", "unavailable"),
        ("x" * 1_000_000, "unavailable"),
    ],
)
def test_a_message_has_a_kind_by_its_wording(message: str, kind: str) -> None:
    failure = classify_failure(message)
    assert failure.failure == kind
    assert failure.message == message[:300]


def test_the_status_counts_more_than_the_agents_name_and_that_more_than_the_wording() -> None:
    assert classify_failure("Invalid API key", status=503, kind="refused").failure == "unavailable"
    assert classify_failure("Invalid API key", kind="refused").failure == "refused"
    assert classify_failure("Something broke", otherwise="crashed", retry_after=7).retry_after == 7
    assert classify_failure("Something broke", otherwise="crashed").failure == "crashed"
    assert classify_failure("fetch failed: ECONNRESET", otherwise="crashed").failure == "unavailable"


@pytest.mark.parametrize(
    ("message", "status"),
    [
        ("429 Too Many Requests", 429),
        ("HTTP 503", 503),
        ("request failed with status code 401", 401),
        ("Last error: 502 Bad Gateway", 502),
        ("it took 500 ms", None),
        ("", None),
    ],
)
def test_a_status_is_found_where_a_message_names_it(message: str, status: int | None) -> None:
    assert status_in(message) == status


@pytest.mark.parametrize(
    ("message", "seconds"),
    [
        ("Try again in 20s.", 20),
        ("retry after 2 min", 120),
        ("retry in 250ms", 0.25),
        ("try again later", None),
        ("retried 5 times (total retry wait time: 5.52 seconds) Last error: 429", None),
    ],
)
def test_a_wait_is_found_where_a_message_names_it(message: str, seconds: float | None) -> None:
    assert wait_in(message) == seconds


MORNING = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
WITH_ZONES = pytest.mark.skipif(not available_timezones(), reason="this machine knows no time zones")


@pytest.mark.parametrize(
    ("message", "seconds"),
    [
        ("Claude AI usage limit reached|1795258018", 1795258018 - MORNING.timestamp()),
        ("Claude AI usage limit reached|1795258018000", 1795258018 - MORNING.timestamp()),
        ("limit reached|1000000000", 0),
        ("You've hit your 5-hour limit · resets 10:46am (UTC)", 76 * 60),
        ("5-hour limit reached ∙ resets 3pm (UTC)", 5.5 * 3600),
        ("limit reached · resets 9am (UTC)", 23.5 * 3600),
        ("limit reached · resets 12am (UTC)", 14.5 * 3600),
        pytest.param("limit reached · resets 11am (Europe/Berlin)", 1800, marks=WITH_ZONES),
        ("weekly limit · resets Nov 24, 9:30am (UTC)", 3 * 86400),
        ("weekly limit · resets Jan 1 at 9:30am (UTC)", 41 * 86400),
        ("Rate limit reached.", None),
        ("resets 99pm (UTC)", None),
        ("resets 3pm (Atlantis/Capital)", 5.5 * 3600),
        ("resets 3pm (../../etc/passwd)", 5.5 * 3600),
        ("resets Foo 3, 3pm (UTC)", None),
        ("resets Feb 31, 3pm (UTC)", None),
        ("resets " + "1" * 100_000, None),
    ],
)
def test_the_wait_until_a_named_time(message: str, seconds: float | None) -> None:
    assert wait_in(message, MORNING) == seconds


EVENING = datetime(2026, 11, 21, 22, 30, 20, tzinfo=timezone(timedelta(hours=1)))


@pytest.mark.parametrize(
    ("message", "seconds"),
    [
        ("Please try again in 31.5s. Visit x.", 31.5),
        ("or try again in 2 days 3 hours 5 minutes.", 2 * 86_400 + 3 * 3_600 + 300),
        ("or try again at 11:31 PM.", 3_640),
        ("or try again at 12:05 AM.", 5_680),
        ("or try again at 10:30 PM.", 0),
        ("or try again at Nov 23rd, 2026 10:30 PM.", 2 * 86_400 - 20),
        ("or try again at Nov 33rd, 2026 10:30 PM.", None),
        ("or try again at 99:99 PM.", None),
        ("try again in " + "9" * 50_000, None),
    ],
)
def test_the_wait_in_the_zone_of_the_machine(message: str, seconds: float | None) -> None:
    assert wait_in(message, EVENING) == seconds
