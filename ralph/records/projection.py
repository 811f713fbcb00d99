"""The view of a run that every display shows: a pure fold over its events, and the parts of a run in a few words."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from pydantic import BaseModel, NonNegativeFloat, NonNegativeInt

from ralph.analysis.metrics import expectation_messages
from ralph.analysis.result import Analysis
from ralph.decision.backing import grade
from ralph.decision.outcomes import Complete, Decision, Halt, Pause, StopReason
from ralph.records import events
from ralph.records.record import IterationRecord, PlanCount
from ralph.system.text import counted, duration, limits_text, one_line
from ralph.types import evolve
from ralph.types.output import Failed, Outcome, TimedOut, Usage

_LAST_MESSAGE = 2_000
_OF_END = ("stop_reason", "verified", "already_green", "verified_by", "detail")
"""Fields of a view that its run's end sets, and a resume takes back."""


def numbered(iteration: int, most: int | None, limited: int = 0, *, of: str = "of") -> str:
    """Return an iteration's number and its limit; rate-limited iterations do not count against it."""
    if most is None:
        return str(iteration)
    counted = f"{iteration}, counts as {iteration - limited}" if limited else f"{iteration}"
    return f"{counted} {of} {most}"


def describe(decision: Decision) -> str:
    """Return a decision in one line."""
    match decision:
        case Complete():
            word = f"complete, {grade(verified=decision.verified, already_green=decision.already_green)}"
        case Halt():
            word = f"stop ({decision.stop_reason})"
        case Pause():
            word = f"pause until {decision.until:%H:%M:%S} UTC"
        case _:
            word = "continue"
    return f"{word}: {decision.reason}"


def outcome_text(outcome: Outcome) -> str:
    """Return how a turn ended, in a few words."""
    match outcome:
        case Failed():
            status = f" (HTTP {outcome.status})" if outcome.status else ""
            return f"{outcome.failure.replace('_', ' ')}{status}: {one_line(outcome.message, 300)}"
        case TimedOut():
            what = {"idle": "no activity", "iteration": "the turn took too long", "tool": "a tool took too long"}
            return f"{what[outcome.limit]}: ended after {duration(outcome.after)}"
        case _ if outcome.kind == "interrupted":
            return f"interrupted: {one_line(outcome.detail)}"
        case _:
            return "completed"


def changes_text(iteration: events.IterationFinished | IterationRecord) -> str:
    """Return what an iteration changed, in a few words."""
    changes = iteration.changes
    parts = [f"changed {counted(changes.files_changed, 'file')}"]
    if changes.commits:
        parts.append(counted(changes.commits, "commit"))
    if not changes.known:
        parts = ["changed unknown"]
    elif not changes.files_changed and not changes.commits:
        parts = [] if changes.lost else ["changed nothing"]
    if changes.lost:
        parts.append("removed work of yours")
    plan = iteration.plan
    return f"{', '.join(parts)}{f'; plan {plan.done}/{plan.total}' if plan and plan.total else ''}"


def bounds_text(event: events.RunStarted) -> str:
    """Return what confines the agent and what ends the run, in one line; empty for an event of an older version."""
    if not event.sandbox:
        return ""
    limits = limits_text(event.limits).replace("max duration", "ends after") or "none"
    return f"sandbox: {event.sandbox} · permission: {event.permission} · limits: {limits}"


def findings(analysis: Analysis) -> Iterator[tuple[str, str]]:
    """Yield what an analysis says of the work, in lines with labels: the work done, and whether all of it is."""
    if analysis.work_summary:
        yield "did", one_line(analysis.work_summary, 400)
    for message in expectation_messages(analysis.metrics):
        if message not in analysis.warnings and (analysis.state == "done" or not message.startswith("✅")):
            yield "found", message


def usage_text(usage: Usage) -> str:
    """Return tokens, premium requests and cost, as far as they were measured."""
    parts: list[str] = []
    if usage.tokens is not None:
        parts.append(f"{usage.tokens:,} tokens")
    if usage.premium_requests:
        parts.append(f"{usage.premium_requests:g} premium requests")
    if usage.cost is not None:
        parts.append(f"${usage.cost:.2f}")
    return " · ".join(parts)


