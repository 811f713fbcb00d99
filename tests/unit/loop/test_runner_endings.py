"""Every run ends, and for the right reason: also where nothing changes, and where waits and limits meet."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.cli.run import exit_code
from ralph.decision.breaker import BreakerSettings, CircuitBreaker
from ralph.decision.claims import WORDS_ALONE
from ralph.decision.limits import DecisionSettings, Limits
from ralph.decision.outcomes import Pause
from ralph.errors import UsageError
from ralph.hooks import Hooks
from ralph.loop.runner import Runner
from ralph.records.events import IterationFinished
from ralph.records.record import RunRecord
from ralph.store import MemoryStore
from ralph.testing import FakeClock, Reply, ScriptedExecutor
from ralph.types.output import Changes, Failed, Output, TimedOut, ToolCall
from ralph.types.plan import TaskPlan, parse_plan
from ralph.types.verification import Verdict
from ralph.verifiers.base import Subject, Verifier
from ralph.workspace.base import NoWorkspace, Snapshot

DONE = "All done.\n---RALPH_STATUS---\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---"
WORKING = "More to do.\n---RALPH_STATUS---\nEXIT_SIGNAL: false\n---END_RALPH_STATUS---"
BLOCKED = "---RALPH_STATUS---\nEXIT_SIGNAL: true\nSTATUS: BLOCKED\nREASON: no key\n---END_RALPH_STATUS---"
WORDS = "All tests passing. No remaining issues. The task is complete."


class Scenery(NoWorkspace):
    """A workspace whose states are a list: one for the start, one after each turn, the last one for ever.

    Args:
        plans: the plan's text at the same moments; None where there is none.
    """

    def __init__(self, *states: str, plans: tuple[str | None, ...] = (None,)) -> None:
        super().__init__(Path("/"))
        self.states, self.plans, self.turns = states, plans, 0

    async def snapshot(self) -> Snapshot:
        return Snapshot(fingerprint=self.states[min(self.turns, len(self.states) - 1)])

    async def changes(self, before: Snapshot, after: Snapshot) -> Changes:
        return Changes(fingerprint=after.fingerprint)

    def plan(self, name: str | None) -> TaskPlan | None:
        text = self.plans[min(self.turns, len(self.plans) - 1)]
        return None if text is None else parse_plan(text)

    def keep_response(self, text: str) -> str:
        self.turns += 1  # the first thing that is done after a turn
        return ""


class Refuses(Verifier):
    name = "checks"

    async def verify(self, subject: Subject) -> Verdict:
        return Verdict(verifier=self.name, passed=False, output="1 failed", signature="failed")


class Seen(Hooks):
    def __init__(self) -> None:
        self.iterations: list[IterationFinished] = []

    async def on_iteration_finished(self, event: IterationFinished) -> None:
        self.iterations.append(event)


def run(replies: list[Reply], scenery: Scenery | None = None, **parts: Any) -> tuple[RunRecord, Seen, ScriptedExecutor]:
    seen, executor = Seen(), ScriptedExecutor(replies)
    workspace = scenery or Scenery(*(f"{number}" for number in range(100)))
    runner = Runner(executor=executor, workspace=workspace, hooks=[seen], clock=FakeClock(), **parts)
    return runner.run_sync("mend it"), seen, executor


replies = st.sampled_from([
    *("", "Looking at it.", DONE, WORKING, BLOCKED, WORDS, "Which database should I use?", "I cannot go on."),
    *("===== 12 passed in 0.1s =====", "```\n---RALPH_STATUS---\nEXIT_SIGNAL: tr", "Error: no such file"),
    *(Failed.model_validate({"failure": kind}) for kind in ("auth", "unavailable", "protocol", "crashed", "refused")),
    TimedOut(limit="idle", after=1),
    Output(text="May I?", tool_calls=(ToolCall(id="1", name="bash", success=False, denied=True),)),
])


@given(
    st.lists(replies, min_size=1, max_size=6),
    st.sampled_from(["stop", "wait"]),
    st.sampled_from([None, 1]),
    st.booleans(),
)
def test_an_agent_that_changes_nothing_never_runs_for_long(
    said: list[Reply], when_open: Any, calls_per_hour: int | None, verified: bool
) -> None:
    record, seen, _ = run(
        said,
        Scenery("the same"),
        limits=Limits(max_iterations=None, calls_per_hour=calls_per_hour, max_duration=20 * 3600),
        breaker=CircuitBreaker(BreakerSettings(when_open=when_open)),
        verify=[Refuses()] if verified else [],
    )
    answered = [each for each in seen.iterations if getattr(each.outcome, "failure", "") != "unavailable"]
    assert len(answered) <= 6
    if record.stop_reason == "limit_reached":
        assert seen.iterations[-1].outcome == said[-1] == Failed(failure="unavailable"), (
            "it waits for the service alone"
        )
    else:
        assert record.stop_reason is not None
        assert record.iterations <= len(answered) + len(said) + 1
    assert not record.verified
    if record.stop_reason == "completed":
        assert not verified
        assert record.still_open, "it says that nothing was changed"
        assert record.iterations >= 2


@pytest.mark.parametrize(
    ("said", "stop_reason", "iterations"),
    [
        ([DONE], "completed", 1),
        ([WORDS, WORDS], "completed", 2),
        ([WORKING, WORDS, DONE], "completed", 3),
        ([BLOCKED, BLOCKED], "blocked", 2),
        ([Output(text=DONE, outcome=Failed(failure="crashed")), WORKING, DONE], "completed", 3),
        ([Output(text=DONE, outcome=TimedOut(limit="idle", after=1)), WORKING, DONE], "completed", 3),
        ([f"{WORDS}\n{WORKING}", DONE], "completed", 2),
        (["The wheel is not done, the rest is incomplete."], "limit_reached", 5),
    ],
)
def test_what_ends_a_run_that_changes_something_each_time(said: list[Reply], stop_reason: str, iterations: int) -> None:
    record, _, _ = run(said, limits=Limits(max_iterations=5))
    assert (record.stop_reason, record.iterations) == (stop_reason, iterations)


class Passes(Refuses):
    async def verify(self, subject: Subject) -> Verdict:
        return Verdict(verifier=self.name, passed=True)


def test_words_alone_are_confirmed_before_they_end_a_run() -> None:
    record, seen, executor = run([WORDS, DONE])
    assert (record.stop_reason, record.iterations, record.still_open) == ("completed", 2, ())
    assert "only words say so, without a status block" in seen.iterations[0].decision.reason
    feedback = executor.prompts[1].text
    assert "Check now that all that the task asks for is there" in feedback
    assert "Then end your message with the status block" in feedback
    record, _, _ = run([WORDS, WORKING, "Hm.", WORDS, WORDS], limits=Limits(max_iterations=9))
    assert (record.iterations, record.still_open) == (5, (WORDS_ALONE,)), "the claims must follow each other"


@pytest.mark.parametrize(
    ("said", "word"),
    [
        ("Done.", "Done"),
        ("All done.", "done"),
        ("I have finished everything you asked for.", "finished"),
        ("Erledigt.", "Erledigt"),
    ],
)
def test_an_agent_whose_words_are_too_few_is_asked_for_the_status_block(said: str, word: str) -> None:
    record, seen, executor = run([said], limits=Limits(max_iterations=4))
    assert (record.stop_reason, record.iterations) == ("limit_reached", 4)
    assert seen.iterations[0].decision.reason == f"one word says done (“{word}”), which needs a second sign"
    assert f"You said “{word}”, but no status block with EXIT_SIGNAL does. Check now" in executor.prompts[1].text
    assert "Then end your message with the status block" in executor.prompts[1].text
    assert record.detail.endswith(
        "; the agent said “done” or the like 4 times, but no status block with EXIT_SIGNAL did"
    )
    record, _, _ = run([said, DONE], limits=Limits(max_iterations=4))
    assert (record.stop_reason, record.iterations, record.still_open) == ("completed", 2, ())


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (
            "The export is done, and the build passes.\nRemaining work: quote fields.",
            "the words say done, but: Something is left to do (“Remaining work”)",
        ),
        ("I read the parser.", "nothing says that the task is done"),
        (WORKING, "the agent says that work is left"),
    ],
)
def test_what_is_contradicted_or_not_said_asks_for_no_block(said: str, reason: str) -> None:
    record, seen, executor = run([said], limits=Limits(max_iterations=2))
    assert [one.decision.reason for one in seen.iterations] == [reason, seen.iterations[1].decision.reason]
    assert "no status block with" not in executor.prompts[1].text
    assert "or the like" not in record.detail


def test_done_is_too_little_while_boxes_are_open() -> None:
    scenery = Scenery(*"abcdef", plans=("- [ ] one\n- [ ] two\n",))
    _, seen, executor = run(["Done."], scenery, limits=Limits(max_iterations=2))
    assert seen.iterations[0].decision.reason == (
        "the words say done, but: 2 items of the plan are open, the first: one"
    )
    assert "no status block with" not in executor.prompts[1].text


@pytest.mark.parametrize(
    ("block", "iterations"),
    [("REASON: whatever", 2), ("STATUS: WORKING", 2), ("STATUS: COMPLETE", 1), ("STATUS: done", 1)],
)
def test_only_a_block_that_says_so_spares_words_their_confirmation(block: str, iterations: int) -> None:
    said = f"The task is complete.\n---RALPH_STATUS---\n{block}\n---END_RALPH_STATUS---"
    record, _, _ = run([said])
    assert (record.stop_reason, record.iterations) == ("completed", iterations)


@pytest.mark.parametrize(
    "parts",
    [
        {"verify": [Passes()]},
        {"decision": DecisionSettings(confirm_words=False)},
        {"strategy": "done_signals"},
    ],
    ids=["a verifier", "switched off", "a strategy of its own"],
)
def test_words_need_no_confirmation_where_something_else_decides(parts: dict[str, Any]) -> None:
    record, _, _ = run([WORDS], **parts)
    assert (record.stop_reason, record.iterations) == ("completed", 1)


# covers: S1-33, K1-1
@pytest.mark.parametrize("strategy", ["auto", "done_signals", "natural_language"])
@pytest.mark.parametrize(
    "said", ["Done.", "50% complete", "完成 50%", "The task is complete. The search page remains."]
)
def test_a_single_word_or_a_part_ends_no_run(strategy: str, said: str) -> None:
    record, _, _ = run([said], strategy=strategy, limits=Limits(max_iterations=2))
    assert (record.stop_reason, record.iterations) == ("limit_reached", 2)


def test_a_plan_that_the_agent_takes_away_is_not_finished() -> None:
    plans = ("- [ ] one\n- [ ] two\n", None)
    record, _, executor = run([DONE], Scenery("a", "b", "c", plans=plans))
    assert (record.stop_reason, record.iterations) == ("completed", 2), "only when the agent has confirmed it"
    assert [doubt.rpartition(" ")[2] for doubt in record.still_open] == ["one", "two"]
    assert "still open in the plan: one" in executor.prompts[1].text


def test_words_do_not_outweigh_open_boxes() -> None:
    plans = ("- [ ] one\n- [ ] two\n",)
    record, _, _ = run([WORDS], Scenery(*"abcdef", plans=plans), limits=Limits(max_iterations=5))
    assert record.stop_reason == "limit_reached"


# An hourly limit makes every iteration end with a wait: what follows from the iteration must not get lost in it.
def test_the_hours_wait_keeps_feedback_and_confirmation() -> None:
    limits = Limits(calls_per_hour=1)
    record, seen, executor = run([DONE, DONE], Scenery("the same"), limits=limits)
    assert (record.stop_reason, record.iterations) == ("completed", 2)
    assert isinstance(seen.iterations[0].decision, Pause)
    assert "changed nothing" in executor.prompts[1].text
    refuted, _, executor = run([DONE], limits=limits, verify=[Refuses()])
    assert refuted.stop_reason == "circuit_open"
    assert "1 failed" in executor.prompts[1].text


@pytest.mark.parametrize(
    ("said", "stop_reason", "iterations"),
    [
        ("===== 12 passed in 0.1s =====", "test_saturation", 3),
        ("I look at the parser once more, and then I decide what to do about all of it.", "stuck", 4),
    ],
)
def test_the_hours_wait_hides_no_stop(said: str, stop_reason: str, iterations: int) -> None:
    breaker = CircuitBreaker(BreakerSettings(no_progress=50))
    record, _, _ = run([said], Scenery("the same"), limits=Limits(calls_per_hour=1), breaker=breaker)
    assert (record.stop_reason, record.iterations) == (stop_reason, iterations)


# covers: KX-7, S1-61
def test_iterations_that_only_run_tests_end_a_run_as_saturated_by_default() -> None:
    record, seen, _ = run(["===== 12 passed in 0.1s ====="], Scenery("the same"))
    assert (record.stop_reason, record.iterations) == ("test_saturation", 3)
    assert seen.iterations[-1].breaker.state == "open", "a resumed run asks for a reset, as after any open breaker"


def test_an_open_breaker_stops_though_the_hours_wait_outlasts_its_cool_down() -> None:
    said: list[Reply] = ["I looked at the parser.", "The lexer is next.", "Hm."]
    record, _, _ = run(said, Scenery("the same"), limits=Limits(max_iterations=None, calls_per_hour=1))
    assert (record.stop_reason, record.iterations) == ("circuit_open", 3)


# covers: KX-7, S1-61
@pytest.mark.parametrize(
    ("said", "stop_reason"),
    [
        (["Hm."], "stuck"),
        (["===== 12 passed in 0.1s ====="], "test_saturation"),
        (["Looking.", "===== 12 passed in 0.1s ====="], "circuit_open"),
    ],
)
def test_the_most_specific_reason_ends_a_run_by_default(said: list[Reply], stop_reason: str) -> None:
    record, _, _ = run(said, Scenery("the same"))
    assert (record.stop_reason, record.iterations) == (stop_reason, 3)
    assert exit_code(record) == {"stuck": 3, "test_saturation": 3, "circuit_open": 4}[stop_reason]


# covers: S4-45
def test_a_loop_that_finishes_as_the_breaker_opens_is_completed() -> None:
    said: list[Reply] = ["I read A.", "I read B.", DONE, DONE]
    settings = BreakerSettings(no_progress=4)
    record, seen, _ = run(said, Scenery("the same"), breaker=CircuitBreaker(settings))
    assert seen.iterations[-1].breaker.state == "open"
    assert (record.stop_reason, record.iterations, exit_code(record)) == ("completed", 4, 0)


def test_many_rate_limits_do_not_make_an_old_state_new() -> None:
    limited = Failed(failure="rate_limited", retry_after=1)
    flips: list[Reply] = ["first"]
    states = ["a", "b"]
    for number in range(3):
        flips += [*[limited] * 12, f"try {number}"]
        states += [*[states[-1]] * 12, "a" if states[-1] == "b" else "b"]
    record, _, _ = run(flips, Scenery(*states))
    assert record.stop_reason == "circuit_open"


def test_an_executor_that_says_what_is_wrong_has_not_crashed(caplog: pytest.LogCaptureFixture) -> None:
    def wrong(_prompt: object, _turn: object) -> str:
        raise UsageError("There is no such folder.", "Name another one.")

    record, seen, _ = run([wrong])
    assert (record.stop_reason, record.iterations) == ("executor_unavailable", 2)
    assert seen.iterations[0].outcome == Failed(
        failure="unavailable", message="There is no such folder. Name another one."
    )
    assert caplog.text == ""


def test_an_outage_keeps_no_change_of_approach_from_the_agent() -> None:
    same, out = "I will look at the parser again and then decide what to do.", Failed(failure="unavailable")
    patient = CircuitBreaker(BreakerSettings(no_progress=50))
    record, _, executor = run([same, same, same, out, out, same], Scenery("the same"), breaker=patient)
    assert ["different approach" in prompt.text for prompt in executor.prompts] == [False] * 3 + [True] * 3
    assert (record.stop_reason, record.iterations) == ("stuck", 6)


async def test_a_run_that_reached_its_limit_spends_nothing_when_it_is_taken_up_again() -> None:
    store, executor = MemoryStore(), ScriptedExecutor([WORKING])
    limits = Limits(max_iterations=2)
    async with Runner(executor=executor, store=store, limits=limits) as runner:
        stopped = await runner.run("mend it")
        again = await runner.resume(stopped.id)
        assert (again.stop_reason, again.iterations, len(executor.prompts)) == ("limit_reached", 2, 2)
    async with Runner(executor=executor, store=store, limits=Limits(max_iterations=3)) as runner:
        assert (await runner.resume(stopped.id)).iterations == 3


async def test_kept_settings_and_prompts_hold_no_secret() -> None:
    secret = "gh" + "p_" + "a1" * 18
    seen = Seen()
    prompts: list[str] = []

    class Prompts(Hooks):
        async def on_iteration_started(self, event: Any) -> None:
            prompts.append(event.prompt)

    scenery = Scenery("a", "b", plans=(f"- [ ] use {secret}\n",))
    settings = {"executor": {"headers": {"X-Auth": secret}}, "verify": [f"check {secret}"], "limits": {"max_cost": 1.5}}
    executor = ScriptedExecutor([DONE])
    async with Runner(executor=executor, workspace=scenery, settings=settings, hooks=[seen, Prompts()]) as runner:
        record = await runner.run(f"log in with {secret}")
    assert secret not in record.model_dump_json() + "".join(prompts)
    assert len(prompts) == record.iterations
    assert record.settings["limits"] == {"max_cost": 1.5}
