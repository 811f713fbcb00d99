"""What a display shows: a fold over the events, and text that does nothing to a terminal."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.decision.breaker import BreakerState
from ralph.decision.outcomes import Complete, Continue, Decision, Halt, Pause
from ralph.records import events
from ralph.records.events import Event
from ralph.records.projection import RunView, describe, numbered
from ralph.records.record import PlanCount
from ralph.system.text import duration, printable
from ralph.types.output import Answered, Attempt, Failed, ToolCall, Usage
from ralph.types.verification import Verdict

AT = datetime(2026, 1, 1, 12, 30, tzinfo=UTC)
STAMP: dict[str, Any] = {"run_id": "r", "at": AT, "iteration": 1}
TOOL = ToolCall(id="1", name="bash", arguments='{"command": "pytest -q"}')


def view(*happened: Event) -> RunView:
    folded = RunView()
    for event in happened:
        folded = folded.after(event)
    return folded


def finished(**facts: Any) -> events.IterationFinished:
    common: dict[str, Any] = {"outcome": Answered(), "decision": Continue()}
    return events.IterationFinished(**STAMP, **(common | facts))


STARTED = events.RunStarted(**STAMP, task="mend it", workspace="/w", executor="fallback", max_iterations=5)
ENDED = events.RunFinished(
    **STAMP,
    stop_reason="completed",
    verified=True,
    detail="done",
    iterations=2,
    executors={},
    usage=Usage(input_tokens=9),
    duration=3,
)


def test_a_run_from_its_beginning_to_its_end() -> None:
    begun = view(STARTED, events.IterationStarted(**STAMP, prompt="…"))
    assert (begun.run_id, begun.task, begun.state, begun.iteration) == ("r", "mend it", "running", 1)
    assert (begun.activity, begun.since, begun.executor, begun.max_iterations) == ("thinking", AT, "fallback", 5)
    streaming = begun.after(events.MessageStreamed(**STAMP, text="hel")).after(
        events.MessageStreamed(**STAMP, text="lo")
    )
    assert (streaming.message, streaming.activity) == ("hello", "answering")
    using = streaming.after(events.ToolStarted(**STAMP, tool=TOOL))
    assert (using.activity, using.message) == ("$ pytest -q", "hello")
    assert using.after(events.MessageStreamed(**STAMP, text="next")).message == "next"
    assert using.after(events.MessageReceived(**STAMP, text=" ", tool_calls=1)).message == "hello"
    assert using.after(events.ToolFinished(**STAMP, tool=TOOL)).activity == "thinking"
    over = using.after(finished(text="All done.", executor="copilot-cli", plan=PlanCount(done=1, total=2)))
    assert (over.message, over.executor, over.plan) == ("All done.", "copilot-cli", PlanCount(done=1, total=2))
    assert over.after(finished(plan=None)).plan == PlanCount(done=1, total=2), "the agent has taken it away"
    done = over.after(ENDED)
    assert (done.state, done.stop_reason, done.verified, done.detail) == ("finished", "completed", True, "done")


def test_what_the_agent_does_and_its_last_tools() -> None:
    later: dict[str, Any] = {**STAMP, "at": AT + timedelta(seconds=5)}
    edit = ToolCall(id="2", name="edit", arguments='{"path": "/w/src/a.py", "new_str": "{"}')
    both = view(STARTED, events.ToolStarted(**STAMP, tool=TOOL), events.ToolStarted(**later, tool=edit))
    assert (both.activity, both.activity_since) == ("edit src/a.py", later["at"])
    ended = edit.model_copy(update={"success": False, "denied": True, "duration": 2.5})
    one = both.after(events.ToolFinished(**later, tool=ended))
    assert (one.activity, [use.text for use in one.running]) == ("$ pytest -q", ["$ pytest -q"])
    assert [(use.text, use.outcome, use.duration) for use in one.tools] == [("edit src/a.py", "denied", 2.5)]
    done = events.ToolFinished(**later, tool=TOOL.model_copy(update={"success": True}))
    many = one
    for _ in range(20):
        many = many.after(events.ToolStarted(**later, tool=TOOL)).after(done)
    assert (many.activity, many.running, len(many.tools), many.tools[-1].outcome) == ("thinking", (), 8, "ok")
    again = many.after(events.ToolStarted(**later, tool=TOOL))
    assert again.after(events.IterationStarted(**STAMP)).running == (), "a turn that was cut off has left it"


def test_the_limits_with_what_is_used_and_the_expected_end() -> None:
    limits = {"max_iterations": 10, "max_duration": 7200, "max_cost": 4, "max_tokens": 1000}
    begun = STARTED.model_copy(
        update={"limits": limits, "plan": PlanCount(done=2, total=8), "model": "m", "verifiers": ("pytest",)}
    )
    now = AT + timedelta(minutes=10)
    first = view(begun, events.IterationStarted(**STAMP))
    assert (first.model, first.verifiers, first.expected_end(now)) == ("m", ("pytest",), None)
    over = finished(usage=Usage(cost=1), plan=PlanCount(done=4, total=8), model="m-2").model_copy(update={"at": now})
    run = first.after(over)
    assert run.used(now) == (("max_iterations", 1, 10), ("max_duration", 600, 7200), ("max_cost", 1, 4))
    assert (run.model, run.expected_end(now)) == ("m-2", (now + timedelta(minutes=20), "plan"))
    assert run.model_copy(update={"plan": None}).expected_end(now) == (now + timedelta(minutes=30), "max_cost")
    whole = PlanCount(done=8, total=8)
    assert run.model_copy(update={"plan": whole}).expected_end(now) == (now + timedelta(minutes=30), "max_cost")
    more = run.after(events.Extended(**STAMP, added={"max_cost": 4}, limits={"max_cost": 8, "max_iterations": None}))
    assert (more.limits["max_cost"], more.max_iterations) == (8, None)
    assert "max_iterations" not in more.limits
    assert run.after(events.Paused(**STAMP, until=None, reason="")).expected_end(now) is None


def test_a_run_that_continues_counts_what_it_has_used_before() -> None:
    resumed: dict[str, Any] = {"resumed": True, "usage": Usage(cost=3), "duration": 100.0, "iteration": 4}
    again = STARTED.model_copy(update={**resumed, "limits": {"max_duration": 1000}})
    now = AT + timedelta(seconds=50)
    alone = view(again)
    assert (alone.usage.cost, alone.iteration, alone.used(now)) == (3, 4, (("max_duration", 150, 1000),))
    whole = view(STARTED, events.IterationStarted(**STAMP), finished(usage=Usage(cost=3)), again)
    assert (whole.usage.cost, whole.elapsed(now)) == (3, 150)


def test_usage_adds_up_and_the_run_has_the_last_word() -> None:
    used = Usage(input_tokens=2, cost=0.5)
    running = view(STARTED, finished(usage=used), finished(usage=used))
    assert running.usage == Usage(input_tokens=4, cost=1)
    assert running.after(ENDED).usage == Usage(input_tokens=9)


def test_a_pause_and_what_follows_it() -> None:
    until = AT + timedelta(minutes=5)
    paused = view(STARTED, events.Paused(**STAMP, until=until, reason="rate limited"))
    assert (paused.state, paused.paused_until, paused.activity) == ("paused", until, "rate limited")
    resumed = paused.after(events.Resumed(**STAMP))
    assert (resumed.state, resumed.paused_until, resumed.activity) == ("running", None, "")


def test_a_run_that_is_taken_up_again_is_no_longer_finished() -> None:
    ended = ENDED.model_copy(update={"stop_reason": "circuit_open", "detail": "open"})
    again = view(STARTED, ended, events.RunStarted(**STAMP, task="mend it", resumed=True))
    assert (again.state, again.stop_reason, again.verified, again.detail) == ("running", None, False, "")


def test_the_breaker_a_fallback_and_a_verification_are_shown() -> None:
    warned = view(events.BreakerChanged(**STAMP, before="closed", breaker=BreakerState(warning=True, reason="idle")))
    assert (warned.breaker, warned.breaker_warning) == ("closed", "idle")
    opened = warned.after(
        events.BreakerChanged(**STAMP, before="closed", breaker=BreakerState(state="open", opened_at=AT))
    )
    assert (opened.breaker, opened.breaker_warning) == ("open", "")
    attempt = Attempt(executor="a", outcome=Failed(failure="crashed"))
    fell = view(events.ExecutorFellBack(**STAMP, before="a", after="b", attempt=attempt))
    assert (fell.fallbacks, fell.activity) == (1, "a failed, b tries next")
    again = view(events.ExecutorFellBack(**STAMP, before="a", after="a", attempt=attempt))
    assert (again.fallbacks, again.activity) == (0, "a failed and is asked again")
    assert view(events.VerificationStarted(**STAMP, verifier="review")).activity == "verifying: review"
    verdicts = (Verdict(verifier="pytest", passed=False),)
    assert "failed" in view(events.VerificationFinished(**STAMP, passed=False, verdicts=verdicts)).activity


def test_iterations_that_met_a_rate_limit_are_numbered_but_do_not_count() -> None:
    decision = Continue(reason="")
    met = events.IterationFinished(**STAMP, outcome=Failed(failure="rate_limited", status=429), decision=decision)
    crashed = events.IterationFinished(**STAMP, outcome=Failed(failure="crashed"), decision=decision)
    assert view(STARTED, met, met, crashed).limited == 2
    later: dict[str, Any] = {**STAMP, "iteration": 3}
    third = events.IterationStarted(**later)
    begun = STARTED.model_copy(update={"limits": {"max_iterations": 5}})
    assert view(begun, met, met, third).used(AT) == (("max_iterations", 1, 5),)
    assert numbered(3, 1, 2) == "3, counts as 1 of 1"
    assert numbered(3, 5) == "3 of 5"
    assert numbered(3, None, 2) == "3"


def test_of_a_long_message_the_end_is_kept() -> None:
    pieces = [events.MessageStreamed(**STAMP, text="x" * 1500 + f"{number}") for number in range(3)]
    shown = view(*pieces).message
    assert shown.endswith("2")
    assert len(shown) == 2000
    assert len(view(events.MessageReceived(**STAMP, text="y" * 10**6)).message) == 2000


def test_an_event_of_no_interest_changes_nothing() -> None:
    begun = view(STARTED)
    assert begun.after(events.Diagnosed(**STAMP, text="restarted")) == begun


@pytest.mark.parametrize(
    ("decision", "line"),
    [
        (Continue(reason="work is left"), "continue: work is left"),
        (Complete(reason="done", verified=True), "complete, verified: done"),
        (Complete(reason="done"), "complete, claimed, not verified: done"),
        (Halt(stop_reason="stuck", reason="circles"), "stop (stuck): circles"),
        (Pause(until=AT, reason="slow down"), f"pause until {AT.astimezone():%H:%M:%S}: slow down"),
    ],
)
def test_a_decision_in_one_line(decision: Decision, line: str) -> None:
    assert describe(decision) == line


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "0.0 s"),
        (4.24, "4.2 s"),
        (59.94, "59.9 s"),
        (59.96, "1 min 0 s"),
        (200, "3 min 20 s"),
        (3599.4, "59 min 59 s"),
        (3599.6, "1 h 0 min"),
        (7500, "2 h 5 min"),
        (90_000, "25 h 0 min"),
        (float("inf"), "inf s"),
        (float("nan"), "nan s"),
    ],
)
def test_seconds_as_people_say_them(seconds: float, said: str) -> None:
    assert duration(seconds) == said


UNPRINTABLE = [
    ("plain 文字 — ok\n\ttabs stay", "plain 文字 — ok\n\ttabs stay"),
    ("\x1b[31mred\x1b[0m", "red"),
    ("\x1b[2J\x1b[1;1Hcleared", "cleared"),
    ("\x1b]0;title\x07after", "after"),
    ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
    ("\x1b]0;never ended\nthe next line is shown", "]0;never ended\nthe next line is shown"),
    ("over\rwritten", "over\nwritten"),
    ("dos\r\nlines", "dos\nlines"),
    ("bell\x07 back\x08space nul\x00 del\x7f c1\x9b31m", "bell backspace nul del c131m"),
    ("\u202egnp.exe\u202c \u2066a\u2069 \u061cb\u200f", "gnp.exe a b"),
    ("do\u200bne so\u00adft \ufeffmark \u2060tag\U000e0041", "done soft mark tag"),
    ("one\u2028line\u2029only", "onelineonly"),
    ("half \ud83d surrogate", "half  surrogate"),
    ("at the end \x1b", "at the end "),
    ("\x1b[", "["),
    ("", ""),
]


def test_nothing_printable_moves_a_terminal(subtests: pytest.Subtests) -> None:
    for text, shown in UNPRINTABLE:
        with subtests.test(text=text):
            assert printable(text) == shown


@given(st.text(alphabet=st.characters() | st.sampled_from("\x1b[]m\x07\\;0\x9b\u202e\u200b\u2028\ufeff"), max_size=300))
def test_printable_text_is_bounded_encodable_and_free_of_controls(text: str) -> None:
    shown = printable(text, 100)
    assert len(shown) <= 102
    assert shown.encode().decode() == shown
    assert not any(ord(character) < 32 and character not in "\n\t" for character in shown)
    assert not set(shown) & set("\x1b\x7f\x9b\u202e\u2066\u200b\u2028\u2029\ufeff")


@pytest.mark.timeout(10)
@pytest.mark.parametrize("hostile", ["\x1b[", "\x1b[0", "\x1b]", "\x1b[" + "0" * 50, "\x1b[ ", "\x1b"])
def test_hostile_text_is_cleaned_in_linear_time(hostile: str) -> None:
    assert len(printable(hostile * 200_000, 1_000_000)) <= 1_000_002
