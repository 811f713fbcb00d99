"""Limits: which is reached when, what cannot be measured, what a usage costs."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.decision.limits import Limits, Price, Spent
from ralph.errors import UnmeasurableLimitError
from ralph.types.output import Usage

AT = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("limits", "below", "at", "told"),
    [
        (Limits(max_iterations=3), Spent(iterations=2), Spent(iterations=3), "max_iterations: 3 of 3"),
        (
            Limits(max_duration=90),
            Spent(duration=89.9),
            Spent(duration=90.26),
            "max_duration: 1 min 30 s of 1 min 30 s",
        ),
        (
            Limits(max_tokens=1_000_000),
            Spent(usage=Usage(input_tokens=999_999)),
            Spent(usage=Usage(input_tokens=900_000, output_tokens=334_567)),
            "max_tokens: 1,234,567 of 1,000,000 tokens",
        ),
        (
            Limits(max_requests=2.5),
            Spent(usage=Usage(premium_requests=2)),
            Spent(usage=Usage(premium_requests=3)),
            "max_requests: 3 of 2.5 premium requests",
        ),
        (
            Limits(max_cost=0.01),
            Spent(usage=Usage(cost=0.009)),
            Spent(usage=Usage(cost=0.0123)),
            "max_cost: $0.0123 of $0.01",
        ),
    ],
)
def test_a_limit_is_reached_at_its_value(limits: Limits, below: Spent, at: Spent, told: str) -> None:
    assert limits.reached(below, AT) is None
    reached = limits.reached(at, AT)
    assert reached is not None
    assert (str(reached), reached.until) == (told, None)


def test_no_limit_is_reached_by_default_but_fifty_iterations() -> None:
    spent = Spent(iterations=49, duration=1e9, usage=Usage(input_tokens=10**12, cost=1e6, premium_requests=1e6))
    assert Limits().reached(spent, AT) is None
    assert Limits().reached(spent.used(Usage(), 0, counts=True), AT) is not None


def test_what_is_not_measured_trips_nothing() -> None:
    limits = Limits(max_iterations=None, max_tokens=1, max_cost=0.01, max_requests=1)
    assert limits.reached(Spent(usage=Usage()), AT) is None


def test_within_a_turn_only_what_is_used_up_counts() -> None:
    limits = Limits(max_iterations=1, max_duration=1, max_tokens=10)
    spent = Spent(iterations=5, duration=5)
    assert limits.within_turn(spent) is None
    hit = limits.within_turn(spent.used(Usage(output_tokens=10), 0, counts=False))
    assert hit is not None
    assert hit.limit == "max_tokens"


def test_calls_an_hour_pass_by_themselves() -> None:
    limits, spent = Limits(calls_per_hour=2), Spent()
    for minutes in (0, 10):
        spent = spent.called(AT + timedelta(minutes=minutes), keep=2)
    over = AT + timedelta(hours=1)
    reached = limits.reached(spent, AT + timedelta(minutes=20))
    assert reached is not None
    assert reached.until == over
    assert limits.reached(spent, over) is None
    again = limits.reached(spent.called(over, keep=2), over)
    assert again is not None
    assert again.until == over + timedelta(minutes=10)


def test_a_call_counts_for_an_hour_and_no_longer() -> None:
    spent = Spent().called(AT, keep=2).called(AT + timedelta(hours=1), keep=2)
    assert spent.calls == (AT + timedelta(hours=1),)


def test_a_clock_that_was_set_back_makes_no_call_count_for_longer_than_an_hour() -> None:
    spent = Spent().called(AT + timedelta(minutes=30), keep=2).called(AT, keep=2)
    reached = Limits(calls_per_hour=2).reached(spent, AT)
    assert reached is not None
    assert reached.until == AT + timedelta(hours=1)


def test_more_calls_than_allowed_are_waited_for_until_enough_of_them_are_an_hour_old() -> None:
    """Second tries and reviews are calls as well, so that an hour can have more of them than are allowed."""
    calls = tuple(AT + timedelta(minutes=minutes) for minutes in (0, 10, 20, 30))
    reached = Limits(calls_per_hour=2).reached(Spent(calls=calls), AT + timedelta(minutes=40))
    assert reached is not None
    assert (str(reached), reached.until) == ("calls_per_hour: 4 of 2 calls", AT + timedelta(minutes=80))


def test_a_replay_with_fewer_calls_an_hour_than_there_were_waits_for_the_last_of_them() -> None:
    spent = Spent()
    for minutes in (0, 10, 20, 30):
        spent = spent.called(AT + timedelta(minutes=minutes), keep=2)
    reached = Limits(calls_per_hour=2).reached(spent, AT + timedelta(minutes=30))
    assert reached is not None
    assert reached.until == AT + timedelta(minutes=80)


def test_the_time_that_is_left_is_never_less_than_none() -> None:
    limits = Limits(max_duration=60)
    assert [limits.left(Spent(duration=spent)) for spent in (0, 45, 75)] == [60, 15, 0]
    assert limits.ends(Spent(duration=75), AT) == AT


@given(st.integers(1, 5), st.lists(st.integers(0, 3000), max_size=60))
def test_no_hour_sees_more_calls_than_allowed(allowed: int, gaps: list[int]) -> None:
    limits, spent, now, calls = Limits(calls_per_hour=allowed, max_iterations=None), Spent(), AT, list[datetime]()
    for gap in gaps:
        now += timedelta(seconds=gap)
        if (hit := limits.reached(spent, now)) and hit.until:
            assert hit.until > now
            now = hit.until
        assert limits.reached(spent, now) is None, "one wait is enough"
        calls.append(now)
        spent = spent.called(now, keep=allowed)
        assert len(spent.calls) <= allowed + 1
    for first, last in zip(calls, calls[allowed:], strict=False):
        assert last - first >= timedelta(hours=1)


def test_calls_are_not_remembered_where_nobody_counts_them() -> None:
    assert Spent().called(AT, keep=None) == Spent()


@pytest.mark.parametrize(
    ("limits", "measures", "priced", "named"),
    [
        ({"max_tokens": 5}, {"premium_requests"}, False, "--max-tokens"),
        ({"max_requests": 5}, {"tokens"}, True, "--max-requests"),
        ({"max_cost": 5}, {"tokens"}, False, "--max-cost"),
        ({"max_cost": 5}, set[str](), True, "--max-cost"),
        ({"max_tokens": 5}, {"tokens"}, False, ""),
        ({"max_requests": 5}, {"premium_requests"}, False, ""),
        ({"max_cost": 5}, {"tokens"}, True, ""),
        ({"max_cost": 5}, {"cost"}, False, ""),
        ({"max_iterations": 5, "max_duration": 5, "calls_per_hour": 5}, set[str](), False, ""),
    ],
)
def test_a_limit_on_what_nobody_measures_is_refused(
    limits: dict[str, float], measures: set[str], priced: bool, named: str
) -> None:
    checked = Limits.model_validate(limits)
    if not named:
        checked.require_measured(measures, priced=priced)
        return
    with pytest.raises(UnmeasurableLimitError) as caught:
        checked.require_measured(measures, priced=priced)
    assert caught.value.limit == named
    assert caught.value.remedy
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        (Usage(input_tokens=1_000_000, output_tokens=500_000), 1 + 2),
        (Usage(input_tokens=1_000_000, cache_read_tokens=400_000), 0.6 + 0.04),
        (Usage(input_tokens=100, cache_read_tokens=10**9), 100 * 0.1 / 1e6),
        (Usage(output_tokens=250_000), 1),
        (Usage(input_tokens=0, output_tokens=0), 0),
        (Usage(premium_requests=3), None),
        (Usage(), None),
    ],
)
def test_what_a_usage_costs(usage: Usage, cost: float | None) -> None:
    price = Price(input=1, output=4, cached_input=0.1)
    assert price.of(usage) == (None if cost is None else pytest.approx(cost))


def test_cached_input_costs_as_much_as_other_input_unless_said_otherwise() -> None:
    usage = Usage(input_tokens=1_000_000, cache_read_tokens=1_000_000)
    assert Price(input=3, output=0).of(usage) == 3
    assert Price(input=3, output=0, cached_input=0).of(usage) == 0


@pytest.mark.parametrize(
    "bad",
    [
        {"max_iterations": 0},
        {"max_iterations": 10**400},
        {"max_tokens": 10**30},
        {"max_duration": float("inf")},
        {"max_cost": float("nan")},
        {"max_cost": -1},
        {"calls_per_hour": 10**9},
        {"max_iteration": 3},
    ],
)
def test_impossible_limits_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(bad))):
        Limits.model_validate(bad)
