"""An agent that goes in circles: it is asked for another approach first, and ended then."""

from datetime import UTC, datetime
from typing import Any

import pytest

from ralph.analysis.result import Analysis, CompletionSignal, Evidence, Stuck
from ralph.decision.breaker import BreakerState
from ralph.decision.claims import Case, Claim
from ralph.decision.limits import DecisionSettings
from ralph.decision.outcomes import Continue, Decision, Halt, Streaks
from ralph.decision.rules import Situation, consider, decide
from ralph.types import evolve
from ralph.types.output import Failed, Output
from ralph.types.verification import Verdict, Verification

AT = datetime(2026, 1, 1, tzinfo=UTC)
REFUTED = Verification(verdicts=(Verdict(verifier="tests", passed=False, output="1 failed"),))
CIRCLE = Evidence(signal="stuck", text="All is done.", why="the same output 3 times")
CIRCLES = Stuck(detected=True, repeated_patterns=("repeated output",), confidence=60, evidence=(CIRCLE,))


def case(*, progressed: bool | None = None, **said: Any) -> Case:
    return Case(output=Output(), analysis=Analysis(**said), progressed=progressed)


def situation(given: Case, streaks: Streaks | None = None, **rest: Any) -> Situation:
    return Situation(given, streaks or Streaks().after(given), BreakerState(), AT, **rest)


def ruled(given: Case, streaks: Streaks | None = None, **rest: Any) -> Decision:
    return decide(situation(given, streaks, **rest))


def name(decision: Decision) -> str:
    return decision.stop_reason if isinstance(decision, Halt) else decision.kind


# covers: S4-38, S1-44, K1-11
def test_stuck_is_a_pivot_first_and_a_halt_then() -> None:
    streaks, decisions = Streaks(), list[Decision]()
    for _ in range(2):
        streaks = streaks.after(case(stuck=CIRCLES, progressed=False))
        decisions.append(ruled(case(stuck=CIRCLES, progressed=False), streaks))
        streaks = streaks.decided(decisions[-1])
    pivot, halt = decisions
    assert isinstance(pivot, Continue)
    assert pivot.pivot == "the same output 3 times: “All is done.”"
    assert pivot.evidence == (CIRCLE,)
    assert isinstance(halt, Halt)
    assert (halt.stop_reason, halt.evidence) == ("stuck", pivot.evidence)


def test_a_pivot_is_forgotten_when_the_work_moves_again() -> None:
    pivoted = Streaks(pivoted=True)
    assert not pivoted.after(case(progressed=True)).pivoted
    assert pivoted.after(case(progressed=False)).pivoted
    assert pivoted.after(case()).pivoted


def test_a_pivot_is_forgotten_after_three_iterations_that_were_not_stuck() -> None:
    streaks = Streaks(pivoted=True)
    for _ in range(2):
        streaks = streaks.after(case())
        assert name(ruled(case(stuck=CIRCLES), streaks.after(case(stuck=CIRCLES)))) == "stuck"
    streaks = streaks.after(case())
    assert name(ruled(case(stuck=CIRCLES), streaks.after(case(stuck=CIRCLES)))) == "continue"


def test_progress_is_not_stuck_whatever_the_words() -> None:
    decision = ruled(case(stuck=CIRCLES, progressed=True), Streaks(pivoted=True))
    assert isinstance(decision, Continue)
    assert not decision.pivot


def test_a_service_that_does_not_answer_is_no_circle_of_the_agents() -> None:
    for failure, asked in (("unavailable", False), ("crashed", True)):
        output = Output(outcome=Failed.model_validate({"failure": failure}))
        decision = ruled(Case(output=output, analysis=Analysis(stuck=CIRCLES)))
        assert isinstance(decision, Continue)
        assert bool(decision.pivot) is asked


def test_a_pivot_keeps_what_the_agent_has_to_know_besides() -> None:
    decision = ruled(case(stuck=CIRCLES), claim=Claim(reason="done", doubts=("two is open",)))
    assert isinstance(decision, Continue)
    assert decision.pivot
    assert decision.confirm
    assert "two is open" in decision.feedback
    refuted = ruled(case(stuck=CIRCLES), claim=Claim(reason="done"), verification=REFUTED)
    assert "1 failed" in getattr(refuted, "feedback", "")


