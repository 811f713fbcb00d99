"""A live run and a replay of the same passes come to the same decisions."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ralph.analysis import ResponseAnalyzer
from ralph.decision.breaker import BreakerSettings, CircuitBreaker
from ralph.decision.claims import strategy_named
from ralph.decision.limits import DecisionSettings, Limits
from ralph.decision.outcomes import Halt, Pause, Streaks, following
from ralph.loop.runner import Runner
from ralph.pipeline.evaluate import Rules
from ralph.pipeline.explain import explain
from ralph.pipeline.replay import Moves, Pass, Replay, recorded_pass, recorded_run
from ralph.records.record import IterationRecord, RunRecord
from ralph.store import MemoryStore, open_store
from ralph.store.base import Store
from ralph.testing import FakeClock, Reply, ScriptedExecutor
from ralph.types import evolve
from ralph.types.output import (
    Attempt,
    Changes,
    Failed,
    Interrupted,
    Message,
    Outcome,
    Output,
    TimedOut,
    ToolCall,
    Usage,
)
from ralph.types.plan import TaskPlan, parse_plan
from ralph.types.verification import Verdict, Verification
from ralph.verifiers.base import Subject, Verifier
from ralph.workspace.base import NoWorkspace, Snapshot

BLOCK = "---RALPH_STATUS---\n{}\n---END_RALPH_STATUS---"
DONE = "All done.\n" + BLOCK.format("EXIT_SIGNAL: true")
WORKING = "More to do.\n" + BLOCK.format("EXIT_SIGNAL: false")
BLOCKED = BLOCK.format("EXIT_SIGNAL: true\nSTATUS: BLOCKED\nREASON: no key")
WORDS = "All tests passing. No remaining issues. The task is complete."
QUESTION = "Which database should I use?"
TESTED = "===== 12 passed in 0.1s ====="
LIMITED = "You've hit your usage limit. Try again in 5 minutes."

NO_BOX, ONE_BOX, ALL_BOXES = "- [ ] one\n- [ ] two\n", "- [x] one\n- [ ] two\n", "- [x] one\n- [x] two\n"

PASSES = Verdict(verifier="checks", passed=True)
FAILS = Verdict(verifier="checks", passed=False, output="tests failed", signature="tests failed")
VETOES = Verdict(verifier="checks", passed=False, output="not like this", signature="not like this")
UNKNOWN = Verdict.unknown("checks", "no answer")


def failed(kind: str, **more: Any) -> Failed:
    return Failed.model_validate({"failure": kind, **more})


def calls(allowed: int, denied: int = 0) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(id=str(number), name="bash", success=number >= denied, denied=number < denied)
        for number in range(allowed + denied)
    )


def turn(text: str = "", outcome: Outcome | None = None, **more: Any) -> Output:
    return Output(text=text, **({"outcome": outcome} if outcome else {}), **more)


@dataclass(frozen=True)
class Taken:
    """One pass: what the agent gave, the workspace and the plan after it, and what a verifier would say."""

    reply: Any
    state: str | None = "a"
    plan: str = ""
    verdict: Verdict = PASSES

    @property
    def output(self) -> Output:
        if isinstance(self.reply, str):
            return Output(text=self.reply)
        return self.reply if isinstance(self.reply, Output) else Output(outcome=self.reply)


class Scenery(NoWorkspace):
    """A workspace that is after each turn as the pass says."""

    def __init__(self, start: Taken, taken: list[Taken]) -> None:
        super().__init__(Path("/"))
        self.all, self.turns = [start, *taken], 0

    @property
    def now(self) -> Taken:
        return self.all[min(self.turns, len(self.all) - 1)]

    async def snapshot(self) -> Snapshot:
        return Snapshot(fingerprint=self.now.state)

    async def changes(self, before: Snapshot, after: Snapshot) -> Changes:
        return Changes(fingerprint=after.fingerprint)

    def plan(self, name: str | None) -> TaskPlan | None:
        return parse_plan(self.now.plan) if self.now.plan else None

    def keep_response(self, text: str) -> str:
        self.turns += 1
        return ""


class Checks(Verifier):
    """Says of each turn what the pass says."""

    name = "checks"

    def __init__(self, scenery: Scenery, *, early: bool) -> None:
        self.scenery, self.before_run = scenery, early

    async def verify(self, subject: Subject) -> Verdict:
        return self.scenery.now.verdict


def live(
    start: Taken,
    taken: list[Taken],
    rules: Rules,
    *,
    verified: bool = False,
    early: bool = False,
    resumed: int = 0,
    store: Store | None = None,
) -> tuple[RunRecord, list[IterationRecord]]:
    """Run the passes through the loop; the last one is repeated for as long as the run continues."""
    scenery, store = Scenery(start, taken), store or MemoryStore()
    said: list[Reply] = [each.reply for each in taken]
    runner = Runner(
        executor=ScriptedExecutor(said, measures=("tokens", "cost")),
        workspace=scenery,
        store=store,
        clock=FakeClock(),
        verify=[Checks(scenery, early=early)] if verified else [],
        breaker=rules.breaker,
        limits=rules.limits,
        decision=rules.decision,
        strategy=rules.strategy,
        analyzer=rules.analyzer,
    )

    async def whole() -> tuple[RunRecord, list[IterationRecord]]:
        async with runner:
            run = await runner.run("fix it")
            for _ in range(resumed):
                run = await runner.resume(run.id)
            return run, [record async for record in store.iterations(run.id)]

    return anyio.run(whole)


def as_pass(taken: Taken, record: IterationRecord, *, verified: bool, early: bool) -> Pass:
    """The pass as somebody would have recorded it beside the loop: of Ralph's own record only what it measured."""
    output = taken.output
    said = [message.text for message in output.messages if message.text]
    return Pass(
        text=record.text,
        partial=said[-1] if said and output.outcome.kind != "completed" else "",
        outcome=output.outcome,
        attempts=output.attempts,
        tools=len(output.tool_calls),
        denials=output.denials,
        changes=Moves(fingerprint=taken.state) if taken.state else None,
        plan=parse_plan(taken.plan) if taken.plan else None,
        usage=record.usage,
        at=record.started_at,
        duration=record.duration,
        took=0.0,
        verification=Verification(verdicts=(evolve(taken.verdict, fresh=not early),)) if verified else None,
        left=taken.state,
    )


