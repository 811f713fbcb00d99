"""What is waited for and how long: rate limits, told or in the agent's words, the calls of an hour, a breaker."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest

from ralph.analysis.result import Analysis
from ralph.decision.breaker import BreakerState
from ralph.decision.claims import Case, Claim
from ralph.decision.limits import DecisionSettings, LimitReached
from ralph.decision.outcomes import Continue, Decision, Halt, Pause, Streaks
from ralph.decision.rules import Situation, decide
from ralph.types.output import Answered, Failed, FailureKind, Outcome, Output, TimedOut

AT = datetime(2026, 1, 1, tzinfo=UTC)
LATER = AT + timedelta(minutes=20)
DOUBTED = Claim(reason="done", doubts=("two is open",))
OPEN = BreakerState(state="open", opened_at=AT, reason="3 iterations without progress")
CALLS = LimitReached(limit="calls_per_hour", allowed=2, used=2, until=AT + timedelta(minutes=40))
LIMITED = Failed(failure="rate_limited", message="slow down", retry_after=5)


def case(outcome: Outcome | None = None, *, progressed: bool | None = None, text: str = "", **said: Any) -> Case:
    output = Output(outcome=outcome or Answered(), text=text)
    return Case(output=output, analysis=Analysis(**said), progressed=progressed)


def ruled(given: Case, streaks: Streaks | None = None, breaker: BreakerState | None = None, **rest: Any) -> Decision:
    return decide(Situation(given, streaks or Streaks().after(given), breaker or BreakerState(), AT, **rest))


def waits(settings: DecisionSettings, *failures: Failed) -> list[float]:
    streaks, found = Streaks(), list[float]()
    for failure in failures:
        given = case(failure)
        streaks = streaks.after(given)
        decision = ruled(given, streaks, settings=settings)
        assert isinstance(decision, Pause)
        assert decision.then is None
        found.append((decision.until - AT).total_seconds())
    return found


def test_a_rate_limit_waits_as_long_as_it_is_told() -> None:
    named = [Failed(failure="rate_limited", retry_after=wait) for wait in (0, 2.5, 7200)]
    assert waits(DecisionSettings(), *named) == [0, 2.5, 7200]


def test_a_service_that_always_says_at_once_is_not_asked_all_night_without_a_pause() -> None:
    at_once = [Failed(failure="rate_limited", retry_after=0)] * 13
    assert waits(DecisionSettings(), *at_once) == [*[0] * 5, 1, 3, 7, 15, 31, 60, 60, 60]
    assert waits(DecisionSettings(rate_limit_wait=2), *at_once[:8]) == [*[0] * 5, 1, 2, 2]
    assert waits(DecisionSettings(max_rate_limit_wait=2), *at_once[:8]) == [*[0] * 5, 1, 2, 2]


def test_without_a_named_time_the_wait_doubles_up_to_its_limit() -> None:
    settings = DecisionSettings(rate_limit_wait=60, max_rate_limit_wait=200)
    assert waits(settings, *[Failed(failure="rate_limited")] * 60) == [60, 120, *[200] * 58]
    assert Streaks(limited=7).after(case()).limited == 0


def limited(**said: Any) -> Case:
    """A reply that is the message of a limit and nothing else."""
    return case(text="You've hit your  limit.", state="limited", **said)


@pytest.mark.parametrize(
    ("given", "until"),
    [
        (limited(retry_after=90.0), AT + timedelta(seconds=90)),
        (limited(limited_until="3am (UTC)"), AT + timedelta(hours=3)),
        (limited(limited_until="1767229200"), AT + timedelta(hours=1)),
        (limited(limited_until="when the cows come home"), AT + timedelta(seconds=60)),
        (limited(), AT + timedelta(seconds=60)),
        (limited(progressed=False), AT + timedelta(seconds=60)),
        (limited(retry_after=1e300), AT + timedelta(days=7)),
        (limited(limited_until="2099-01-01 00:00"), AT + timedelta(days=7)),
    ],
)
def test_the_words_of_a_limit_are_a_pause(given: Case, until: datetime) -> None:
    decision = ruled(given)
    assert isinstance(decision, Pause)
    assert decision.until == until
    assert decision.then is None
    assert decision.reason == "rate limited: You've hit your limit."


def test_the_words_of_a_limit_leave_every_other_count_alone() -> None:
    before = Streaks(blocked=1, questions=2, test_only=2, refused=1, pivoted=True, confirming=True)
    assert before.after(limited()) == before.model_copy(update={"limited": 1})
    again = ruled(limited(), before.after(limited()).after(limited()))
    assert isinstance(again, Pause)
    assert again.until == AT + timedelta(seconds=120)


# Waiting helps against a limit, but logs nobody in.
def test_who_is_not_logged_in_is_asked_once_more_and_then_told_to_log_in() -> None:
    out = case(text="Please run /login", state="limited", limit="login")
    once = Streaks().after(out)
    first = ruled(out, once)
    assert isinstance(first, Pause)
    assert first.reason == "no one is logged in: Please run /login"
    second = ruled(out, once.after(out))
    assert isinstance(second, Halt)
    assert second.stop_reason == "executor_unavailable"
    assert "Please run /login; log in" in second.reason
    for between in (case(), limited()):
        assert isinstance(ruled(out, once.after(between).after(out)), Pause)
    assert isinstance(ruled(out, once.after(out), settings=DecisionSettings(unavailable=3)), Pause)


# Another tool's record of a failed turn may hold the service's message as the reply.
@pytest.mark.parametrize("failure", ["auth", "unavailable", "crashed"])
def test_a_failed_turn_may_tell_of_its_limit_in_words(failure: FailureKind) -> None:
    decision = ruled(limited(outcome=Failed(failure=failure, message="nobody knows why"), retry_after=90.0))
    assert isinstance(decision, Pause)
    assert decision.until == AT + timedelta(seconds=90)
    assert decision.reason == "rate limited: You've hit your limit."


@pytest.mark.parametrize("given", [limited(progressed=True), limited(outcome=TimedOut(limit="idle", after=1))])
def test_a_turn_that_worked_or_ran_out_of_time_is_not_limited_by_its_words(given: Case) -> None:
    assert isinstance(ruled(given, Streaks(answered=True).after(given)), Continue)


# A date that nobody can wait for must not end the run with an overflow, nor keep it from ever asking again.
@pytest.mark.parametrize("wait", [1e9, 1e18, 1e300, float("inf")])
def test_nobody_waits_longer_than_a_week(wait: float) -> None:
    assert waits(DecisionSettings(), Failed(failure="rate_limited", retry_after=wait)) == [7 * 86400]


def test_a_rate_limit_and_the_calls_of_an_hour_wait_for_the_later() -> None:
    decision = ruled(case(LIMITED), limit=CALLS)
    assert isinstance(decision, Pause)
    assert decision.until == CALLS.until


def test_waiting_for_the_hour_keeps_what_the_next_iteration_is_told() -> None:
    decision = ruled(case(), claim=DOUBTED, limit=CALLS)
    assert isinstance(decision, Pause)
    assert decision.until == CALLS.until
    assert decision.then is not None
    assert "two is open" in decision.then.feedback
    assert Streaks().decided(decision).confirming


@pytest.mark.parametrize(
    ("ends_run", "until", "kind"), [(True, LATER, "halt"), (False, LATER, "pause"), (False, None, "halt")]
)
def test_an_open_breaker_stops_or_waits(ends_run: bool, until: datetime | None, kind: str) -> None:
    decision = ruled(case(), breaker=OPEN, breaker_ends_run=ends_run, breaker_until=until)
    assert decision.kind == kind
    assert "without progress" in getattr(decision, "reason", "")
    if isinstance(decision, Pause):
        assert decision.until == LATER


def test_waiting_for_the_breaker_keeps_what_the_next_iteration_is_told() -> None:
    decision = ruled(case(), claim=DOUBTED, breaker=OPEN, breaker_ends_run=False, breaker_until=LATER)
    assert isinstance(decision, Pause)
    assert decision.then is not None
    assert "two is open" in decision.then.feedback
    assert Streaks().decided(decision).confirming


def test_waits_only_grow() -> None:
    assert all(earlier <= later for earlier, later in pairwise(waits(DecisionSettings(), *[LIMITED] * 3)))


@pytest.mark.parametrize("bad", [{"rate_limit_wait": 1e300}, {"max_rate_limit_wait": 0}, {"blocked": 0}, {"x": 1}])
def test_settings_are_bounded(bad: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(bad))):
        DecisionSettings.model_validate(bad)
