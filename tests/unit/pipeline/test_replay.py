"""Where a recorded run ends, and what ending there saves and cuts."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.cli.replay_report import replayed_json
from ralph.cli.replay_sources import Line
from ralph.decision.limits import Limits
from ralph.pipeline.evaluate import Rules
from ralph.pipeline.replay import Moves, Pass, Replay, Replayed, Step, failure_of
from ralph.settings import load_settings
from ralph.system.files import as_object
from ralph.types.output import Failed, Interrupted, Usage
from ralph.types.plan import parse_plan

AT = datetime(2026, 1, 1, tzinfo=UTC)
DONE = "All done.\n---RALPH_STATUS---\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---"
BLOCKED = "---RALPH_STATUS---\nEXIT_SIGNAL: false\nSTATUS: BLOCKED\nREASON: no key\n---END_RALPH_STATUS---"
LIMITED = Failed(failure="rate_limited", message="429")
NOTHING = Moves(files=0, commits=0)
SOMETHING = Moves(files=2, commits=1)


def worked(number: int, **more: Any) -> Pass:
    return Pass(text=f"Wrote part {number} of the parser; part {number + 1} is next.", changes=SOMETHING, **more)


def idle(number: int = 0, **more: Any) -> Pass:
    return Pass(text=f"I have looked at file number {number}.", changes=NOTHING, **more)


def replayed(*passes: Pass, **settings: Any) -> Replayed:
    found = load_settings([]).settings.model_copy(update=settings)
    limits = found.limits if "limits" in settings else Limits(max_iterations=None)
    replay = Replay(Rules.of(found, limits=limits), "r")
    for heard in passes:
        replay.add(heard)
    return replay.result


def decisions(result: Replayed) -> list[tuple[int, str]]:
    return [(step.index, step.decision) for step in result.steps]


def test_a_run_that_gets_on_goes_on_to_its_end() -> None:
    result = replayed(*map(worked, range(60)))
    assert (result.stopped_at, result.stop_reason, result.saved, result.cut) == (None, None, 0, 0)
    assert decisions(result) == [(index, "continue") for index in range(60)]


def test_after_its_end_nothing_is_looked_at_but_what_it_cost_and_moved() -> None:
    rest = [worked(2, usage=Usage(cost=2.0)), idle(usage=Usage(cost=0.5)), Pass(text="?"), worked(3)]
    result = replayed(worked(1, usage=Usage(cost=1.0)), Pass(text=DONE, changes=SOMETHING), *rest)
    assert (result.stopped_at, result.stop_reason) == (1, "completed")
    assert decisions(result) == [(0, "continue"), (1, "complete")]
    assert (result.saved, result.saved_cost, result.saved_costless) == (4, 2.5, 2)
    assert (result.cut, result.cut_unknown) == (2, 1)
    assert (result.passes, result.cost, result.costless) == (6, 3.5, 3)
    assert [piece.signal for piece in result.evidence] == ["exit_signal"]


def test_nothing_is_verified_so_a_doubted_claim_waits_for_its_confirmation() -> None:
    result = replayed(Pass(text=DONE, changes=NOTHING), Pass(text=DONE, changes=NOTHING))
    assert decisions(result) == [(0, "continue"), (1, "complete")]


def test_without_progress_the_breaker_opens_and_what_is_unknown_counts_for_nothing() -> None:
    opened = replayed(idle(1), idle(2), idle(3), worked(4))
    assert (opened.stopped_at, opened.stop_reason, opened.cut) == (2, "circuit_open", 1)
    assert opened.steps[-1].breaker == "open"
    unknown = replayed(*(Pass(text=f"I have looked at file number {number}.") for number in range(9)))
    assert unknown.stopped_at is None


def test_without_a_tool_nothing_can_have_been_changed() -> None:
    for known in (None, Moves(files=0)):
        passes = [Pass(text=f"Hm, {number}?.", tools=0, changes=known) for number in range(5)]
        assert replayed(*passes).stop_reason is not None


def test_a_pause_skips_the_limited_passes_that_follow_and_counts_against_nothing() -> None:
    limited = Pass(outcome=LIMITED, changes=NOTHING)
    result = replayed(worked(1), limited, limited, limited, limited, worked(2), limited, worked(3))
    assert result.stopped_at is None
    assert decisions(result) == [(0, "continue"), (1, "pause"), (5, "continue"), (6, "pause"), (7, "continue")]
    assert result.skipped == 3
    assert [step.breaker for step in result.steps] == ["closed"] * 5


def test_what_a_skipped_pass_has_changed_is_not_the_progress_of_the_next() -> None:
    limited = Pass(outcome=LIMITED, changes=Moves(fingerprint="b"))
    later = [Pass(text=f"Looked at {number}.", changes=Moves(fingerprint="b")) for number in range(3)]
    result = replayed(
        Pass(text="Began.", changes=Moves(files=1, fingerprint="a")),
        limited,
        limited,
        *later,
    )
    assert result.stop_reason == "circuit_open"


def test_an_outage_is_waited_for_and_ends_nothing() -> None:
    out = Pass(text="API Error: 503", outcome=failure_of("API Error: 503 Service Unavailable"), changes=NOTHING)
    for silent in (out, out.model_copy(update={"changes": None})):
        assert replayed(worked(1), silent, silent, silent, silent, worked(2), idle(3)).stopped_at is None
        long = replayed(worked(1), *[silent] * 8, worked(2))
        assert (long.stopped_at, long.skipped) == (None, 7), "Ralph would have waited"
        assert "the service does not answer" in long.steps[1].reason
    assert replayed(worked(1), idle(1), out, idle(2), out, idle(3)).stop_reason == "circuit_open"


def test_a_pivot_is_shown_with_what_repeats_and_the_second_circle_halts() -> None:
    same = Pass(text="I will look into the parser and come back to you with what I have found there.")
    result = replayed(*[same] * 9)
    pivots = [step for step in result.steps if step.pivot]
    assert pivots
    assert all(step.decision == "continue" for step in pivots)
    assert (result.stop_reason, result.saved > 0) == ("stuck", True)


def test_blocked_twice_needs_a_person() -> None:
    result = replayed(worked(1), Pass(text=BLOCKED), Pass(text=BLOCKED), worked(2))
    assert (result.stopped_at, result.stop_reason) == (2, "blocked")


def test_an_unaccepted_login_ends_it_at_once() -> None:
    result = replayed(Pass(outcome=failure_of("401: please run /login")), worked(1))
    assert (result.stopped_at, result.stop_reason) == (0, "executor_unavailable")


@pytest.mark.parametrize(
    ("marks", "progressed"),
    [
        (["a", "b", "c"], [None, True, True]),
        (["a", "b", "a"], [None, True, False]),
        (["a", "a"], [None, False]),
        ([(1, "a"), (1, "b"), (1, "a")], [True, True, False]),
        ([(0, "a"), (0, "a"), (1, "b")], [False, False, True]),
        ([(0, None), (1, None), (0, None)], [False, True, False]),
        ([None, (0, None), (1, "a"), (0, None), (1, "a")], [None, False, True, False, False]),
        ([(1, None), (None, "a"), (None, "b"), None, (0, None)], [True, None, True, None, False]),
    ],
    ids=str,
)
def test_fingerprints_are_compared_with_earlier_ones_as_in_a_live_run(
    marks: list[Any], progressed: list[bool | None]
) -> None:
    passes: list[Pass] = []
    for number, mark in enumerate(marks):
        files, name = mark if isinstance(mark, tuple) else (None, mark)
        moves = None if mark is None else Moves(files=files, commits=0 if files == 0 else None, fingerprint=name)
        passes.append(Pass(text=f"Went on with the {number}th part.", tools=3, changes=moves))
    assert [step.progressed for step in replayed(*passes).steps] == progressed


def test_boxes_of_the_plan_are_compared_with_the_first_one_told() -> None:
    half, whole = "- [x] one\n- [ ] two\n", "- [x] one\n- [x] two\n"
    begun = Pass(text="Read all of it.", changes=NOTHING, plan=parse_plan(half))
    assert replayed(begun, Pass(text="Went on.", plan=parse_plan(half)), Pass(text="Went on.")).stopped_at is None
    done = replayed(begun, Pass(text="Ticked it.", plan=parse_plan(whole)))
    assert (done.stopped_at, done.stop_reason) == (1, "completed")
    ticked_before = replayed(Pass(text="Read all of it.", changes=NOTHING, plan=parse_plan(whole)))
    assert ticked_before.stopped_at is None


def test_a_box_ticked_late_is_progress_that_was_cut() -> None:
    result = replayed(
        Pass(text=DONE, changes=SOMETHING, plan=parse_plan("- [x] a")),
        Pass(text="?", plan=parse_plan("- [x] a\n- [x] b")),
        Pass(text="?", plan=parse_plan("- [x] a\n- [x] b")),
    )
    assert (result.cut, result.cut_unknown) == (1, 1)


def test_a_limit_on_the_cost_is_kept_and_one_on_the_hour_waits_by_the_recorded_times() -> None:
    dear = replayed(*(worked(number, usage=Usage(cost=1.0)) for number in range(5)), limits=Limits(max_cost=3.0))
    assert (dear.stopped_at, dear.stop_reason, dear.saved_cost) == (2, "limit_reached", 2.0)
    hourly = Limits(max_iterations=None, calls_per_hour=2)
    quick = replayed(*(worked(n, at=AT + timedelta(minutes=n)) for n in range(4)), limits=hourly)
    assert [step.decision for step in quick.steps] == ["continue", "pause", "pause", "pause"]
    slow = replayed(*(worked(n, at=AT + timedelta(hours=n)) for n in range(4)), limits=hourly)
    assert {step.decision for step in slow.steps} == {"continue"}


def test_a_run_whose_time_is_over_while_it_waits_ends_before_the_next_pass() -> None:
    limits = Limits(max_iterations=None, max_duration=600)
    waits = Pass(outcome=Failed(failure="rate_limited", retry_after=3_600), duration=60.0, at=AT)
    result = replayed(worked(1, at=AT), waits, worked(2, at=AT + timedelta(hours=2)), limits=limits)
    assert (result.stopped_at, result.stop_reason) == (1, "limit_reached")
    assert decisions(result) == [(0, "continue"), (1, "pause"), (1, "halt")]
    assert (result.saved, result.cut) == (1, 1)


def test_an_open_breaker_that_waits_lets_a_pass_probe() -> None:
    settings = load_settings([]).settings.breaker.model_copy(update={"when_open": "wait"})
    result = replayed(idle(1), idle(2), idle(3), worked(4), worked(5), breaker=settings)
    assert [(step.decision, step.breaker) for step in result.steps][2:] == [
        ("pause", "open"),
        ("continue", "closed"),
        ("continue", "closed"),
    ]


def test_a_run_that_a_limit_ended_within_a_turn_is_taken_up_again_where_it_holds_no_more() -> None:
    cut = worked(1, outcome=Interrupted(by="limit", detail="max_tokens: 9 of 5"), usage=Usage(output_tokens=9))
    extended = replayed(cut, worked(2, resumed=True))
    assert (decisions(extended), extended.resumed) == ([(0, "halt"), (1, "continue")], [1])
    held = replayed(cut, worked(2, resumed=True), limits=Limits(max_tokens=5))
    assert (held.stopped_at, held.stop_reason, held.saved, held.resumed) == (0, "limit_reached", 1, [])


def test_nothing_after_an_end_is_looked_at_however_much_later_it_is_or_what_its_task() -> None:
    done = Pass(text=DONE, changes=SOMETHING, task="The import", at=AT, duration=600.0)
    beside = worked(1, at=AT + timedelta(minutes=5))
    other = worked(2, at=AT + timedelta(days=2)).model_copy(update={"task": "The export"})
    result = replayed(done, beside, other)
    assert decisions(result) == [(0, "complete")]
    assert (result.stopped_at, result.saved, result.cut) == (0, 2, 2)


@pytest.mark.parametrize("at", [datetime(8999, 12, 31, tzinfo=UTC), datetime(1970, 1, 1, tzinfo=UTC)])
def test_far_off_times_and_endless_durations_break_nothing(at: datetime) -> None:
    passes = [Pass(outcome=LIMITED, at=at, duration=1e12), worked(1, at=at, duration=1e12)] * 3
    assert replayed(*passes).passes == 6


def test_a_step_counts_from_the_first_pass_of_the_run() -> None:
    assert replayed(worked(1)).steps == [
        Step(0, "continue", "nothing says that the task is done", "closed", True),
    ]


texts = st.text(max_size=40) | st.sampled_from([
    DONE,
    BLOCKED,
    "429",
    "true",
    "- [x] a\n- [ ] b",
    "2026-01-01T00:00:00Z",
])
numbers = st.integers(-5, 10**13) | st.floats()
told = st.none() | st.booleans() | numbers | texts | st.lists(texts, max_size=2)
held = told | st.dictionaries(st.sampled_from(["files", "commits", "fingerprint", "cost", "input_tokens"]), told)
fields = ["text", "error", "denials", "tools", "changes", "plan", "usage", "cost", "duration", "at", "run", "task"]


@given(st.lists(st.dictionaries(st.sampled_from(fields), held), max_size=8), st.sampled_from(["stop", "wait"]))
def test_whatever_a_line_holds_it_is_a_pass_or_a_complaint(lines: list[dict[str, Any]], when_open: str) -> None:
    breaker = load_settings([]).settings.breaker.model_copy(update={"when_open": when_open})
    read = [as_object(json.dumps({"text": "?", **line}).encode(), Line) for line in lines]
    passes = [line.as_pass() for line in read if not isinstance(line, str)]
    result = replayed(*passes, breaker=breaker)
    assert result.passes == len(passes)
    made = {step.index for step in result.steps}
    assert len(made) + result.skipped + result.saved == len(passes)
    assert result.stopped_at is None or result.stopped_at == max(made)
    assert json.dumps(replayed_json(result), allow_nan=False)