Made = tuple[str, str, str, bool | None, str]


def decided(records: list[IterationRecord]) -> list[Made]:
    made = [(record, following(record.decision)) for record in records]
    return [
        (
            record.decision.kind,
            record.decision.reason,
            record.breaker.state,
            record.progressed,
            guidance.pivot if guidance else "",
        )
        for record, guidance in made
    ]


def replayed(rules: Rules, run: RunRecord, passes: list[Pass]) -> list[Made]:
    replay = Replay(rules, run.id, run)
    for each in passes:
        replay.add(each)
    assert replay.result.saved == 0
    return [(step.decision, step.reason, step.breaker, step.progressed, step.pivot) for step in replay.result.steps]


_RULES = {"limit_reached": "limit", "circuit_open": "circuit open", "test_saturation": "test saturation"}


def rule_of(record: IterationRecord) -> str:
    """The rule that made a decision, by what only that rule decides."""
    decision = record.decision
    if isinstance(decision, Halt):
        word = "logged out" if decision.reason.startswith("no one is logged in") else "executor unavailable"
        return {**_RULES, "executor_unavailable": word}.get(decision.stop_reason, decision.stop_reason)
    if isinstance(decision, Pause):
        if decision.reason.startswith("the service does not answer"):
            return "outage"
        opened = "circuit open" if decision.reason.startswith("circuit open") else "calls of the hour"
        return "limited" if decision.then is None else opened
    return {"complete": "completed"}.get(decision.kind, decision.kind)


def explained(rules: Rules, run: RunRecord, records: list[IterationRecord]) -> None:
    """Require that each explanation goes by the recorded decision: no rule before the one that made it applies."""
    before = Streaks()
    for record in records:
        decision = explain(rules, run, before, record)[-1]
        assert decision.conclusion == f"{record.decision.kind}: {record.decision.reason}"
        assert decision.lines[-1].text == f"{rule_of(record)}: {record.decision.reason}"
        assert [line.text for line in decision.lines if "by the settings in force" in line.text] == []
        before = record.tally


def compare(
    start: Taken, taken: list[Taken], rules: Rules, *, verified: bool, early: bool = False
) -> list[IterationRecord]:
    run, records = live(start, taken, rules, verified=verified, early=early)
    script = [*taken, *[taken[-1]] * max(0, len(records) - len(taken))]
    passes = [
        as_pass(each, record, verified=verified, early=early) for each, record in zip(script, records, strict=False)
    ]
    made = decided(records)
    # A pause may reach a limit of the run: that end is a step of the replay, and no iteration of the live run.
    beside = replayed(rules, run, passes)
    assert beside[: len(made)] == made
    stored = replayed(rules, recorded_run(run), [recorded_pass(record) for record in records])
    named = [(kind, breaker, progressed, pivot) for kind, _, breaker, progressed, pivot in made]
    assert [(kind, breaker, progressed, pivot) for kind, _, breaker, progressed, pivot in stored[: len(made)]] == named
    explained(rules, run, records)
    if not start.plan:  # a record keeps no words of the plan, and a reason may quote them
        assert stored[: len(made)] == made
    return records


