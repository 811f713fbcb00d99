"""A fold over traces comes to what a fold over the records comes to, where the weighty ones are whole."""

from hypothesis import given
from hypothesis import strategies as st

from ralph.analysis.result import Analysis
from ralph.decision.limits import Spent
from ralph.decision.outcomes import Complete, Continue, Decision, Halt, Pause
from ralph.records.record import IterationRecord, PlanCount, RunState, Trace, weighty
from ralph.testing.store_conformance import START, sample_iteration, sample_run
from ralph.types import evolve
from ralph.types.output import Answered, Changes, Failed, Interrupted, Outcome

outcomes: st.SearchStrategy[Outcome] = st.sampled_from([
    Answered(),
    Failed(failure="crashed"),
    Failed(failure="rate_limited"),
    Failed(failure="unavailable"),
    Interrupted(by="signal"),
])
decisions: st.SearchStrategy[Decision] = st.sampled_from([
    Continue(),
    Continue(feedback="mend it"),
    Pause(until=START, reason="limited"),
    Pause(until=START, reason="open", then=Continue(feedback="after it")),
    Halt(stop_reason="stuck", reason="no way on"),
    Complete(reason="done"),
])
fingerprints = st.sampled_from([None, "a", "b", "c"])


@st.composite
def iterations(draw: st.DrawFn) -> IterationRecord:
    return sample_iteration(1, draw(st.sampled_from(["", "some", "words"]))).model_copy(
        update={
            "outcome": draw(outcomes),
            "decision": draw(decisions),
            "executor": draw(st.sampled_from(["", "first", "second"])),
            "session_id": draw(st.sampled_from([None, "s", "t"])),
            "analysis": Analysis(state=draw(st.sampled_from(["progress", "limited", "done"]))),
            "changes": Changes(fingerprint=draw(fingerprints)),
            "fingerprint": draw(fingerprints),
            "plan": draw(st.sampled_from([None, PlanCount(done=1, total=9), PlanCount(done=7, total=9)])),
            "progressed": draw(st.sampled_from([None, True, False])),
            "tool_calls": draw(st.sampled_from([0, 3])),
            "spent": Spent(iterations=draw(st.integers(0, 9))),
        }
    )


@given(st.lists(iterations(), max_size=80))
def test_traces_and_the_weighty_records_come_to_the_same_as_all_records(drawn: list[IterationRecord]) -> None:
    records = [record.model_copy(update={"number": number}) for number, record in enumerate(drawn, 1)]
    traces = [Trace.of(record) for record in records]
    needed = weighty(traces)
    mixed = [record if record.number in needed else trace for record, trace in zip(records, traces, strict=True)]
    run = sample_run().model_copy(update={"fingerprint": "a"})
    assert RunState.of(run, mixed) == RunState.of(run, records)
    assert len(needed) <= 32, "however long the run"


def test_what_the_agent_is_to_be_told_is_known_after_many_ends_and_resumptions() -> None:
    said: list[Decision] = [Continue(feedback="fix the parser"), *[Halt(stop_reason="stuck", reason="no way on")] * 40]
    records = [evolve(sample_iteration(number), decision=decision) for number, decision in enumerate(said, 1)]
    traces = [Trace.of(record) for record in records]
    needed = weighty(traces)
    state = RunState.of(sample_run(), [record if record.number in needed else Trace.of(record) for record in records])
    assert state.guidance.feedback == "fix the parser"


def test_a_trace_is_small_whatever_the_agent_said() -> None:
    record = sample_iteration(1, "x" * 1_000_000).model_copy(update={"diagnostics": "y" * 1_000_000})
    assert len(Trace.of(record).model_dump_json(exclude_defaults=True)) < 100
