"""Events: their JSON, their order, and a hook for each."""

import inspect
import json
from datetime import UTC, datetime
from typing import Any, get_args

import pytest
from pydantic import ValidationError

from ralph.analysis.result import Analysis, Evidence
from ralph.decision.breaker import BreakerState
from ralph.decision.outcomes import Complete, Continue, Halt, Pause
from ralph.hooks import Hooks
from ralph.records import events
from ralph.records.events import Event, parse_event
from ralph.records.record import PlanCount
from ralph.types.output import Answered, Attempt, Changes, Failed, ToolCall, Usage
from ralph.types.verification import Verdict

AT = datetime(2026, 1, 1, 12, 30, tzinfo=UTC)
COMMON: dict[str, Any] = {"run_id": "r", "seq": 3, "at": AT, "iteration": 2}
TOOL = ToolCall(id="1", name="bash", arguments='{"command": "ls"}', success=True, result="a\nb", duration=0.5)
DECISIONS = [
    Continue(feedback="mend it", confirm=True),
    Complete(reason="done", verified=True, still_open=("two",)),
    Halt(stop_reason="stuck", reason="circles", evidence=(Evidence(signal="stuck", text="repeated output"),)),
    Pause(until=AT, reason="slow down", then=Continue(pivot="repeated output")),
]
EXAMPLES: list[Event] = [
    events.RunStarted(**COMMON, task="完成 \u2028", workspace="/w", verifiers=("pytest",), max_iterations=3),
    events.IterationStarted(**COMMON, prompt="do it"),
    events.MessageStreamed(**COMMON, text="hel"),
    events.MessageReceived(**COMMON, text="hello", tool_calls=1),
    events.ToolStarted(**COMMON, tool=TOOL),
    events.ToolFinished(**COMMON, tool=TOOL),
    events.ExecutorFellBack(
        **COMMON,
        before="copilot-sdk",
        after="copilot-cli",
        attempt=Attempt(executor="copilot-sdk", outcome=Failed(failure="crashed"), usage=Usage(cost=0.5)),
    ),
    events.Diagnosed(**COMMON, text="restarted"),
    events.VerificationStarted(**COMMON, verifier="review"),
    events.VerificationFinished(**COMMON, passed=False, verdicts=(Verdict(verifier="pytest", passed=False),)),
    events.BreakerChanged(**COMMON, before="closed", breaker=BreakerState(state="open", opened_at=AT, errors={"a": 5})),
    *(
        events.IterationFinished(
            **COMMON,
            outcome=Answered(),
            fields={"TESTS": 12, "FILES": ["a", "b"], "RATIO": 0.5, "OK": True},
            changes=Changes(fingerprint="f", files=("a",), files_changed=1),
            plan=PlanCount(done=1, total=2),
            progressed=None,
            analysis=Analysis(work_summary="Modified 3 files"),
            decision=decision,
        )
        for decision in DECISIONS
    ),
    events.Paused(**COMMON, until=AT, reason="rate limited"),
    events.Resumed(**COMMON),
    events.Told(**COMMON, text="Leave the parser alone."),
    events.Extended(**COMMON, added={"max_iterations": 10}, limits={"max_iterations": 60}),
    events.ProtectedRestored(**COMMON, paths=(".git/config",), aside="/state/aside/1", left=("model.bin",)),
    events.OrphansEnded(**COMMON, processes=("4711 copilot",)),
    events.RunFinished(
        **COMMON,
        stop_reason="completed",
        verified=True,
        detail="done",
        iterations=2,
        executors={"copilot-sdk": 1, "copilot-cli": 1},
        usage=Usage(input_tokens=5),
        duration=3.5,
    ),
]
NAMES = [f"{event.type} {number}" for number, event in enumerate(EXAMPLES, start=1)]
KINDS = {kind.model_fields["type"].default: kind for kind in get_args(get_args(Event)[0])}


def test_every_kind_has_an_example_here() -> None:
    assert {event.type for event in EXAMPLES} == set(KINDS)


def test_an_event_is_read_back_as_it_was_written(subtests: pytest.Subtests) -> None:
    for event in EXAMPLES:
        with subtests.test(event=event):
            text = event.model_dump_json()
            assert parse_event(text) == event
            assert parse_event(text.encode()) == event
            assert list(json.loads(text))[:4] == ["type", "run_id", "seq", "at"]
            assert datetime.fromisoformat(json.loads(text)["at"]) == AT


def test_an_event_cannot_be_changed(subtests: pytest.Subtests) -> None:
    for event in EXAMPLES:
        with subtests.test(event=event), pytest.raises(ValidationError, match="frozen"):
            event.seq = 9  # pyright: ignore[reportAttributeAccessIssue]


def test_there_is_a_hook_for_every_kind(subtests: pytest.Subtests) -> None:
    for name, kind in KINDS.items():
        with subtests.test(name=name):
            method = getattr(Hooks, f"on_{name}")
            assert inspect.iscoroutinefunction(method)
            assert inspect.signature(method).parameters["event"].annotation is kind


def test_there_is_no_hook_for_what_never_happens() -> None:
    hooks = {name for name in vars(Hooks) if name.startswith("on_")}
    assert hooks == {"on_event", *(f"on_{name}" for name in KINDS)}


async def test_a_hook_that_is_not_overridden_does_nothing() -> None:
    hooks: Any = Hooks()
    for event in EXAMPLES:
        assert await getattr(hooks, f"on_{event.type}")(event) is None


def test_fields_that_are_not_known_are_ignored() -> None:
    newer = json.loads(events.Resumed(**COMMON).model_dump_json()) | {"mood": "good"}
    assert parse_event(json.dumps(newer)) == events.Resumed(**COMMON)


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", "null", '{"type": "run_exploded", "run_id": "r"}', '{"type": "resumed"}', "\x00"]
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        parse_event(text)