replies = st.sampled_from([
    *(
        "",
        "Looking at it.",
        "Wrote it.",
        DONE,
        WORKING,
        BLOCKED,
        WORDS,
        QUESTION,
        TESTED,
        LIMITED,
        "Error: no such file",
    ),
    *(failed(kind) for kind in ("rate_limited", "unavailable", "crashed", "refused", "auth", "protocol")),
    *(failed("rate_limited", retry_after=4_000), failed("unavailable", status=503)),
    *(TimedOut(limit="idle", after=1), Interrupted(by="circles", detail="the same"), Interrupted(by="denials")),
    *(
        turn("May I?", tool_calls=calls(0, 1)),
        turn("I tried.", tool_calls=calls(9, 3)),
        turn(DONE, tool_calls=calls(1, 1)),
    ),
    *(turn("Wrote it.", tool_calls=calls(1), usage=Usage(cost=1.0)), turn("Wrote it all.", tool_calls=calls(12))),
    turn("", failed("crashed"), messages=(Message(text="I begin."),), tool_calls=calls(2)),
    turn("", failed("unavailable"), messages=(Message(text="I begin."),)),
    turn("Again.", attempts=(Attempt(executor="x", outcome=failed("unavailable")),)),
])
verdicts = st.sampled_from([PASSES, FAILS, FAILS, VETOES, UNKNOWN])
workspaces = st.sampled_from([None, "a", "b", "c", "d"])
plans = st.sampled_from([NO_BOX, ONE_BOX, ALL_BOXES, ""])


@st.composite
def histories(draw: st.DrawFn) -> tuple[Taken, list[Taken]]:
    planned, known = draw(st.booleans()), draw(st.booleans())
    state = workspaces if known else st.none()
    plan = plans if planned else st.just("")
    start = Taken("", "a" if known else None, NO_BOX if planned else "")
    taken = st.builds(Taken, replies, state, plan, verdicts)
    repeated = draw(st.integers(1, 4))  # the same again and again is what opens breakers
    return start, draw(st.lists(taken, max_size=6)) + [draw(taken)] * repeated


@settings(deadline=None)
@given(
    history=histories(),
    breaker=st.builds(
        BreakerSettings,
        no_progress=st.sampled_from([2, 3, 6]),
        same_error=st.sampled_from([2, 5]),
        stagnation=st.sampled_from([None, 5.0]),
        when_open=st.sampled_from(["stop", "wait"]),
        cool_down=st.sampled_from([0.0, 600.0]),
    ),
    limits=st.sampled_from([{}, {"max_iterations": 4}, {"max_cost": 2.0}, {"calls_per_hour": 2}]),
    strategy=st.sampled_from(["auto", "auto", "exit_signal", "fix_plan", "done_signals", "natural_language"]),
    blocked=st.sampled_from([2, 5]),
    verified=st.booleans(),
    early=st.booleans(),
)
def test_every_decision_is_the_same(
    history: tuple[Taken, list[Taken]],
    breaker: BreakerSettings,
    limits: dict[str, Any],
    strategy: str,
    blocked: int,
    verified: bool,
    early: bool,
) -> None:
    within = Limits(**{"max_iterations": 12, **limits}, max_duration=20_000)
    decision = DecisionSettings(blocked=blocked, questions=blocked)
    analyzer = ResponseAnalyzer(no_progress=breaker.no_progress)
    rules = Rules(
        breaker=CircuitBreaker(breaker),
        limits=within,
        decision=decision,
        strategy=strategy_named(strategy),
        analyzer=analyzer,
    )
    compare(*history, rules, verified=verified, early=early)


STUCK = [Taken("I look at the parser.")] * 4
BUSY = [Taken(f"Wrote part {number}.", state) for number, state in enumerate("bcde")]


