"""The fold over the records: what the next iteration knows of the ones before."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ralph.analysis.result import PAST_KEPT, Analysis
from ralph.decision.breaker import BreakerSettings, BreakerState, CircuitBreaker
from ralph.decision.limits import Spent
from ralph.decision.outcomes import Complete, Continue, Halt, Pause, Streaks
from ralph.records.record import IterationRecord, PlanCount, RunRecord, RunState
from ralph.status import StatusReport
from ralph.types.output import FINGERPRINTS_KEPT, Answered, Attempt, Changes, Failed, Interrupted, TimedOut, Usage
from ralph.types.plan import TaskPlan, parse_plan
from ralph.types.verification import Verdict, Verification

AT = datetime(2026, 1, 1, 12, 30, tzinfo=UTC)
RUN = RunRecord(id="r", task="t", started_at=AT, fingerprint="before")
LIMITED = Failed(failure="rate_limited")


def iteration(number: int = 1, **facts: Any) -> IterationRecord:
    common: dict[str, Any] = {"outcome": Answered(), "decision": Continue(), "executor": "copilot-sdk"}
    return IterationRecord(run_id="r", number=number, started_at=AT, finished_at=AT, **(common | facts))


def seen(number: int, fingerprint: str, after: str | None = None, **facts: Any) -> IterationRecord:
    return iteration(number, changes=Changes(fingerprint=fingerprint), fingerprint=after, **facts)


def test_a_run_that_has_not_begun() -> None:
    state = RunState.of(RUN.model_copy(update={"plan": parse_plan("- [x] a\n- [ ] b")}))
    assert (state.number, state.baseline, state.fingerprints, state.boxes_ticked) == (0, "before", (("before",),), 1)
    assert (state.ended, state.paused) == (None, None)


def test_the_fold_takes_the_last_word_of_what_the_run_is() -> None:
    last = iteration(
        2,
        spent=Spent(iterations=2, duration=3.5),
        tally=Streaks(answered=True, blocked=1),
        breaker=BreakerState(no_progress=2, warning=True, reason="…"),
        decision=Continue(feedback="mend it"),
        plan=PlanCount(done=3, total=5),
    )
    state = RunState.of(RUN, [iteration(), last])
    assert state.number == 2
    assert (state.spent, state.streaks, state.breaker) == (last.spent, last.tally, last.breaker)
    assert (state.guidance.feedback, state.boxes_ticked) == ("mend it", 3)


def test_a_box_that_was_unticked_is_not_ticked_twice() -> None:
    plans = [PlanCount(done=3, total=5), PlanCount(done=1, total=5), None]
    records = [iteration(number, plan=plan) for number, plan in enumerate(plans, start=1)]
    assert RunState.of(RUN, records).boxes_ticked == 3


def test_ten_iterations_of_fingerprints_are_kept_with_what_verifiers_left() -> None:
    records = [seen(number, f"{number}", f"{number}v" if number % 2 else f"{number}") for number in range(1, 15)]
    state = RunState.of(RUN, records)
    assert len(state.fingerprints) == FINGERPRINTS_KEPT
    assert state.fingerprints[0] == ("5", "5v")
    assert state.fingerprints[-1] == ("14",)
    assert state.baseline == "before"


def test_waiting_for_a_rate_limit_pushes_no_state_out() -> None:
    limited = [seen(number, "a", outcome=LIMITED) for number in range(2, 40)]
    state = RunState.of(RUN, [seen(1, "a"), *limited, seen(40, "half-changed", outcome=LIMITED)])
    assert state.fingerprints == (("before",), ("a", "half-changed"))
    assert RunState.of(RUN.model_copy(update={"fingerprint": None}), [limited[0]]).fingerprints == (("a",),)


def test_a_rate_limit_leaves_everything_as_it_was_but_the_count() -> None:
    first = iteration(session_id="s1", text="hello", decision=Continue(feedback="mend it"))
    limited = iteration(2, outcome=LIMITED, decision=Pause(until=AT, reason="slow down"))
    before, after = RunState.of(RUN, [first]), RunState.of(RUN, [first, limited])
    assert after.number == 2
    assert after.guidance.feedback == "mend it"
    for kept in ("past", "session_id", "session_executor", "executors"):
        assert getattr(after, kept) == getattr(before, kept)
    assert after.paused is not None


def test_an_outage_leaves_what_the_next_agent_is_told_as_it_was() -> None:
    told = iteration(decision=Continue(pivot="the same reply 3 times"))
    silent = iteration(2, outcome=Failed(failure="unavailable"), decision=Continue(feedback="it failed"))
    assert RunState.of(RUN, [told, silent]).guidance == told.decision
    begun = silent.model_copy(update={"tool_calls": 1})
    assert RunState.of(RUN, [told, begun]).guidance == begun.decision


def test_a_session_that_a_rate_limit_broke_off_is_gone_on_with() -> None:
    limited = iteration(outcome=LIMITED, session_id="new")
    assert RunState.of(RUN, [limited]).session_id == "new"


def test_other_pauses_bring_their_own_word() -> None:
    pause = Pause(until=AT, reason="calls_per_hour: 2 of 2", then=Continue(feedback="1 failed"))
    state = RunState.of(RUN, [iteration(decision=Continue(feedback="older")), iteration(2, decision=pause)])
    assert state.guidance.feedback == "1 failed"


def test_an_iteration_that_did_not_come_to_its_end_was_answered_by_nobody() -> None:
    outcomes = [Answered(), Failed(failure="crashed"), TimedOut(limit="idle", after=1), Interrupted(by="signal")]
    records = [iteration(number, outcome=outcome) for number, outcome in enumerate(outcomes, start=1)]
    state = RunState.of(RUN, [*records, iteration(5, executor="copilot-cli"), iteration(6, executor="")])
    assert state.executors == {"copilot-sdk": 1, "copilot-cli": 1}


def test_only_the_window_of_past_iterations_is_kept() -> None:
    state = RunState.of(RUN, [iteration(number, text=f"{number}") for number in range(1, PAST_KEPT + 4)])
    assert [past.text for past in state.past] == [f"{number}" for number in range(4, PAST_KEPT + 4)]
    assert len(state.past) == PAST_KEPT


def test_what_a_service_says_in_the_agents_place_is_not_looked_back_on() -> None:
    down = Failed(failure="unavailable", status=503)
    records = [iteration(1, text="a"), iteration(2, text="Error 503", outcome=down), iteration(3, text="b")]
    begun = iteration(4, text="c", outcome=down, tool_calls=2)
    assert [past.text for past in RunState.of(RUN, [*records, begun]).past] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("decision", "ended", "paused"),
    [
        (Continue(), False, False),
        (Complete(reason="done"), True, False),
        (Halt(stop_reason="stuck", reason="circles"), True, False),
        (Pause(until=AT, reason="slow down"), False, True),
    ],
)
def test_where_the_run_stands(decision: Any, ended: bool, paused: bool) -> None:
    state = RunState.of(RUN, [iteration(decision=decision)])
    assert ((state.ended is not None), (state.paused is not None)) == (ended, paused)


@pytest.mark.parametrize(("reset_after", "expected"), [(1, "half_open"), (0, "open")])
def test_a_breaker_reset_by_hand_counts_until_the_next_iteration(reset_after: int, expected: str) -> None:
    opened = iteration(breaker=BreakerState(state="open", opened_at=AT))
    run = RUN.model_copy(update={"breaker": BreakerState(state="half_open"), "reset_after": reset_after})
    assert RunState.of(run, [opened]).breaker.state == expected


def test_a_fold_in_two_parts_is_the_whole_fold() -> None:
    records = [seen(1, "a"), seen(2, "b", outcome=LIMITED), seen(3, "c", "d"), iteration(4, session_id="s")]
    part = RunState.of(RUN, records[:2])
    for record in records[2:]:
        part = part.after(record)
    assert part == RunState.of(RUN, records)


@pytest.mark.parametrize(
    "record",
    [
        iteration(),
        iteration(
            text="完成 \u2028 done",
            outcome=Failed(failure="unavailable", status=503, retry_after=2.5),
            attempts=(Attempt(executor="copilot-sdk", outcome=TimedOut(limit="tool", after=5), usage=Usage(cost=1)),),
            analysis=Analysis(status=StatusReport(exit_signal=True, reason="已完成所有工作", fields={"TESTS": 12})),
            verification=Verification(verdicts=(Verdict(verifier="pytest", passed=False, signature="1 failed"),)),
            breaker=BreakerState(state="open", opened_at=AT, errors={"a": 5}, reason="…"),
            decision=Pause(until=AT, reason="…", then=Continue(pivot="repeated output", confirm=True)),
            spent=Spent(calls=(AT,), usage=Usage(input_tokens=3)),
        ),
    ],
    ids=["bare", "full"],
)
def test_a_record_is_read_back_as_it_was_written(record: IterationRecord) -> None:
    assert IterationRecord.model_validate_json(record.model_dump_json()) == record


def test_a_run_is_read_back_as_it_was_written() -> None:
    run = RUN.model_copy(
        update={
            "plan": parse_plan("- [ ] 一"),
            "settings": {"limits": {"max_cost": 1.5}, "verify": ["a"]},
            "stop_reason": "completed",
            "executors": {"copilot-cli": 2},
            "still_open": ("two",),
            "breaker": BreakerState(trips=1),
        }
    )
    assert RunRecord.model_validate_json(run.model_dump_json()) == run


@pytest.mark.parametrize(
    ("plan", "count"),
    [
        (None, None),
        (TaskPlan(), PlanCount(done=0, total=0)),
        (parse_plan("- [x] a\n- [ ] b\n# Optional\n- [x] c"), PlanCount(done=1, total=2)),
    ],
)
def test_a_plan_is_counted_without_what_is_optional(plan: TaskPlan | None, count: PlanCount | None) -> None:
    assert PlanCount.of(plan) == count


def test_who_resumes_after_the_clock_was_set_back_waits_no_longer_for_the_breaker() -> None:
    last = iteration(breaker=BreakerState(state="open", opened_at=AT, reason="…"), decision=Pause(until=AT, reason="…"))
    now, breaker = AT - timedelta(days=1), CircuitBreaker(BreakerSettings(cool_down=60))
    state = RunState.of(RUN, [last]).as_of(now)
    assert breaker.open_until(state.breaker) == now + timedelta(seconds=60)
    assert state.paused == Pause(until=now, reason="…")
    later = RunState.of(RUN, [last]).as_of(AT + timedelta(days=1))
    assert breaker.open_until(later.breaker) == AT + timedelta(seconds=60)


def test_a_turn_that_was_ended_in_circles_is_told_of_once() -> None:
    ended: dict[str, Any] = {"outcome": Interrupted(by="circles", detail="the same call"), "tool_calls": 60}
    assert RunState.of(RUN, [iteration(**ended)]).cut_short == "", "the feedback says so already"
    halted = iteration(**ended, decision=Halt(stop_reason="stuck", reason="…"))
    assert RunState.of(RUN, [halted]).cut_short == "it was ended before its time"
