"""A replay decides what the live run has decided: both are driven by the same functions."""

from pathlib import Path
from typing import Any

import anyio
from hypothesis import given, settings
from hypothesis import strategies as st

from ralph.analysis import ResponseAnalyzer
from ralph.decision.breaker import BreakerSettings, CircuitBreaker
from ralph.decision.claims import strategy_named
from ralph.decision.limits import Limits
from ralph.decision.outcomes import DecisionSettings, Halt, following
from ralph.loop.runner import Runner
from ralph.pipeline.evaluate import Rules
from ralph.pipeline.replay import Replay, recorded_pass, recorded_run
from ralph.records.record import IterationRecord, RunRecord
from ralph.store.memory import MemoryStore
from ralph.testing import FakeClock, Reply, ScriptedExecutor
from ralph.types.changes import Changes
from ralph.types.output import Failed, Output, TimedOut, ToolCall, Usage
from ralph.types.plan import TaskPlan, parse_plan
from ralph.types.verification import Verdict
from ralph.verifiers.base import Subject, Verifier
from ralph.workspace.base import NoWorkspace, Snapshot

DONE = "All done.\n---RALPH_STATUS---\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---"
WORKING = "More to do.\n---RALPH_STATUS---\nEXIT_SIGNAL: false\n---END_RALPH_STATUS---"
BLOCKED = "---RALPH_STATUS---\nEXIT_SIGNAL: true\nSTATUS: BLOCKED\nREASON: no key\n---END_RALPH_STATUS---"

replies = st.sampled_from([
    *("", "Looking at it.", DONE, WORKING, BLOCKED, "All tests passing. No remaining issues. The task is complete."),
    *("Which database should I use?", "===== 12 passed in 0.1s =====", "Error: no such file"),
    *(Failed.model_validate({"failure": kind}) for kind in ("rate_limited", "unavailable", "crashed", "refused")),
    Failed(failure="rate_limited", retry_after=4_000),
    TimedOut(limit="idle", after=1),
    Output(text="May I?", tool_calls=(ToolCall(id="1", name="bash", success=False, denied=True),)),
    Output(text="Wrote it.", tool_calls=(ToolCall(id="1", name="bash", success=True),), usage=Usage(cost=1.0)),
])
states = st.lists(st.sampled_from(["a", "b", "c", "d"]), min_size=1, max_size=9)
plans = st.lists(
    st.sampled_from(["- [ ] one\n- [ ] two\n", "- [x] one\n- [ ] two\n", "- [x] one\n- [x] two\n"]), max_size=9
)


class Scenery(NoWorkspace):
    """States of the workspace and of the plan, one for the start and one after each turn, the last for ever."""

    def __init__(self, states: list[str], plans: list[str]) -> None:
        super().__init__(Path("/"))
        self.states, self.plans, self.turns = states, plans, 0

    async def snapshot(self) -> Snapshot:
        return Snapshot(fingerprint=self.states[min(self.turns, len(self.states) - 1)])

    async def changes(self, before: Snapshot, after: Snapshot) -> Changes:
        return Changes(fingerprint=after.fingerprint)

    def plan(self, name: str | None) -> TaskPlan | None:
        return parse_plan(self.plans[min(self.turns, len(self.plans) - 1)]) if self.plans else None

    def keep_response(self, text: str) -> str:
        self.turns += 1
        return ""


class Refuses(Verifier):
    name = "checks"

    async def verify(self, subject: Subject) -> Verdict:
        return Verdict(verifier=self.name, passed=False, output="1 failed", signature="failed")


def live(
    said: list[Reply], scenery: Scenery, verifiers: list[Verifier], *, resumed: int = 0, **parts: Any
) -> tuple[RunRecord, list[IterationRecord]]:
    store = MemoryStore()
    runner = Runner(
        executor=ScriptedExecutor(said, measures=("tokens", "cost")),
        workspace=scenery,
        store=store,
        clock=FakeClock(),
        verifiers=verifiers,
        **parts,
    )

    async def whole() -> tuple[RunRecord, list[IterationRecord]]:
        async with runner:
            run = await runner.run("mend it")
            for _ in range(resumed):
                run = await runner.resume(run.id)
            return run, [record async for record in store.iterations(run.id)]

    return anyio.run(whole)


@settings(deadline=None)
@given(
    said=st.lists(replies, min_size=1, max_size=8),
    states=states,
    plans=plans,
    when_open=st.sampled_from(["stop", "wait"]),
    limits=st.sampled_from([{}, {"max_iterations": 3}, {"max_cost": 2.0}, {"calls_per_hour": 2}]),
    strategy=st.sampled_from(["auto", "exit_signal", "fix_plan"]),
    verified=st.booleans(),
)
def test_every_decision_is_the_one_that_was_made(
    said: list[Reply],
    states: list[str],
    plans: list[str],
    when_open: Any,
    limits: dict[str, Any],
    strategy: str,
    verified: bool,
) -> None:
    breaker, within = CircuitBreaker(BreakerSettings(when_open=when_open)), Limits(**limits, max_duration=20_000)
    verifiers: list[Verifier] = [Refuses()] if verified else []
    run, records = live(said, Scenery(states, plans), verifiers, breaker=breaker, limits=within, strategy=strategy)
    rules = Rules(breaker, within, DecisionSettings(), strategy_named(strategy), ResponseAnalyzer())
    replay = Replay(rules, run.id, recorded_run(run))
    for record in records:
        replay.add(recorded_pass(record))

    decided = [(record.decision.kind, record.breaker.state, following(record.decision)) for record in records]
    expected = [(kind, breaker, word.pivot if word else "") for kind, breaker, word in decided]
    made = [(step.decision, step.breaker, step.pivot) for step in replay.result.steps]
    assert made[: len(expected)] == expected
    assert replay.result.saved == 0


@settings(deadline=None)
@given(
    said=st.lists(replies.filter(lambda reply: "rate_limited" not in str(reply)), min_size=1, max_size=6),
    states=states,
    resumed=st.integers(1, 3),
    cool_down=st.sampled_from([0.0, 1800.0]),
)
def test_a_run_that_was_resumed_goes_on_as_it_did(
    said: list[Reply], states: list[str], resumed: int, cool_down: float
) -> None:
    breaker, within = CircuitBreaker(BreakerSettings(cool_down=cool_down)), Limits(max_duration=20_000)
    run, records = live(said, Scenery(states, []), [], resumed=resumed, breaker=breaker, limits=within)
    rules = Rules(breaker, within)
    replay, ends = Replay(rules, run.id, recorded_run(run)), [False]
    for record in records:
        replay.add(recorded_pass(record, resumed=ends[-1]))
        ends.append(isinstance(record.decision, Halt))

    made = [(step.decision, step.breaker) for step in replay.result.steps]
    assert made == [(record.decision.kind, record.breaker.state) for record in records]
    assert replay.result.saved == 0
    assert len(replay.result.resumed) == sum(ends[1:-1])
