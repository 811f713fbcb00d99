"""Events as a run tells them."""

from datetime import UTC, datetime
from typing import Any

import pytest

from ralph.decision.breaker import BreakerState
from ralph.decision.outcomes import Complete, Continue
from ralph.records.events import (
    BreakerChanged,
    Diagnosed,
    Event,
    ExecutorFellBack,
    IterationFinished,
    IterationStarted,
    MessageReceived,
    MessageStreamed,
    Paused,
    Resumed,
    RunFinished,
    RunStarted,
    ToolFinished,
    ToolStarted,
    VerificationFinished,
)
from ralph.records.record import PlanCount
from ralph.types.output import Answered, Attempt, Changes, Failed, ToolCall, Usage
from ralph.types.verification import Verdict

AT = datetime(2026, 11, 21, 2, 30, tzinfo=UTC)


@pytest.fixture
def whole_run() -> list[Event]:
    """One of every kind: a fallback, a pause, a refuted claim, and a verified completion."""
    seq = iter(range(1, 100))

    def stamp(iteration: int = 1) -> dict[str, Any]:
        return {"run_id": "r-1", "seq": next(seq), "at": AT, "iteration": iteration}

    red = Verdict(verifier="pytest -q", passed=False, output="1 failed: test_median", signature="test_median")
    green = Verdict(verifier="pytest -q", passed=True)
    crash = Attempt(executor="copilot-sdk", outcome=Failed(failure="crashed", message="the runtime died"))
    call = ToolCall(id="1", name="bash", arguments='{"command": "ls"}')
    warns = BreakerState(warning=True, reason="2 iterations without progress")
    return [
        RunStarted(
            **stamp(0), task="Make the tests pass.", workspace="/ws", verifiers=("pytest -q",), max_iterations=50
        ),
        VerificationFinished(**stamp(0), passed=False, verdicts=(red,)),
        IterationStarted(**stamp(), prompt="…"),
        ToolStarted(**stamp(), tool=call),
        ToolFinished(**stamp(), tool=call.model_copy(update={"success": True, "duration": 2.0})),
        ExecutorFellBack(**stamp(), before="copilot-sdk", after="copilot-cli", attempt=crash),
        Diagnosed(**stamp(), text="The runtime was started anew."),
        MessageStreamed(run_id="r-1", at=AT, iteration=1, text="It is "),
        MessageReceived(**stamp(), text="It is done."),
        VerificationFinished(**stamp(), passed=False, verdicts=(red,)),
        BreakerChanged(**stamp(), before="closed", breaker=warns),
        IterationFinished(
            **stamp(),
            executor="copilot-cli",
            outcome=Answered(),
            text="It is done.",
            changes=Changes(fingerprint="a", files=("a.py", "b.py"), files_changed=2, commits=1),
            plan=PlanCount(done=1, total=2),
            decision=Continue(reason="a claim of completion was refuted"),
            usage=Usage(input_tokens=1_000, output_tokens=200),
            duration=75,
        ),
        Paused(**stamp(), until=AT, reason="rate limited: slow down"),
        Resumed(**stamp()),
        IterationStarted(**stamp(2)),
        VerificationFinished(**stamp(2), passed=True, verdicts=(green,)),
        IterationFinished(
            **stamp(2),
            executor="copilot-sdk",
            outcome=Failed(failure="refused", status=403, message="forbidden"),
            decision=Complete(reason="EXIT_SIGNAL: true", verified=True),
        ),
        RunFinished(
            **stamp(2),
            stop_reason="completed",
            verified=True,
            detail="EXIT_SIGNAL: true",
            iterations=2,
            executors={"copilot-sdk": 1, "copilot-cli": 1},
            usage=Usage(input_tokens=1_000, output_tokens=200),
            duration=80,
        ),
    ]