# What each kind of evidence leads to, so that equal does not mean that it was ignored twice.
@pytest.mark.parametrize(
    ("taken", "verified", "ends"),
    [
        ([Taken(DONE, "b")], False, "complete: EXIT_SIGNAL: true"),
        ([Taken(DONE, "b", verdict=PASSES)], True, "complete: EXIT_SIGNAL: true; `checks` confirmed"),
        ([Taken(DONE, "b", verdict=FAILS), Taken(DONE, "c")], True, "complete: EXIT_SIGNAL: true; `checks` confirmed"),
        (
            [Taken(DONE, "b", verdict=UNKNOWN)] * 2,
            True,
            "complete: EXIT_SIGNAL: true; `checks` is undecided: no answer",
        ),
        ([Taken(DONE, "b"), Taken(DONE, "c")], False, "complete: EXIT_SIGNAL: true"),
        ([*BUSY, *STUCK], False, "halt: 3 iterations without progress"),
        (
            [Taken(failed("crashed"), None)] * 5,
            False,
            "halt: 3 iterations without progress; the last turn failed: crashed",
        ),
        ([Taken(failed("auth"))], False, "halt: auth"),
        ([*[Taken(failed("rate_limited"))] * 3, Taken(DONE, "b")], False, "complete: EXIT_SIGNAL: true"),
        ([Taken(turn("May I?", tool_calls=calls(0, 2)))] * 2, False, "halt: 2 permission-denied iterations in a row"),
        ([Taken(BLOCKED)] * 2, False, "halt: no key"),
        ([Taken(QUESTION)] * 3, False, "halt: Which database should I use?"),
        ([Taken("I ticked it.", "b", ALL_BOXES)], False, "complete: every box of the plan was ticked during this run"),
    ],
)
def test_what_the_evidence_leads_to(taken: list[Taken], verified: bool, ends: str) -> None:
    start = Taken("", taken[0].state and "a", NO_BOX if taken[0].plan else "")
    *_, last = compare(start, taken, Rules(limits=Limits(max_iterations=20)), verified=verified)
    assert f"{last.decision.kind}: {last.decision.reason}".startswith(ends)


def test_the_same_holds_for_a_run_that_is_kept_in_a_file(tmp_path: Path) -> None:
    taken = [Taken(DONE, "b", ONE_BOX, FAILS), Taken(failed("crashed"), "b", ONE_BOX), *STUCK]
    start, rules = Taken("", "a", NO_BOX), Rules()
    _, records = live(start, taken, rules, verified=True, store=open_store(str(tmp_path / "runs.db")))
    _, again = live(start, taken, rules, verified=True)
    assert decided(records) == decided(again)


def test_the_next_analysis_hears_of_the_verifier_that_refuted_the_claim() -> None:
    """Live and replayed: the error counts as met, and the breaker counts it once."""
    taken = [Taken(DONE, None, verdict=FAILS), Taken("I look into it.", None), Taken("I look again.", None)]
    rules = Rules(limits=Limits(max_iterations=3))
    first, second, third = compare(Taken("", None), taken, rules, verified=True)
    assert first.analysis.stuck.error_frequency == {}
    assert second.analysis.stuck.error_frequency == {"checks: tests failed": 1}
    assert first.breaker.errors == {"checks: tests failed": 1}
    assert second.breaker.errors == {}
    assert third.analysis.error_signatures == ()


def test_what_a_verifier_used_is_counted_once_in_a_replay() -> None:
    paid = evolve(FAILS, usage=Usage(cost=1.0))
    taken, rules = [Taken(DONE, state, verdict=paid) for state in "bcd"], Rules(limits=Limits(max_cost=2.5))
    run, records = live(Taken(""), taken, rules, verified=True)
    assert len(records) == 3
    assert replayed(rules, recorded_run(run), [recorded_pass(record) for record in records]) == decided(records)


@settings(deadline=None)
@given(
    history=histories(),
    resumed=st.integers(1, 3),
    cool_down=st.sampled_from([0.0, 1800.0]),
)
def test_a_run_that_was_resumed_continues_as_it_did(
    history: tuple[Taken, list[Taken]], resumed: int, cool_down: float
) -> None:
    start, taken = history
    waited = ("rate_limited", "unavailable", LIMITED)  # a wait may reach a limit, which is a step of the replay alone
    taken = [each for each in taken if not any(word in str(each.reply) for word in waited)]
    if not taken:
        return
    rules = Rules(breaker=CircuitBreaker(BreakerSettings(cool_down=cool_down)), limits=Limits(max_duration=20_000))
    run, records = live(start, taken, rules, resumed=resumed)
    replay, ends = Replay(rules, run.id, recorded_run(run)), [False]
    for record in records:
        replay.add(recorded_pass(record, resumed=ends[-1]))
        ends.append(isinstance(record.decision, Halt))

    made = [(step.decision, step.breaker) for step in replay.result.steps]
    assert made == [(record.decision.kind, record.breaker.state) for record in records]
    assert replay.result.saved == 0
    assert len(replay.result.resumed) == sum(ends[1:-1])
