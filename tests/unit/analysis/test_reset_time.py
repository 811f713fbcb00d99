from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.analysis.reset_time import resets_at

NOON = datetime(2025, 10, 6, 12, tzinfo=UTC)


RESET_TIMES = [
    ("3pm", datetime(2025, 10, 6, 15, tzinfo=UTC)),
    ("3 p.m.", datetime(2025, 10, 6, 15, tzinfo=UTC)),
    ("12am", datetime(2025, 10, 7, 0, tzinfo=UTC)),
    ("11:59am", NOON),
    ("10am", datetime(2025, 10, 7, 10, tzinfo=UTC)),
    ("15:30", datetime(2025, 10, 6, 15, 30, tzinfo=UTC)),
    ("3pm (Europe/Berlin)", datetime(2025, 10, 6, 13, tzinfo=UTC)),
    ("9am (america/new_york)", datetime(2025, 10, 6, 13, tzinfo=UTC)),
    ("10:30 pm UTC", datetime(2025, 10, 6, 22, 30, tzinfo=UTC)),
    ("3pm (Middle/Earth)", datetime(2025, 10, 6, 15, tzinfo=UTC)),
    ("3pm (../../etc/passwd)", None),
    ("tomorrow at 3pm", datetime(2025, 10, 7, 15, tzinfo=UTC)),
    ("Oct 9 at 10am", datetime(2025, 10, 9, 10, tzinfo=UTC)),
    ("9 October 10:00", datetime(2025, 10, 9, 10, tzinfo=UTC)),
    ("Jan 2, 9am", datetime(2026, 1, 2, 9, tzinfo=UTC)),
    ("Nov 3rd, 2025 9:00 AM", datetime(2025, 11, 3, 9, tzinfo=UTC)),
    ("Oct 1 at 10am", NOON),
    ("1760000000", datetime(2025, 10, 9, 8, 53, 20, tzinfo=UTC)),
    ("1760000000000", datetime(2025, 10, 9, 8, 53, 20, tzinfo=UTC)),
    ("1600000000", NOON),
    ("2025-10-06T14:00:00Z", datetime(2025, 10, 6, 14, tzinfo=UTC)),
    ("2025-10-06 14:00 utc", datetime(2025, 10, 6, 14, tzinfo=UTC)),
    ("2025-10-06T14:00:00", datetime(2025, 10, 6, 14, tzinfo=UTC)),
    ("25:00", None),
    ("13pm", None),
    ("Feb 30 at 10am", None),
    ("soon", None),
    ("", None),
]


def test_what_a_message_says_becomes_a_point_in_time(subtests: pytest.Subtests) -> None:
    for said, expected in RESET_TIMES:
        with subtests.test(said=said):
            moment = resets_at(said, NOON)
            assert moment == expected
            assert moment is None or moment.tzinfo is UTC


def test_a_time_without_a_zone_is_one_of_the_reader_s() -> None:
    at = datetime(2025, 10, 6, 12, tzinfo=timezone(timedelta(hours=2)))
    assert resets_at("3pm", at) == datetime(2025, 10, 6, 13, tzinfo=UTC)


def test_a_day_with_a_change_of_the_clocks_keeps_the_time_of_day() -> None:
    at = datetime(2025, 10, 25, 23, tzinfo=ZoneInfo("Europe/Berlin"))
    assert resets_at("9am", at) == datetime(2025, 10, 26, 8, tzinfo=UTC)


@given(st.text(alphabet="0123456789:apm -/()TZoct,", max_size=30))
def test_any_words_are_read_and_no_time_is_past(said: str) -> None:
    moment = resets_at(said, NOON)
    assert moment is None or moment >= NOON
