"""From what an iteration gave to its record: progress, what the breaker is told, what is spent."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ralph.analysis.metrics import error_signature
from ralph.analysis.result import Analysis, Evidence, Metrics
from ralph.decision.breaker import BreakerSettings, BreakerState, CircuitBreaker, Observation
from ralph.decision.claims import NOTHING_CHANGED, Case, Claim
from ralph.decision.limits import Limits, Price, Spent
from ralph.decision.outcomes import Complete, Continue, Halt, Pause, Streaks
from ralph.pipeline.evaluate import Assessment, Progress, Rules, assess, evaluate, measure_progress, observe
from ralph.records.record import IterationRecord, PlanCount, RunRecord, RunState
from ralph.types import evolve
from ralph.types.output import (
    Answered,
    Attempt,
    Changes,
    Failed,
    Interrupted,
    Outcome,
    Output,
    TimedOut,
    ToolCall,
    Usage,
)
from ralph.types.plan import parse_plan
from ralph.types.verification import Verdict, Verification

AT = datetime(2026, 1, 1, tzinfo=UTC)
PLAN = parse_plan("- [x] one\n- [ ] two\n- [ ] three\n")
RUN = RunRecord(id="r", task="t", started_at=AT, fingerprint="before", plan=PLAN)
REFUTED = Verification(
    verdicts=(
        Verdict(verifier="pytest", passed=False, signature="1 failed"),
        Verdict(verifier="ruff", passed=True),
    )
)


def at(fingerprint: str | None) -> Changes:
    return Changes(fingerprint=fingerprint)


@pytest.mark.parametrize(
    ("changes", "plan", "progressed", "changed"),
    [
        (at("new"), PLAN, True, True),
        (at("before"), PLAN, False, False),
        (at("earlier"), PLAN, False, True),
        (at(None), PLAN, None, None),
        (at("before"), parse_plan("- [x] one\n- [x] two\n- [ ] three\n"), True, False),
        (at(None), parse_plan("- [x] one\n- [x] two\n- [ ] three\n"), True, None),
        (at("before"), parse_plan("- [ ] one\n- [x] two\n- [ ] three\n"), False, False),
        (at("before"), parse_plan("- [x] one\n"), False, False),
        (at("before"), None, False, False),
        (at("new"), None, True, True),
        (at(None), None, None, None),
    ],
    ids=[
        *("a new state", "nothing", "reverted to an earlier state", "unknown", "a box", "a box in an unknown folder"),
        *(
            "one box for another",
            "items taken away",
            "the plan taken away",
            "the plan taken away for work",
            "all unknown",
        ),
    ],
)
def test_what_is_progress(changes: Changes, plan: Any, progressed: bool | None, changed: bool | None) -> None:
    state = RunState.of(RUN).model_copy(update={"fingerprints": (("before",), ("earlier", "after verifying"))})
    found = measure_progress(RUN, state, changes, plan)
    assert (found.progressed, found.changed) == (progressed, changed)


def test_a_run_without_a_known_start_has_changed_nobody_knows_what() -> None:
    run = RUN.model_copy(update={"fingerprint": None})
    found = measure_progress(run, RunState.of(run), at("new"), None)
    assert (found.progressed, found.changed) == (True, None)


def test_a_plan_that_was_taken_away_stays_open() -> None:
    found = measure_progress(RUN, RunState.of(RUN), at("new"), None)
    assert found.plan is None
    assert found.plan_state is not None
    assert found.plan_state.still_open == ("two", "three")
    never = RUN.model_copy(update={"plan": None})
    assert measure_progress(never, RunState.of(never), at("new"), None).plan_state is None


@pytest.mark.parametrize(
    ("usage", "price", "cost"),
    [
        (Usage(input_tokens=10**6), Price(input=2, output=1), 2),
        (Usage(input_tokens=10**6, cost=0.5), Price(input=2, output=1), 0.5),
        (Usage(input_tokens=10**6), None, None),
        (Usage(premium_requests=1), Price(input=2, output=1), None),
    ],
)
def test_tokens_have_a_price_where_no_cost_was_measured(usage: Usage, price: Price | None, cost: float | None) -> None:
    rules = Rules(prices={"m": price} if price else {}, model="m")
    assert [rules.priced(usage, model).cost for model in ("m", "m-2026-01-01", None)] == [cost] * 3


def case(outcome: Outcome | None = None, *, progressed: bool | None = True, **output: Any) -> Case:
    return Case(output=Output(outcome=outcome or Answered(), executor="x", **output), progressed=progressed)


# covers: S4-40, S0-4
@pytest.mark.parametrize(
    ("given", "verification", "told"),
    [
        (case(), None, Observation(progressed=True)),
        (case(progressed=None), None, Observation()),
        (
            case(Failed(failure="unavailable", status=503)),
            None,
            Observation(progressed=True, failed=True, unanswered=True, errors=("the service does not answer",)),
        ),
        (
            case(Failed(failure="unavailable", status=503), tool_calls=(ToolCall(id="1", name="bash", success=True),)),
            None,
            Observation(progressed=True, failed=True, errors=("unavailable 503",)),
        ),
        (case(Failed(failure="crashed")), None, Observation(progressed=True, failed=True, errors=("crashed",))),
        (case(Interrupted(by="circles")), None, Observation(progressed=True, errors=("a turn in circles",))),
        (
            case(TimedOut(limit="idle", after=5)),
            None,
            Observation(progressed=True, failed=True, errors=("idle time-out",)),
        ),
        (case(), REFUTED, Observation(progressed=True, errors=("pytest: 1 failed",))),
        (
            case(tool_calls=(ToolCall(id="1", name="bash", denied=True),)),
            None,
            Observation(progressed=True, denied=True),
        ),
    ],
)
def test_what_the_breaker_is_told(given: Case, verification: Verification | None, told: Observation) -> None:
    assert observe(given, verification) == told


def turned_down(
    denied: int, of: int, *, progressed: bool | None = None, reported: bool | None = None, tells: bool = False
) -> Case:
    calls = tuple(ToolCall(id=f"{number}", name="bash", denied=number < denied) for number in range(of))
    analysis = Analysis(reports_change=reported, evidence=(Evidence(signal="work", text="Wrote it."),) if tells else ())
    return Case(output=Output(tool_calls=calls), analysis=analysis, progressed=progressed)


# An iteration in which a call was turned down now and then may have worked well; that is asked where nobody knows.
@pytest.mark.parametrize(
    ("given", "denied"),
    [
        (turned_down(1, 40, progressed=False), True),
        (turned_down(1, 40, reported=False), True),
        (turned_down(1, 40), False),
        (turned_down(2, 7), False),
        (turned_down(2, 6), True),
        (turned_down(3, 40), False),
        (turned_down(3, 9), True),
        (turned_down(5, 10), True),
        (turned_down(3, 8, tells=True), False),
        (turned_down(4, 8, tells=True), True),
        (turned_down(1, 1), True),
        (turned_down(0, 0, progressed=False), False),
    ],
)
def test_when_an_iteration_is_one_of_denials(given: Case, denied: bool) -> None:
    assert observe(given, None).denied is denied


@pytest.mark.parametrize(
    ("progressed", "reported", "told"),
    [(None, True, True), (None, False, False), (None, None, None), (False, True, False), (True, False, True)],
)
def test_the_agents_own_count_is_for_where_nothing_is_known(
    progressed: bool | None, reported: bool | None, told: bool | None
) -> None:
    given = Case(analysis=Analysis(reports_change=reported), progressed=progressed)
    assert observe(given, None).progressed is told


def test_a_turn_that_ended_in_nothing_but_denials_is_one_of_them_however_busy_it_was_before() -> None:
    busy = turned_down(20, 60)
    ended = busy.output.model_copy(update={"outcome": Interrupted(by="denials")})
    assert not observe(busy, None).denied
    assert observe(busy.model_copy(update={"output": ended}), None).denied


def test_a_turn_that_fails_at_work_counts_as_an_error_where_nobody_knows_what_it_moved() -> None:
    calls = ToolCall.unnamed(10)
    for outcome in (Failed(failure="crashed"), TimedOut(limit="iteration", after=900)):
        told = observe(case(outcome, progressed=None, tool_calls=calls), None)
        assert (told.worked, told.failed, len(told.errors)) == (True, True, 1)
        assert not observe(case(outcome, progressed=None, tool_calls=calls[1:]), None).worked
        assert not observe(case(outcome, progressed=False, tool_calls=calls), None).worked
    assert not observe(case(progressed=None, tool_calls=calls), None).worked


def test_a_run_in_which_tools_are_denied_trips_early() -> None:
    first = concluded(turned_down(3, 4))
    assert isinstance(first.decision, Continue)
    second = concluded(turned_down(3, 4), state=RunState.of(RUN, [first]))
    assert isinstance(second.decision, Halt)
    assert second.decision.reason == "2 permission-denied iterations in a row"


# covers: S0-15, K0-18
@pytest.mark.parametrize(
    ("source", "delta"),
    [("plan", 4), ("checklist", 4), ("percentage", 4), ("keyword", None), ("default", None)],
)
def test_the_completion_rises_only_where_it_is_explicit(source: Any, delta: float | None) -> None:
    analysis = Analysis(metrics=Metrics(completion_source=source, progress=4), error_signatures=("no such file",))
    told = observe(Case(analysis=analysis), None)
    assert (told.delta, told.reported) == (delta, ("no such file",))


def concluded(
    given: Case, *, state: RunState | None = None, limits: Limits | None = None, **rest: Any
) -> IterationRecord:
    breaker = CircuitBreaker(rest.pop("breaker", None) or BreakerSettings())
    rules = Rules(breaker=breaker, limits=limits or Limits())
    seen = Progress(at("new"), PLAN, None, given.progressed, changed=True)
    common: dict[str, Any] = {
        "started_at": AT,
        "at": AT + timedelta(seconds=5),
        "duration": 5.0,
        "fingerprint": "after",
    }
    assessed = Assessment(given, seen, rest.pop("claim", None))
    return evaluate(rules, RUN, state or RunState.of(RUN), assessed, **(common | rest))


def test_an_iteration_is_counted_and_kept() -> None:
    record = concluded(case(text="hello", usage=Usage(input_tokens=3), diagnostics="a warning"))
    assert isinstance(record.decision, Continue)
    assert record.spent == Spent(iterations=1, duration=5, usage=Usage(input_tokens=3))
    assert (record.text, record.diagnostics, record.executor) == ("hello", "a warning", "x")
    assert (record.plan, record.fingerprint, record.changes) == (PlanCount(done=1, total=3), "after", at("new"))
    assert (record.past.text, record.past.progressed) == ("hello", True)
    assert (record.tally, record.breaker) == (Streaks(answered=True), BreakerState())


def test_a_claim_can_still_be_confirmed_after_an_outage() -> None:
    state = RunState.of(RUN).model_copy(update={"streaks": Streaks(answered=True, confirming=True)})
    assert concluded(case(Failed(failure="unavailable")), state=state).tally.confirming
    assert not concluded(case(), state=state).tally.confirming


def test_what_is_spent_adds_up_over_the_run() -> None:
    before = Spent(iterations=2, duration=7, usage=Usage(input_tokens=10, cost=0.5))
    state = RunState.of(RUN).model_copy(update={"spent": before})
    record = concluded(case(usage=Usage(input_tokens=3)), state=state, limits=Limits(max_duration=12))
    assert record.spent == Spent(iterations=3, duration=12, usage=Usage(input_tokens=13, cost=0.5))
    assert isinstance(record.decision, Halt)
    assert record.decision.reason == "max_duration: 12.0 s of 12.0 s"


def test_a_rate_limit_counts_against_nothing_but_what_it_used() -> None:
    state = RunState.of(RUN).model_copy(update={"breaker": BreakerState(no_progress=2, warning=True, reason="…")})
    given = case(Failed(failure="rate_limited", retry_after=9), progressed=False, usage=Usage(input_tokens=3))
    record = concluded(given, state=state, limits=Limits(max_iterations=1))
    assert isinstance(record.decision, Pause)
    assert record.decision.until == AT + timedelta(seconds=14)
    assert record.breaker == state.breaker
    assert record.spent == Spent(iterations=0, duration=5, usage=Usage(input_tokens=3))
    assert record.limited


def test_so_does_a_limit_that_only_the_reply_tells_of() -> None:
    state = RunState.of(RUN).model_copy(update={"breaker": BreakerState(no_progress=2, warning=True, reason="…")})
    analysis = Analysis(state="limited", retry_after=9)
    given = case(text="You've hit your limit.", progressed=False).model_copy(update={"analysis": analysis})
    record = concluded(given, state=state, limits=Limits(max_iterations=1))
    assert isinstance(record.decision, Pause)
    assert (record.breaker, record.spent.iterations, record.limited) == (state.breaker, 0, True)


@pytest.mark.parametrize("by", ["signal", "limit"])
@pytest.mark.parametrize("position", ["closed", "half_open"])
def test_a_turn_that_was_cut_short_says_nothing_to_the_breaker(by: Any, position: Any) -> None:
    state = RunState.of(RUN).model_copy(update={"breaker": BreakerState(state=position, no_progress=2)})
    record = concluded(case(Interrupted(by=by), progressed=False), state=state)
    assert record.breaker == state.breaker
    assert isinstance(record.decision, Halt)


def test_a_failure_of_the_executor_and_a_refuted_claim_reach_the_breaker() -> None:
    assert concluded(case(Failed(failure="crashed"), progressed=None)).breaker.no_progress == 1
    refuted = concluded(case(), claim=Claim(reason="done"), verification=REFUTED)
    assert refuted.breaker.errors == {"pytest: 1 failed": 1}


# covers: S4-45
def test_a_verified_completion_counts_also_where_everything_else_is_over() -> None:
    state = RunState.of(RUN).model_copy(update={"breaker": BreakerState(no_progress=2)})
    passed = Verification(verdicts=(Verdict(verifier="pytest", passed=True, fresh=True),))
    record = concluded(
        case(progressed=False),
        state=state,
        limits=Limits(max_iterations=1),
        claim=Claim(reason="done"),
        verification=passed,
    )
    assert record.breaker.state == "open"
    assert isinstance(record.decision, Complete)
    assert record.decision.verified


@pytest.mark.parametrize(("when_open", "kind"), [("stop", "halt"), ("wait", "pause")])
def test_what_happens_when_the_breaker_opens(when_open: Any, kind: str) -> None:
    settings = BreakerSettings(no_progress=1, when_open=when_open, cool_down=60)
    record = concluded(case(progressed=False), breaker=settings)
    assert record.decision.kind == kind
    if isinstance(record.decision, Pause):
        assert record.decision.until == record.finished_at + timedelta(seconds=60)


def test_calls_are_counted_from_their_beginning_where_they_are_limited() -> None:
    assert concluded(case()).spent.calls == ()
    record = concluded(case(), limits=Limits(calls_per_hour=1))
    assert record.spent.calls == (AT,)
    assert isinstance(record.decision, Pause)
    assert record.decision.until == AT + timedelta(hours=1)


def test_second_tries_are_calls_too() -> None:
    tried = Attempt(executor="x", outcome=Failed(failure="unavailable"))
    record = concluded(case(attempts=(tried, tried)), limits=Limits(calls_per_hour=3))
    assert record.spent.calls == (AT, AT, AT)
    assert isinstance(record.decision, Pause)
    assert record.decision.until == AT + timedelta(hours=1)
    assert isinstance(concluded(case(attempts=(tried,)), limits=Limits(calls_per_hour=3)).decision, Continue)


def test_the_sessions_of_a_review_are_calls_too() -> None:
    reviewed = Verification(verdicts=(Verdict(verifier="review", passed=False, signature="refuted", sessions=2),))
    record = concluded(case(), claim=Claim(reason="done"), verification=reviewed, limits=Limits(calls_per_hour=3))
    assert record.spent.calls == (AT, AT, AT)
    assert isinstance(record.decision, Pause)
    assert record.decision.until == AT + timedelta(hours=1)


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (BreakerState(), BreakerState(no_progress=1), False),
        (BreakerState(), BreakerState(warning=True, reason="…"), True),
        (BreakerState(warning=True, reason="…"), BreakerState(state="open", opened_at=AT), True),
        (BreakerState(state="open", opened_at=AT), BreakerState(state="half_open"), True),
        (BreakerState(state="open", opened_at=AT), BreakerState(state="open", opened_at=AT, trips=2), False),
    ],
)
def test_when_a_person_is_told_of_the_breaker(before: BreakerState, after: BreakerState, told: bool) -> None:
    assert after.differs(before) is told


def test_an_error_that_the_agent_only_repeats_from_its_verifier_is_not_one_of_its_own() -> None:
    state = evolve(RunState.of(RUN), errors=("pytest: cannot import parser",))
    signatures = (error_signature("pytest: cannot import parser"), "disk full")
    given = evolve(case(progressed=False), analysis=Analysis(error_signatures=signatures))
    assert concluded(given, state=state).breaker.errors == {"disk full": 1}


def test_a_claim_after_lost_work_is_not_doubted_for_having_changed_nothing() -> None:
    reply = Output(text="---RALPH_STATUS---\nEXIT_SIGNAL: true\nSTATUS: COMPLETE\n---END_RALPH_STATUS---")
    for lost, doubts in (((), (NOTHING_CHANGED,)), (("notes.txt",), ())):
        seen = Progress(Changes(fingerprint="before", lost=lost), progressed=False, changed=False)
        claim = assess(Rules(), RUN, RunState.of(RUN), reply, seen).claim
        assert claim is not None
        assert claim.doubts == doubts