class RunView(BaseModel, frozen=True):
    """A run as a display shows it, after any number of its events.

    Attributes:
        activity: what the agent is doing, in a few words.
        limited: iterations that met a rate limit, and so do not count.
        message: the end of its last message, or of the unfinished one.
        message_ended: whether what it says next is another message.
        since: start of the current iteration.
        paused_until: end of the pause; None without a pause, and for a pause that the user has to end.
    """

    run_id: str = ""
    task: str = ""
    workspace: str | None = None
    state: str = "starting"
    iteration: NonNegativeInt = 0
    max_iterations: int | None = None
    limited: NonNegativeInt = 0
    breaker: str = "closed"
    breaker_warning: str = ""
    executor: str = ""
    activity: str = ""
    message: str = ""
    message_ended: bool = True
    plan: PlanCount | None = None
    usage: Usage = Usage()
    started_at: datetime | None = None
    since: datetime | None = None
    paused_until: datetime | None = None
    last_decision: str = ""
    fallbacks: NonNegativeInt = 0
    stop_reason: StopReason | None = None
    verified: bool = False
    already_green: bool = False
    verified_by: str = ""
    detail: str = ""
    duration: NonNegativeFloat = 0.0

    def after(self, event: events.Event) -> "RunView":
        """Return the view after one more event; an unknown kind of event changes nothing."""
        return evolve(self, **_changes(event, self))


def _changes(event: events.Event, view: RunView) -> dict[str, Any]:
    """Return the fields of a view that an event changes."""
    changes: dict[str, Any]
    match event:
        case events.RunStarted():
            changes = event.model_dump(include={"run_id", "task", "workspace", "executor", "max_iterations"})
            changes |= {"started_at": event.at, "state": "running", "paused_until": None}
            changes |= {name: RunView.model_fields[name].default for name in _OF_END}
        case events.IterationStarted():
            changes = {"iteration": event.iteration, "since": event.at, "state": "running"}
            changes |= {"activity": "thinking", "message_ended": True}
        case events.MessageStreamed():
            text = ("" if view.message_ended else view.message) + event.text
            changes = {"message": text[-_LAST_MESSAGE:], "message_ended": False, "activity": "answering"}
        case events.MessageReceived():
            text = event.text[-_LAST_MESSAGE:] if event.text.strip() else view.message
            changes = {"message": text, "message_ended": True}
        case events.ToolStarted():
            changes = {"activity": f"using {event.tool.name}", "message_ended": True}
        case events.ToolFinished():
            changes = {"activity": "thinking"}
        case events.ExecutorFellBack() if event.before == event.after:
            changes = {"activity": f"{event.before} failed and is asked again"}
        case events.ExecutorFellBack():
            changes = {"fallbacks": view.fallbacks + 1, "activity": f"{event.before} failed, {event.after} tries next"}
        case events.VerificationStarted():
            changes = {"activity": f"verifying: {event.verifier}"}
        case events.VerificationFinished():
            changes = {"activity": "verified" if event.passed else "verification failed"}
        case events.IterationFinished():
            changes = _after_iteration(event, view)
        case _:
            changes = _after_change_of_run(event)
    return changes


def _after_iteration(event: events.IterationFinished, view: RunView) -> dict[str, Any]:
    return {
        "executor": event.executor or view.executor,
        "usage": view.usage + event.usage,
        "plan": event.plan or view.plan,
        "last_decision": describe(event.decision),
        "activity": "",
        "message": event.text[-_LAST_MESSAGE:] or view.message,
        "message_ended": True,
        "limited": view.limited + event.limited,
    }


def _after_change_of_run(event: events.Event) -> dict[str, Any]:
    match event:
        case events.BreakerChanged(breaker=breaker):
            return {"breaker": breaker.state, "breaker_warning": breaker.reason if breaker.warning else ""}
        case events.Paused():
            return {"state": "paused", "paused_until": event.until, "activity": event.reason}
        case events.Extended() if (most := event.limits.get("max_iterations")) is not None:
            return {"max_iterations": int(most)}
        case events.Resumed():
            return {"state": "running", "paused_until": None, "activity": ""}
        case events.RunFinished():
            last = {name: getattr(event, name) for name in (*_OF_END, "usage", "duration")}
            return {"state": "finished", "activity": "", **last}
        case _:
            return {}
