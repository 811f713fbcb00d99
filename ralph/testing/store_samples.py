"""Runs, iterations and events to try a store with."""

from datetime import UTC, datetime, timedelta
from typing import Any

from ralph.analysis.result import Analysis
from ralph.decision.outcomes import Continue, Pause
from ralph.records.events import MessageReceived
from ralph.records.record import IterationRecord, PlanCount, RunRecord
from ralph.types import evolve
from ralph.types.changes import Changes
from ralph.types.output import Answered, Failed
from ralph.types.requests import Request

__all__ = ["START", "sample_event", "sample_history", "sample_iteration", "sample_request", "sample_run"]

START = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)


def sample_run(run_id: str = "run-1", *, hours: float = 0, workspace: str | None = "/work") -> RunRecord:
    """A run that began so many hours after `START`."""
    return RunRecord(
        id=run_id,
        task="mend it ✓",
        workspace=workspace,
        settings={"limits": {"max_iterations": 3}, "verify": ["pytest"]},
        started_at=START + timedelta(hours=hours),
    )


def sample_event(seq: int, text: str = "", *, run_id: str = "run-1", iteration: int = 1) -> MessageReceived:
    return MessageReceived(run_id=run_id, seq=seq, at=START, iteration=iteration, text=text or f"message {seq}")


def sample_iteration(number: int, text: str = "done", *, run_id: str = "run-1") -> IterationRecord:
    return IterationRecord(
        run_id=run_id,
        number=number,
        started_at=START,
        finished_at=START + timedelta(seconds=number),
        text=text,
        outcome=Answered(),
        decision=Continue(),
    )


def sample_request(text: str = "mind the tests") -> Request:
    return Request(at=START, kind="tell", text=text)


def sample_history(iterations: int = 60) -> list[IterationRecord]:
    """Iterations of many kinds, of which the next one has to know very different things."""
    return [_in_history(number) for number in range(1, iterations + 1)]


def _in_history(number: int) -> IterationRecord:
    limited = number % 3 == 0
    words = Analysis(state="limited" if limited else "progress", error_signatures=(f"error {number % 7}",))
    facts: dict[str, Any] = {
        "executor": "second" if number % 5 == 0 else "first",
        "session_id": None if number % 4 == 0 else f"session {number}",
        "analysis": words,
        "changes": Changes(fingerprint=f"tree {number}"),
        "fingerprint": f"tree {number} verified" if number % 2 else None,
        "plan": PlanCount(done=number % 11, total=11) if number % 6 else None,
        "tool_calls": number % 4,
        "progressed": None if limited else bool(number % 2),
    }
    if limited:
        facts["decision"] = Pause(until=START, reason="limited")
        facts["outcome"] = Failed(failure="rate_limited") if number % 2 else Answered()
    return evolve(sample_iteration(number, "" if number % 9 == 0 else f"words {number}"), **facts)
