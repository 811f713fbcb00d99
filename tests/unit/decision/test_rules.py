"""What follows from an iteration: the order of the stops, and what each leaves for the iterations after it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from ralph.analysis.result import Analysis, CompletionSignal, Evidence, Stuck
from ralph.decision.breaker import BreakerState
from ralph.decision.claims import Case, Claim
from ralph.decision.limits import LimitReached
from ralph.decision.outcomes import Complete, Continue, Decision, Halt, Pause, Streaks, following
from ralph.decision.rules import Situation, consider, decide
from ralph.status import StatusMalformed, StatusReport
from ralph.types.output import (
    Answered,
    Failed,
    FailureKind,
    Interrupted,
    Message,
    Outcome,
    Output,
    TimedOut,
    ToolCall,
    Usage,
)
from ralph.types.verification import Verdict, Verification

AT = datetime(2026, 1, 1, tzinfo=UTC)
CLAIM, DOUBTED = Claim(reason="done"), Claim(reason="done", doubts=("two is open",))
PASSED = Verification(verdicts=(Verdict(verifier="tests", passed=True, fresh=True),))
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
    whole = Output(outcome=outcome or Answered(), **(output or {}))
    return Case(output=whole, analysis=Analysis(**said), progressed=progressed)


def situation(
    given: Case, streaks: Streaks | None = None, breaker: BreakerState | None = None, **rest: Any
) -> Situation:
    return Situation(given, streaks or Streaks().after(given), breaker or BreakerState(), AT, **rest)


def ruled(given: Case, streaks: Streaks | None = None, breaker: BreakerState | None = None, **rest: Any) -> Decision:
    return decide(situation(given, streaks, breaker, **rest))


def name(decision: Decision) -> str:
    return decision.stop_reason if isinstance(decision, Halt) else decision.kind


def test_the_agent_is_warned_of_the_breaker_only_while_it_warns() -> None:
    probing = BreakerState(state="half_open", reason="3 iterations without progress")
    warning = BreakerState(warning=True, no_progress=2, reason="2 iterations without progress")
    words = [following(ruled(case(), breaker=breaker)) for breaker in (BreakerState(), warning, probing)]
    assert [word.warning for word in words if word] == ["", "2 iterations without progress", ""]


# What each stop needs to apply, in the order in which they are asked.
STOPS: list[tuple[str, dict[str, Any]]] = [
    ("cancelled", {"outcome": Interrupted(by="signal")}),
    ("complete", {"claim": CLAIM, "verification": PASSED}),
    ("executor_unavailable", {"streaks": {"logins": 2}}),
    ("pause", {"outcome": LIMITED}),
    ("executor_unavailable", {"streaks": {"refused": 2}, "outcome": Failed(failure="refused")}),
    ("blocked", {"streaks": {"blocked": 2}}),
    ("limit_reached", {"limit": ITERATIONS}),
    ("circuit_open", {"breaker": OPEN}),
    ("test_saturation", {"streaks": {"test_only": 3}}),
    ("stuck", {"streaks": {"pivoted": True}, "stuck": CIRCLES}),
    ("continue", {}),
]


def together(*parts: dict[str, Any]) -> Decision:
    """The decision on all of these at once; of two outcomes the first."""
    streaks, given = dict[str, Any](), dict[str, Any]()
    for part in reversed(parts):
        streaks |= part.get("streaks", {})
        given |= part
    said = {"stuck": given["stuck"]} if "stuck" in given else {}
    rest = {key: given[key] for key in ("claim", "verification", "limit") if key in given}
    return ruled(case(given.get("outcome"), **said), Streaks(**streaks), given.get("breaker"), **rest)


# covers: S4-42, S4-43, S4-44
@pytest.mark.parametrize("number", range(len(STOPS)))
def test_each_stop_beats_all_below_it(number: int) -> None:
    stop = STOPS[number][0]
    assert name(together(STOPS[number][1])) == stop
    assert name(together(*(needs for _, needs in STOPS[number:]))) == stop


@given(st.sets(st.integers(0, len(STOPS) - 1), min_size=1))
def test_of_any_stops_together_the_first_is_the_decision(numbers: set[int]) -> None:
    chosen = [STOPS[number] for number in sorted(numbers)]
    assert name(together(*(needs for _, needs in chosen))) == chosen[0][0]


RULES_THAT_DO_NOT_APPLY = [
    ("cancelled", situation(case()), "no one requested it"),
    ("completed", situation(case()), "the exit strategy sees no claim that the task is done"),
    ("completed", situation(case(), claim=CLAIM, verification=REFUTED), "refuted by `tests`"),
    (
        "completed",
        situation(case(), claim=CLAIM, verification=UNKNOWN),
        "`review` could not find out whether it holds",
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
    ("blocked", situation(case(), Streaks(questions=2)), "no blocked iterations, 2 of 3 questions in a row"),
    ("limit", situation(case()), "none is reached"),
    ("limit", situation(case(), limit=CALLS), "only one that passes by itself"),
    ("circuit open", situation(case()), "closed"),
    ("circuit open", situation(case(), breaker=WARNING), "closed, but warns: 2 iterations without progress"),
    ("test saturation", situation(case(), Streaks(test_only=2)), "2 of 3 test-only iterations in a row"),
    ("stuck", situation(case()), "nothing repeats"),
    ("stuck", situation(case(progressed=True, stuck=CIRCLES)), "this iteration moved the work"),
    (
        "stuck",
        situation(case(stuck=CIRCLES)),
        "for the first time, which asks for another approach: the same output 3 times: “All is done.”",
    ),
    ("calls of the hour", situation(case()), "none that are used up"),
]


# What `ralph analyze --explain-decision` shows of each rule that does not apply.
def test_every_rule_says_why_it_does_not_apply(subtests: pytest.Subtests) -> None:
    for rule, state, why in RULES_THAT_DO_NOT_APPLY:
        with subtests.test(rule=rule):
            considered = {one.rule: one for one in consider(state)}
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
    decision = ruled(case(), Streaks(confirming=confirming), claim=claim, verification=verification)
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
    decision = ruled(case(), Streaks(confirming=confirming), claim=claim, verification=verification)
    assert isinstance(decision, Continue)


def test_a_doubted_claim_asks_for_one_confirming_iteration() -> None:
    first = ruled(case(), claim=DOUBTED)
    assert isinstance(first, Continue)
    assert first.confirm
    assert "two is open" in first.feedback
    confirming = Streaks().decided(first)
    assert isinstance(ruled(case(), confirming.after(case()), claim=DOUBTED), Complete)
    silent = ruled(case(), confirming.after(case()))
    assert not confirming.decided(silent).confirming, "a confirmation that did not come is asked for again"


def test_a_claim_that_could_not_be_verified_is_asked_for_once_more_and_then_stands_unverified() -> None:
    first = ruled(case(), claim=CLAIM, verification=UNKNOWN)
    assert isinstance(first, Continue)
    assert (first.confirm, first.reason) == (True, "a claim of completion waits for its verification")
    assert "`review` could not find out whether it is: The model is\nnot there." in first.feedback
    confirming = Streaks().decided(first).after(case())
    second = ruled(case(), confirming, claim=CLAIM, verification=UNKNOWN)
    assert isinstance(second, Complete)
    assert second.reason == f"{CLAIM.reason}; `tests` confirmed; `review` is undecided: The model is not there."
    verified = ruled(case(), confirming, claim=CLAIM, verification=PASSED)
    assert isinstance(verified, Complete)
    assert verified.reason == f"{CLAIM.reason}; `tests` confirmed"


def test_a_verification_that_was_cut_short_leaves_the_decision_to_what_did_so() -> None:
    limit = LimitReached(limit="max_duration", allowed=5, used=5)
    decision = ruled(case(), Streaks(confirming=True), claim=CLAIM, verification=CUT_SHORT, limit=limit)
    assert isinstance(decision, Halt)
    assert decision.stop_reason == "limit_reached"


def test_a_rate_limit_leaves_the_confirmation_to_the_iteration_after_it() -> None:
    confirming = Streaks(confirming=True)
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
    reason = "max_iterations: 3 of 3; the claim of completion was refuted by `tests` (1 failed)"
    assert decision == Halt(stop_reason="limit_reached", reason=reason)
    unclaimed = ruled(case(), limit=ITERATIONS)
    assert unclaimed == Halt(stop_reason="limit_reached", reason="max_iterations: 3 of 3")


@pytest.mark.parametrize(
    ("outcome", "told"),
    [
        (Failed(failure="protocol", message="It sent a page."), "the last turn failed: protocol: It sent a page"),
        (TimedOut(limit="idle", after=600), "the last turn was ended after 600 s (idle time-out)"),
        (Interrupted(by="circles", detail="always the same"), "the last turn was ended: always the same"),
    ],
)
def test_an_open_breaker_tells_what_the_last_turn_failed_of(outcome: Outcome, told: str) -> None:
    decision = ruled(case(outcome), breaker=OPEN)
    assert decision == Halt(stop_reason="circuit_open", reason=f"3 iterations without progress; {told}")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (case(TimedOut(limit="tool", after=1800)), "ended after 1800 s (tool time-out)"),
        (case(Interrupted(by="circles", detail="always the same")), "always the same. That leads nowhere"),
        (case(Failed(failure="crashed", status=503, message="busy")), "crashed (HTTP 503): busy"),
        (case(status=StatusMalformed(problem="EXIT_SIGNAL has no value")), "EXIT_SIGNAL has no value"),
        (case(state="question"), "No one will reply"),
        (case(state="blocked"), "No one will reply"),
        (
            case(output={"tool_calls": (ToolCall(id="1", name="bash", denied=True), ToolCall(id="2", name="view"))}),
            "1 tool calls were denied (bash)",
        ),
    ],
)
def test_feedback_of_an_iteration_that_goes_on(given: Case, told: str) -> None:
    decision = ruled(given, Streaks(answered=True).after(given))
    assert isinstance(decision, Continue)
    assert told in decision.feedback


@pytest.mark.parametrize(("state", "iterations"), [("blocked", 2), ("question", 3)])
def test_who_needs_a_person_is_blocked_in_the_end(state: str, iterations: int) -> None:
    given, streaks = case(state=state, question="Which database?"), Streaks()
    for _ in range(iterations - 1):
        streaks = streaks.after(given)
        assert name(ruled(given, streaks)) == "continue"
    decision = ruled(given, streaks.after(given))
    assert isinstance(decision, Halt)
    assert (decision.stop_reason, decision.reason) == ("blocked", "Which database?")
    assert name(ruled(given, streaks.after(case()).after(given))) == "continue", "not in a row"
    assert name(ruled(case(), streaks.after(case(state=state, reports_change=True)).after(given))) == "continue"


@pytest.mark.parametrize(
    ("calls", "denied", "progressed", "ended"),
    [
        (9, 0, None, "blocked"),
        (10, 0, None, "continue"),
        (11, 5, None, "blocked"),
        (30, 15, None, "blocked"),
        (30, 0, False, "blocked"),
    ],
)
def test_who_asks_after_much_work_of_unknown_effect_has_not_waited(
    calls: int, denied: int, progressed: bool | None, ended: str
) -> None:
    used = tuple(ToolCall(id=f"{number}", name="bash", denied=number < denied) for number in range(calls))
    given, streaks = case(state="question", progressed=progressed, output={"tool_calls": used}), Streaks()
    for _ in range(3):
        streaks = streaks.after(given)
    assert name(ruled(given, streaks)) == ended


def test_who_is_blocked_is_shown_by_what_asks() -> None:
    pieces = tuple(Evidence(signal=signal, text=signal) for signal in ("work", "blocked", "exit_signal", "question"))
    decision = ruled(case(state="blocked", evidence=pieces), Streaks(blocked=2))
    assert [piece.signal for piece in getattr(decision, "evidence", ())] == ["blocked", "question"]


def test_questions_and_blocks_in_turns_are_blocked_in_the_end() -> None:
    streaks = Streaks()
    for state in ("question", "blocked", "question"):
        assert streaks.questions < 3
        streaks = streaks.after(case(state=state))
    assert name(ruled(case(state="question"), streaks)) == "blocked"


def test_a_user_who_resumes_a_blocked_run_has_answered_all_its_questions() -> None:
    asks, streaks = case(state="question", question="Which?"), Streaks()
    for ended in ("continue", "continue", "blocked") * 2:
        streaks = streaks.after(asks)
        decision = ruled(asks, streaks)
        assert name(decision) == ended
        streaks = streaks.decided(decision)


def test_the_agent_is_reminded_of_its_question() -> None:
    decision = ruled(case(state="question", question="Which  of the\ntwo?"), Streaks(questions=1))
    assert isinstance(decision, Continue)
    assert "You asked: “Which of the two?” No one will reply" in decision.feedback
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
    streaks, ended = Streaks(), None
    for number, kind in enumerate(failures, start=1):
        given = case(Failed.model_validate({"failure": kind}) if kind else None)
        streaks = streaks.after(given)
        if name(ruled(given, streaks)) == "executor_unavailable" and ended is None:
            ended = number
    assert ended == ended_by


@pytest.mark.parametrize(
    "heard",
    [
        {"messages": (Message(text="I begin.", tool_calls=1),)},
        {"tool_calls": (ToolCall(id="1", name="bash"),)},
        {"usage": Usage(output_tokens=9)},
    ],
)
def test_a_service_that_goes_away_within_the_first_turn_is_known_to_be_there(heard: Any) -> None:
    silent = case(Failed(failure="unavailable"))
    begun = Streaks().after(case(Failed(failure="unavailable"), output=heard))
    streaks = begun.after(silent).after(silent)
    assert isinstance(ruled(silent, streaks), Pause), "it is waited for"


@pytest.mark.parametrize("stop", [stop for stop in STOPS[:-1] if stop[0] not in {"pause", "limit_reached"}])
def test_waiting_for_the_hour_hides_no_stop(stop: tuple[str, dict[str, Any]]) -> None:
    assert name(together({"limit": CALLS}, stop[1])) == stop[0]


def test_the_breakers_warning_reaches_the_agent() -> None:
    decision = ruled(case(), breaker=WARNING)
    assert isinstance(decision, Continue)
    assert decision.warning == "2 iterations without progress"


def test_a_limit_within_the_turn_is_a_limit() -> None:
    decision = ruled(case(Interrupted(by="limit", detail="max_tokens: 5 of 3")))
    assert decision == Halt(stop_reason="limit_reached", reason="max_tokens: 5 of 3")


def test_a_service_that_does_not_answer_says_nothing_of_the_agent() -> None:
    streaks = Streaks(answered=True, blocked=1, questions=2, test_only=2, confirming=True, pivoted=True, calm=1)
    silent = case(Failed(failure="unavailable"), progressed=False, stuck=CIRCLES)
    assert streaks.after(silent) == streaks.model_copy(update={"outage": 1})
    assert streaks.after(silent).after(silent).after(case()).outage == 0
    waits = [ruled(silent, streaks.model_copy(update={"outage": times})) for times in (1, 2, 3, 10, 1_000)]
    seconds = [(wait.until - AT).total_seconds() for wait in waits if isinstance(wait, Pause)]
    assert seconds == [1, 2, 4, 300, 300]
    ended = ruled(silent, streaks.model_copy(update={"outage": 7 * 24 * 12}))
    assert isinstance(ended, Halt)
    assert ended.stop_reason == "executor_unavailable"
    assert ended.reason == "the service has not answered 2016 times in a row: unavailable"
    assert streaks.model_copy(update={"outage": 2016}).decided(ended) == streaks, "who resumes it gets a fresh count"
    begun = case(Failed(failure="unavailable"), output={"tool_calls": (ToolCall(id="1", name="bash"),)})
    assert streaks.after(begun).questions == 0


def test_a_service_that_ralph_cut_short_is_known_to_be_there() -> None:
    calls, silent = (ToolCall(id="1", name="bash"),), case(Failed(failure="unavailable"))
    streaks = Streaks().after(case(Interrupted(by="circles"), output={"tool_calls": calls})).after(silent).after(silent)
    assert isinstance(ruled(silent, streaks), Pause)
    assert not Streaks().after(case(Interrupted(by="signal"))).answered


def test_a_turn_that_ralph_cut_short_says_nothing_of_the_agent() -> None:
    streaks = Streaks(answered=True, blocked=1, questions=2, test_only=2, refused=1, confirming=True, pivoted=True)
    assert streaks.after(case(Interrupted(by="signal"))) == streaks


outcomes = st.sampled_from([
    Answered(),
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
        completion=CompletionSignal(test_only=draw(st.booleans())),
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
    streaks = Streaks()
    for one in given:
        streaks = streaks.after(one)
        at_hand = situation(one, streaks, breaker, claim=claim, verification=verification, limit=limit)
        decision, considered = decide(at_hand), consider(at_hand)
        assert next(each.decision for each in considered if each.decision is not None) == decision
        assert all(each.why for each in considered)
        if isinstance(decision, Complete):
            assert claim is not None
            assert verification not in (REFUTED, CUT_SHORT)
            assert verification is not UNKNOWN or streaks.confirming
            assert decision.verified is (verification is PASSED)
            assert not claim.doubts or streaks.confirming
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
        streaks = streaks.decided(decision)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"state": "progress"}, "nothing says that the task is done"),
        (
            {"state": "done", "completion": CompletionSignal(detected=True, confidence=60)},
            (
                "the words say that the task is done (strength 60 of 100), but the exit strategy does not count "
                "that as a claim"
            ),
        ),
        (
            {"state": "done", "status": StatusReport(exit_signal=True)},
            "the agent says that the task is done, but the exit strategy does not count that as a claim",
        ),
    ],
)
def test_what_is_said_to_be_done_and_claims_nothing_is_told_as_that(said: dict[str, Any], reason: str) -> None:
    assert ruled(case(**said)).reason == reason
