"""What follows from an iteration: the order of the stops, and what each leaves for the iterations after it."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from ralph.analysis.result import Analysis, Completion, Evidence, Stuck
from ralph.breaker import BreakerState
from ralph.decision import Complete, Continue, Decision, DecisionSettings, Halt, Pause, following
from ralph.limits import LimitReached
from ralph.output import Completed, Failed, FailureKind, Interrupted, Outcome, Output, TimedOut, ToolCall
from ralph.status import StatusMalformed, StatusReport
from ralph.stops import Situation, consider, decide
from ralph.strategies import Case, Claim
from ralph.tally import Tally
from ralph.verification import Verdict, Verification

AT = datetime(2026, 1, 1, tzinfo=UTC)
LATER = AT + timedelta(minutes=20)
CLAIM, DOUBTED = Claim(reason="done"), Claim(reason="done", doubts=("two is open",))
PASSED = Verification(verdicts=(Verdict(verifier="tests", passed=True),))
UNKNOWN = Verification(verdicts=(*PASSED.verdicts, Verdict.unknown("review", "The model is\nnot there.")))
CUT_SHORT = Verification(verdicts=PASSED.verdicts, cut_short="max_duration: 5 of 5")
REFUTED = Verification(verdicts=(Verdict(verifier="tests", passed=False, output="1 failed"),))
OPEN = BreakerState(state="open", opened_at=AT, reason="3 iterations without progress")
WARNING = BreakerState(warning=True, reason="2 iterations without progress", no_progress=2)
ITERATIONS = LimitReached(limit="max_iterations", allowed=3, used=3)
CALLS = LimitReached(limit="calls_per_hour", allowed=2, used=2, until=AT + timedelta(minutes=40))
CIRCLE = Evidence(signal="stuck", text="All is done.", why="the same output 3 times")
CIRCLES = Stuck(detected=True, repeated_patterns=("repeated output",), confidence=60, evidence=(CIRCLE,))
LIMITED = Failed(failure="rate_limited", message="slow down", retry_after=5)


def case(outcome: Outcome | None = None, *, progressed: bool | None = None, output: Any = None, **said: Any) -> Case:
    whole = Output(outcome=outcome or Completed(), **(output or {}))
    return Case(output=whole, analysis=Analysis(**said), progressed=progressed)


def situation(given: Case, tally: Tally | None = None, breaker: BreakerState | None = None, **rest: Any) -> Situation:
    return Situation(given, tally or Tally().after(given), breaker or BreakerState(), AT, **rest)


def ruled(given: Case, tally: Tally | None = None, breaker: BreakerState | None = None, **rest: Any) -> Decision:
    return decide(situation(given, tally, breaker, **rest))


def name(decision: Decision) -> str:
    return decision.stop_reason if isinstance(decision, Halt) else decision.kind


# What each stop needs to apply, in the order in which they are asked.
STOPS: list[tuple[str, dict[str, Any]]] = [
    ("cancelled", {"outcome": Interrupted(by="signal")}),
    ("complete", {"claim": CLAIM, "verification": PASSED}),
    ("executor_unavailable", {"tally": {"logins": 2}}),
    ("pause", {"outcome": LIMITED}),
    ("executor_unavailable", {"tally": {"refused": 2}, "outcome": Failed(failure="refused")}),
    ("blocked", {"tally": {"blocked": 2}}),
    ("limit_reached", {"limit": ITERATIONS}),
    ("circuit_open", {"breaker": OPEN}),
    ("test_saturation", {"tally": {"test_only": 3}}),
    ("stuck", {"tally": {"pivoted": True}, "stuck": CIRCLES}),
    ("continue", {}),
]


def together(*parts: dict[str, Any]) -> Decision:
    """The decision on all of these at once; of two outcomes the first."""
    tally, given = dict[str, Any](), dict[str, Any]()
    for part in reversed(parts):
        tally |= part.get("tally", {})
        given |= part
    said = {"stuck": given["stuck"]} if "stuck" in given else {}
    rest = {key: given[key] for key in ("claim", "verification", "limit") if key in given}
    return ruled(case(given.get("outcome"), **said), Tally(**tally), given.get("breaker"), **rest)


# covers: S4-42, S4-43, S4-44, S4-45
@pytest.mark.parametrize("number", range(len(STOPS)))
def test_each_stop_beats_all_below_it(number: int) -> None:
    stop = STOPS[number][0]
    assert name(together(STOPS[number][1])) == stop
    assert name(together(*(needs for _, needs in STOPS[number:]))) == stop


@given(st.sets(st.integers(0, len(STOPS) - 1), min_size=1))
def test_of_any_stops_together_the_first_is_the_decision(numbers: set[int]) -> None:
    chosen = [STOPS[number] for number in sorted(numbers)]
    assert name(together(*(needs for _, needs in chosen))) == chosen[0][0]


# What `ralph analyze --explain-decision` shows of each rule that does not apply.
@pytest.mark.parametrize(
    ("rule", "given", "why"),
    [
        ("cancelled", situation(case()), "nobody asked for it"),
        ("completed", situation(case()), "the exit strategy sees no claim that the task is done"),
        ("completed", situation(case(), claim=CLAIM, verification=REFUTED), "refuted by `tests`"),
        (
            "completed",
            situation(case(), claim=CLAIM, verification=UNKNOWN),
            "review could not find out whether it holds",
        ),
        (
            "completed",
            situation(case(), claim=CLAIM, verification=CUT_SHORT),
            "its verification was cut short: max_duration: 5 of 5",
        ),
        ("completed", situation(case(), claim=DOUBTED), "the claim waits for its confirmation: two is open"),
        ("limited", situation(case()), "no rate limit was met"),
        ("logged out", situation(case()), "no iterations without a login"),
        ("executor unavailable", situation(case()), "the executor answered"),
        (
            "executor unavailable",
            situation(case(Failed(failure="refused", message="no such model"))),
            "refused: no such model; 1 of 2 turned-down iterations in a row",
        ),
        ("blocked", situation(case()), "no blocked iterations, no questions"),
        ("blocked", situation(case(), Tally(questions=2)), "no blocked iterations, 2 of 3 questions in a row"),
        ("limit", situation(case()), "none is reached"),
        ("limit", situation(case(), limit=CALLS), "only one that passes by itself"),
        ("circuit open", situation(case()), "closed"),
        ("circuit open", situation(case(), breaker=WARNING), "closed, but warns: 2 iterations without progress"),
        ("test saturation", situation(case(), Tally(test_only=2)), "2 of 3 test-only iterations in a row"),
        ("stuck", situation(case()), "nothing repeats"),
        ("stuck", situation(case(progressed=True, stuck=CIRCLES)), "this iteration moved the work"),
        (
            "stuck",
            situation(case(stuck=CIRCLES)),
            "for the first time, which asks for another approach: the same output 3 times: “All is done.”",
        ),
        ("calls of the hour", situation(case()), "none that are used up"),
    ],
)
def test_every_rule_says_why_it_does_not_apply(rule: str, given: Situation, why: str) -> None:
    considered = {one.rule: one for one in consider(given)}
    assert (considered[rule].decision, considered[rule].why) == (None, why)


@pytest.mark.parametrize(
    ("claim", "verification", "confirming", "verified", "still_open"),
    [
        (CLAIM, None, False, False, ()),
        (CLAIM, PASSED, False, True, ()),
        (DOUBTED, None, True, False, ("two is open",)),
        (DOUBTED, PASSED, True, True, ("two is open",)),
        (CLAIM, UNKNOWN, True, False, ()),
    ],
)
def test_a_completion_says_what_stands_behind_it(
    claim: Claim, verification: Verification | None, confirming: bool, verified: bool, still_open: tuple[str, ...]
) -> None:
    decision = ruled(case(), Tally(confirming=confirming), claim=claim, verification=verification)
    assert isinstance(decision, Complete)
    assert (decision.verified, decision.still_open) == (verified, still_open)


@pytest.mark.parametrize(
    ("claim", "verification", "confirming"),
    [
        (None, None, True),
        (None, PASSED, True),
        (DOUBTED, None, False),
        (DOUBTED, PASSED, False),
        (CLAIM, REFUTED, False),
        (DOUBTED, REFUTED, True),
        (DOUBTED.model_copy(update={"confirms": False}), PASSED, True),
        (CLAIM, Verification(verdicts=(*PASSED.verdicts, *REFUTED.verdicts)), False),
        (CLAIM, Verification(verdicts=(*UNKNOWN.verdicts, *REFUTED.verdicts)), True),
        (CLAIM, UNKNOWN, False),
        (CLAIM, CUT_SHORT, False),
        (CLAIM, CUT_SHORT, True),
    ],
)
def test_no_completion_without_a_claim_that_holds(
    claim: Claim | None, verification: Verification | None, confirming: bool
) -> None:
    decision = ruled(case(), Tally(confirming=confirming), claim=claim, verification=verification)
    assert isinstance(decision, Continue)


def test_a_doubted_claim_asks_for_one_confirming_iteration() -> None:
    first = ruled(case(), claim=DOUBTED)
    assert isinstance(first, Continue)
    assert first.confirm
    assert "two is open" in first.feedback
    confirming = Tally().decided(first)
    assert isinstance(ruled(case(), confirming.after(case()), claim=DOUBTED), Complete)
    silent = ruled(case(), confirming.after(case()))
    assert not confirming.decided(silent).confirming, "a confirmation that did not come is asked for again"


def test_a_claim_that_could_not_be_verified_is_asked_for_once_more_and_then_stands_unverified() -> None:
    first = ruled(case(), claim=CLAIM, verification=UNKNOWN)
    assert isinstance(first, Continue)
    assert (first.confirm, first.reason) == (True, "a claim of completion waits for its verification")
    assert "`review` could not find out whether it is: The model is\nnot there." in first.feedback
    confirming = Tally().decided(first).after(case())
    second = ruled(case(), confirming, claim=CLAIM, verification=UNKNOWN)
    assert isinstance(second, Complete)
    assert second.reason == f"{CLAIM.reason}; not verified by review: The model is not there."
    verified = ruled(case(), confirming, claim=CLAIM, verification=PASSED)
    assert isinstance(verified, Complete)
    assert verified.reason == f"{CLAIM.reason}; verified by tests"


def test_a_verification_that_was_cut_short_leaves_the_decision_to_what_did_so() -> None:
    limit = LimitReached(limit="max_duration", allowed=5, used=5)
    decision = ruled(case(), Tally(confirming=True), claim=CLAIM, verification=CUT_SHORT, limit=limit)
    assert isinstance(decision, Halt)
    assert decision.stop_reason == "limit_reached"


def test_verifiers_of_more_than_a_word_are_quoted() -> None:
    verdicts = (Verdict(verifier="pytest -q", passed=True), Verdict(verifier="review", passed=True))
    decision = ruled(case(), claim=CLAIM, verification=Verification(verdicts=verdicts))
    assert decision.reason.endswith("; verified by `pytest -q`, review")


def test_a_rate_limit_leaves_the_confirmation_to_the_iteration_after_it() -> None:
    confirming = Tally(confirming=True)
    limited = case(LIMITED)
    paused = ruled(limited, confirming.after(limited))
    assert confirming.after(limited).decided(paused).confirming


def test_a_refuted_claim_tells_the_agent_what_the_verifier_said() -> None:
    decision = ruled(case(), claim=CLAIM, verification=REFUTED)
    assert isinstance(decision, Continue)
    assert decision.reason == "a claim of completion was refuted"
    assert "`tests`" in decision.feedback
    assert "1 failed" in decision.feedback


def test_a_limit_tells_what_refuted_the_claim_that_it_came_after() -> None:
    decision = ruled(case(), claim=CLAIM, verification=REFUTED, limit=ITERATIONS)
    reason = "max_iterations: 3 of 3; the claim of completion was refuted by tests (1 failed)"
    assert decision == Halt(stop_reason="limit_reached", reason=reason)
    unclaimed = ruled(case(), limit=ITERATIONS)
    assert unclaimed == Halt(stop_reason="limit_reached", reason="max_iterations: 3 of 3")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (case(TimedOut(limit="tool", after=1800)), "ended after 1800 s (tool time-out)"),
        (case(Failed(failure="unavailable", status=503, message="busy")), "unavailable (HTTP 503): busy"),
        (case(status=StatusMalformed(problem="EXIT_SIGNAL has no value")), "EXIT_SIGNAL has no value"),
        (case(state="question"), "Nobody will reply"),
        (case(state="blocked"), "Nobody will reply"),
        (
            case(output={"tool_calls": (ToolCall(id="1", name="bash", denied=True), ToolCall(id="2", name="view"))}),
            "1 tool calls were denied (bash)",
        ),
    ],
)
def test_feedback_of_an_iteration_that_goes_on(given: Case, told: str) -> None:
    decision = ruled(given, Tally(answered=True).after(given))
    assert isinstance(decision, Continue)
    assert told in decision.feedback


# covers: S4-38, S1-44, K1-11
def test_stuck_is_a_pivot_first_and_a_halt_then() -> None:
    tally, decisions = Tally(), list[Decision]()
    for _ in range(2):
        tally = tally.after(case(stuck=CIRCLES, progressed=False))
        decisions.append(ruled(case(stuck=CIRCLES, progressed=False), tally))
        tally = tally.decided(decisions[-1])
    pivot, halt = decisions
    assert isinstance(pivot, Continue)
    assert pivot.pivot == "the same output 3 times: “All is done.”"
    assert pivot.evidence == (CIRCLE,)
    assert isinstance(halt, Halt)
    assert (halt.stop_reason, halt.evidence) == ("stuck", pivot.evidence)


def test_a_pivot_is_forgotten_when_the_work_moves_again() -> None:
    pivoted = Tally(pivoted=True)
    assert not pivoted.after(case(progressed=True)).pivoted
    assert pivoted.after(case(progressed=False)).pivoted
    assert pivoted.after(case()).pivoted


def test_a_pivot_is_forgotten_after_three_iterations_that_were_not_stuck() -> None:
    tally = Tally(pivoted=True)
    for _ in range(2):
        tally = tally.after(case())
        assert name(ruled(case(stuck=CIRCLES), tally.after(case(stuck=CIRCLES)))) == "stuck"
    tally = tally.after(case())
    assert name(ruled(case(stuck=CIRCLES), tally.after(case(stuck=CIRCLES)))) == "continue"


def test_progress_is_not_stuck_whatever_the_words() -> None:
    decision = ruled(case(stuck=CIRCLES, progressed=True), Tally(pivoted=True))
    assert isinstance(decision, Continue)
    assert not decision.pivot


def test_a_pivot_keeps_what_the_agent_has_to_know_besides() -> None:
    decision = ruled(case(stuck=CIRCLES), claim=DOUBTED)
    assert isinstance(decision, Continue)
    assert decision.pivot
    assert decision.confirm
    assert "two is open" in decision.feedback
    assert "1 failed" in getattr(ruled(case(stuck=CIRCLES), claim=CLAIM, verification=REFUTED), "feedback", "")


# covers: KX-7, S1-60, S1-61, K1-4
def test_test_only_iterations_in_a_row_without_progress_saturate() -> None:
    only_tests: dict[str, Any] = {"completion": Completion(test_only=True)}
    tally = Tally()
    for _ in range(2):
        tally = tally.after(case(progressed=False, **only_tests))
        assert name(ruled(case(**only_tests), tally)) == "continue"
    assert name(ruled(case(**only_tests), tally.after(case(progressed=False, **only_tests)))) == "test_saturation"
    assert tally.after(case(progressed=True, **only_tests)).test_only == 0, "the code was changed, whatever it says"
    assert tally.after(case()).test_only == 0


@pytest.mark.parametrize(("state", "iterations"), [("blocked", 2), ("question", 3)])
def test_who_needs_a_person_is_blocked_in_the_end(state: str, iterations: int) -> None:
    given, tally = case(state=state, question="Which database?"), Tally()
    for _ in range(iterations - 1):
        tally = tally.after(given)
        assert name(ruled(given, tally)) == "continue"
    decision = ruled(given, tally.after(given))
    assert isinstance(decision, Halt)
    assert (decision.stop_reason, decision.reason) == ("blocked", "Which database?")
    assert name(ruled(given, tally.after(case()).after(given))) == "continue", "not in a row"
    assert name(ruled(case(), tally.after(case(state=state, reports_change=True)).after(given))) == "continue"


def test_who_is_blocked_is_shown_by_what_asks() -> None:
    pieces = tuple(Evidence(signal=signal, text=signal) for signal in ("work", "blocked", "exit_signal", "question"))
    decision = ruled(case(state="blocked", evidence=pieces), Tally(blocked=2))
    assert [piece.signal for piece in getattr(decision, "evidence", ())] == ["blocked", "question"]


def test_questions_and_blocks_in_turns_are_blocked_in_the_end() -> None:
    tally = Tally()
    for state in ("question", "blocked", "question"):
        assert tally.questions < 3
        tally = tally.after(case(state=state))
    assert name(ruled(case(state="question"), tally)) == "blocked"


def test_the_agent_is_reminded_of_its_question() -> None:
    decision = ruled(case(state="question", question="Which  of the\ntwo?"), Tally(questions=1))
    assert isinstance(decision, Continue)
    assert "You asked: “Which of the two?” Nobody will reply" in decision.feedback
    assert "safest reversible choice, note it" in decision.feedback


@pytest.mark.parametrize(
    ("failures", "ended_by"),
    [
        (["auth"], 1),
        (["refused", "refused"], 2),
        (["unavailable", "unavailable"], 2),
        (["refused", "rate_limited", "refused"], 3),
        (["refused", "crashed", "refused"], None),
        (["crashed"] * 5, None),
        (["protocol"] * 5, None),
        (["", "unavailable", "unavailable", "unavailable"], None),
        (["refused", "", "refused"], None),
    ],
)
def test_when_the_executor_cannot_work(failures: list[FailureKind | str], ended_by: int | None) -> None:
    tally, ended = Tally(), None
    for number, kind in enumerate(failures, start=1):
        given = case(Failed.model_validate({"failure": kind}) if kind else None)
        tally = tally.after(given)
        if name(ruled(given, tally)) == "executor_unavailable" and ended is None:
            ended = number
    assert ended == ended_by


def waits(settings: DecisionSettings, *failures: Failed) -> list[float]:
    tally, found = Tally(), list[float]()
    for failure in failures:
        given = case(failure)
        tally = tally.after(given)
        decision = ruled(given, tally, settings=settings)
        assert isinstance(decision, Pause)
        assert decision.then is None
        found.append((decision.until - AT).total_seconds())
    return found


def test_a_rate_limit_waits_as_long_as_it_is_told() -> None:
    named = [Failed(failure="rate_limited", retry_after=wait) for wait in (0, 2.5, 7200)]
    assert waits(DecisionSettings(), *named) == [0, 2.5, 7200]


def test_without_a_named_time_the_wait_doubles_up_to_its_limit() -> None:
    settings = DecisionSettings(rate_limit_wait=60, max_rate_limit_wait=200)
    assert waits(settings, *[Failed(failure="rate_limited")] * 60) == [60, 120, *[200] * 58]
    assert Tally(limited=7).after(case()).limited == 0


def limited(**said: Any) -> Case:
    """A reply that is the message of a limit and nothing else."""
    return case(output={"text": "You've hit your  limit."}, state="limited", **said)


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
    before = Tally(blocked=1, questions=2, test_only=2, refused=1, pivoted=True, confirming=True)
    assert before.after(limited()) == before.model_copy(update={"limited": 1})
    again = ruled(limited(), before.after(limited()).after(limited()))
    assert isinstance(again, Pause)
    assert again.until == AT + timedelta(seconds=120)


# Waiting helps against a limit, but logs nobody in.
def test_who_is_not_logged_in_is_asked_once_more_and_then_told_to_log_in() -> None:
    out = case(output={"text": "Please run /login"}, state="limited", limit="login")
    once = Tally().after(out)
    first = ruled(out, once)
    assert isinstance(first, Pause)
    assert first.reason == "nobody is logged in: Please run /login"
    second = ruled(out, once.after(out))
    assert isinstance(second, Halt)
    assert second.stop_reason == "executor_unavailable"
    assert "Please run /login; log in" in second.reason
    for between in (case(), limited()):
        assert isinstance(ruled(out, once.after(between).after(out)), Pause)
    assert isinstance(ruled(out, once.after(out), settings=DecisionSettings(unavailable=3)), Pause)


def test_running_tests_alone_ends_a_run_by_its_own_number_and_not_as_stuck() -> None:
    given = case(stuck=Stuck(detected=True, repeated_patterns=("test-only loop",), evidence=(CIRCLE,)))
    patient = DecisionSettings(test_saturation=5)
    for count, ends in ((3, "continue"), (4, "continue"), (5, "test_saturation")):
        assert name(ruled(given, Tally(test_only=count, pivoted=True), settings=patient)) == ends


def test_watching_what_runs_asks_for_another_approach_each_time_and_ends_nothing() -> None:
    watching = Stuck(detected=True, repeated_patterns=("watching",), evidence=(CIRCLE,))
    again = ruled(case(stuck=watching), Tally(pivoted=True))
    assert isinstance(again, Continue)
    assert "the same output 3 times" in again.pivot
    assert again.reason == "stuck: the approach must change"
    both = watching.model_copy(update={"repeated_patterns": ("repeated output", "watching")})
    assert isinstance(ruled(case(stuck=both), Tally(pivoted=True)), Halt)
    considered = {each.rule: each.why for each in consider(situation(case(stuck=watching), Tally(pivoted=True)))}
    assert considered["stuck"].startswith("watching what may end by itself")


# Another tool's record of a failed turn may hold the service's message as the reply.
@pytest.mark.parametrize("failure", ["auth", "unavailable", "crashed"])
def test_a_failed_turn_may_tell_of_its_limit_in_words(failure: FailureKind) -> None:
    decision = ruled(limited(outcome=Failed(failure=failure, message="nobody knows why"), retry_after=90.0))
    assert isinstance(decision, Pause)
    assert decision.until == AT + timedelta(seconds=90)
    assert decision.reason == "rate limited: You've hit your limit."


@pytest.mark.parametrize("given", [limited(progressed=True), limited(outcome=TimedOut(limit="idle", after=1))])
def test_a_turn_that_worked_or_ran_out_of_time_is_not_limited_by_its_words(given: Case) -> None:
    assert isinstance(ruled(given, Tally(answered=True).after(given)), Continue)


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
    assert Tally().decided(decision).confirming


@pytest.mark.parametrize("stop", [stop for stop in STOPS[:-1] if stop[0] not in {"pause", "limit_reached"}])
def test_waiting_for_the_hour_hides_no_stop(stop: tuple[str, dict[str, Any]]) -> None:
    assert name(together({"limit": CALLS}, stop[1])) == stop[0]


@pytest.mark.parametrize(
    ("ends_run", "until", "kind"), [(True, LATER, "halt"), (False, LATER, "pause"), (False, None, "halt")]
)
def test_an_open_breaker_stops_or_waits(ends_run: bool, until: datetime | None, kind: str) -> None:
    decision = ruled(case(), breaker=OPEN, breaker_ends_run=ends_run, breaker_until=until)
    assert decision.kind == kind
    assert "without progress" in getattr(decision, "reason", "")
    if isinstance(decision, Pause):
        assert decision.until == LATER


def test_the_breakers_warning_reaches_the_agent() -> None:
    decision = ruled(case(), breaker=WARNING)
    assert isinstance(decision, Continue)
    assert decision.warning == "2 iterations without progress"


def test_a_limit_within_the_turn_is_a_limit() -> None:
    decision = ruled(case(Interrupted(by="limit", detail="max_tokens: 5 of 3")))
    assert decision == Halt(stop_reason="limit_reached", reason="max_tokens: 5 of 3")


def test_a_turn_that_ralph_cut_short_says_nothing_of_the_agent() -> None:
    tally = Tally(answered=True, blocked=1, questions=2, test_only=2, refused=1, confirming=True, pivoted=True)
    assert tally.after(case(Interrupted(by="signal"))) == tally


outcomes = st.sampled_from([
    Completed(),
    TimedOut(limit="idle", after=1),
    Interrupted(by="signal"),
    Interrupted(by="limit"),
    LIMITED,
    *(Failed.model_validate({"failure": kind}) for kind in ("auth", "unavailable", "protocol", "crashed", "refused")),
])


@st.composite
def cases(draw: st.DrawFn) -> Case:
    return case(
        draw(outcomes),
        stuck=draw(st.sampled_from([Stuck(), CIRCLES])),
        state=draw(st.sampled_from(["progress", "blocked", "question", "unknown"])),
        completion=Completion(test_only=draw(st.booleans())),
        progressed=draw(st.sampled_from([True, False, None])),
    )


breakers = st.sampled_from([BreakerState(), OPEN, BreakerState(state="half_open")])


@given(
    st.lists(cases(), min_size=1, max_size=12),
    breakers,
    st.sampled_from([None, CLAIM, DOUBTED]),
    st.sampled_from([None, PASSED, REFUTED, UNKNOWN, CUT_SHORT]),
    st.sampled_from([None, ITERATIONS, CALLS]),
)
def test_what_holds_for_any_decision(
    given: list[Case],
    breaker: BreakerState,
    claim: Claim | None,
    verification: Verification | None,
    limit: LimitReached | None,
) -> None:
    tally = Tally()
    for one in given:
        tally = tally.after(one)
        at_hand = situation(one, tally, breaker, claim=claim, verification=verification, limit=limit)
        decision, considered = decide(at_hand), consider(at_hand)
        assert next(each.decision for each in considered if each.decision is not None) == decision
        assert all(each.why for each in considered)
        if isinstance(decision, Complete):
            assert claim is not None
            assert verification not in (REFUTED, CUT_SHORT)
            assert verification is not UNKNOWN or tally.confirming
            assert decision.verified is (verification is PASSED)
            assert not claim.doubts or tally.confirming
        if isinstance(decision, Pause):
            assert decision.until >= AT
        if not isinstance(decision, Halt):
            assert not (isinstance(one.output.outcome, Interrupted) and one.output.outcome.by == "signal")
        if isinstance(decision, Continue):
            assert limit is None
            assert breaker.state != "open"
        assert following(decision) is None or isinstance(decision, Continue | Pause)
        adapter = TypeAdapter[Decision](Decision)
        assert adapter.validate_json(adapter.dump_json(decision)) == decision
        tally = tally.decided(decision)


def test_waits_only_grow() -> None:
    assert all(earlier <= later for earlier, later in pairwise(waits(DecisionSettings(), *[LIMITED] * 3)))


@pytest.mark.parametrize("bad", [{"rate_limit_wait": 1e300}, {"max_rate_limit_wait": 0}, {"blocked": 0}, {"x": 1}])
def test_settings_are_bounded(bad: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(bad))):
        DecisionSettings.model_validate(bad)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"state": "progress"}, "nothing says that the task is done"),
        (
            {"state": "done", "completion": Completion(detected=True, confidence=60)},
            "the words say that the task is done (strength 60 of 100), which the exit strategy takes for no claim",
        ),
        (
            {"state": "done", "status": StatusReport(exit_signal=True)},
            "the agent says that the task is done, which the exit strategy takes for no claim",
        ),
    ],
)
def test_what_is_said_to_be_done_and_claims_nothing_is_told_as_that(said: dict[str, Any], reason: str) -> None:
    assert ruled(case(**said)).reason == reason