# covers: KX-7, S1-60, S1-61, K1-4
def test_test_only_iterations_in_a_row_without_progress_saturate() -> None:
    only_tests: dict[str, Any] = {"completion": CompletionSignal(test_only=True)}
    streaks = Streaks()
    for _ in range(2):
        streaks = streaks.after(case(progressed=False, **only_tests))
        assert name(ruled(case(**only_tests), streaks)) == "continue"
    assert name(ruled(case(**only_tests), streaks.after(case(progressed=False, **only_tests)))) == "test_saturation"
    assert streaks.after(case(progressed=True, **only_tests)).test_only == 0, "the code was changed, whatever it says"
    assert streaks.after(case()).test_only == 0


def test_running_tests_alone_ends_a_run_by_its_own_number_and_not_as_stuck() -> None:
    given = case(stuck=Stuck(detected=True, repeated_patterns=("test-only loop",), evidence=(CIRCLE,)))
    patient = DecisionSettings(test_saturation=5)
    for count, ends in ((3, "continue"), (4, "continue"), (5, "test_saturation")):
        assert name(ruled(given, Streaks(test_only=count, pivoted=True), settings=patient)) == ends


def test_a_breaker_that_a_lack_of_progress_opened_leaves_the_word_to_what_says_more() -> None:
    only_tests = case(progressed=False, completion=CompletionSignal(test_only=True))
    opened = BreakerState(state="open", no_progress=3, opened_at=AT, reason="3 iterations without progress")

    def ends(streak: int, breaker: BreakerState, **rest: Any) -> str:
        given = situation(only_tests, Streaks(test_only=streak), **rest)
        return name(decide(given._replace(breaker=breaker)))

    assert ends(3, opened) == "test_saturation"
    assert ends(2, opened) == "circuit_open", "the first of the three did something else"
    assert ends(3, evolve(opened, no_progress=4)) == "test_saturation"
    assert ends(3, evolve(opened, denials=2)) == "circuit_open"
    assert ends(3, evolve(opened, probes=1)) == "circuit_open", "the probe has failed"
    assert ends(5, evolve(opened, no_progress=0, errors={"e": 5})) == "circuit_open"
    assert ends(3, opened, settings=DecisionSettings(test_saturation=4)) == "circuit_open"
    assert ends(3, opened, breaker_ends_run=False, breaker_until=AT) == "pause"
    silent = {
        rule.rule: rule.why for rule in consider(situation(only_tests, Streaks(test_only=3))._replace(breaker=opened))
    }
    assert silent["circuit open"] == "open: 3 iterations without progress, which test saturation or stuck says more of"


# covers: KX-7, S1-61
@pytest.mark.parametrize(
    ("patterns", "ends"),
    [
        (("repeated output",), "stuck"),
        (("waiting for a person", "no progress"), "stuck"),
        (("one piece of work",), "stuck"),
        (("no progress",), "circuit_open"),
        (("no progress", "error: no such file"), "circuit_open"),
        (("permission denied",), "circuit_open"),
        (("test-only loop",), "circuit_open"),
        (("watching", "no progress"), "circuit_open"),
    ],
)
def test_a_circle_is_the_truer_reason_than_the_breaker_that_it_opened(patterns: tuple[str, ...], ends: str) -> None:
    opened = BreakerState(state="open", no_progress=3, opened_at=AT, reason="3 iterations without progress")
    stuck = Stuck(detected=True, repeated_patterns=patterns, evidence=(CIRCLE,))
    given = situation(case(progressed=False, stuck=stuck))._replace(breaker=opened)
    assert name(decide(given)) == ends
    waits = given._replace(breaker_ends_run=False, breaker_until=AT)
    assert name(decide(waits)) == "pause", "then the breaker asks once more"


def test_watching_what_runs_asks_for_another_approach_each_time_and_ends_nothing() -> None:
    watching = Stuck(detected=True, repeated_patterns=("watching",), evidence=(CIRCLE,))
    again = ruled(case(stuck=watching), Streaks(pivoted=True))
    assert isinstance(again, Continue)
    assert "the same output 3 times" in again.pivot
    assert again.reason == "stuck: the approach must change"
    both = watching.model_copy(update={"repeated_patterns": ("repeated output", "watching")})
    assert isinstance(ruled(case(stuck=both), Streaks(pivoted=True)), Halt)
    considered = {each.rule: each.why for each in consider(situation(case(stuck=watching), Streaks(pivoted=True)))}
    assert considered["stuck"].startswith("watching what may end by itself")
