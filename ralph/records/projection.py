"""The view of a run that every display shows: a pure fold over its events, and the parts of a run in a few words."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, NonNegativeFloat, NonNegativeInt

from ralph.analysis.metrics import expectation_messages
from ralph.analysis.result import Analysis
from ralph.decision.backing import grade
from ralph.decision.outcomes import Complete, Decision, Halt, Pause, StopReason
from ralph.records import events
from ralph.records.record import IterationRecord, PlanCount
from ralph.system.text import counted, duration, limits_text, one_line
from ralph.types import evolve
from ralph.types.output import Failed, Outcome, TimedOut, ToolCall, Usage
from ralph.types.tools import tool_text

_LAST_MESSAGE = 2_000
_LAST_TOOLS = 8
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
            word = f"pause until {decision.until.astimezone():%H:%M:%S}"
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


def denials_text(count: int) -> str:
    """Return how many tool calls were denied, in words; empty for none."""
    return f"{counted(count, 'tool call')} denied" if count else ""


class ToolUse(BaseModel, frozen=True):
    """A use of a tool as a display shows it: in words, with its outcome and, in seconds, its duration."""

    id: str
    text: str
    at: datetime
    outcome: Literal["running", "ok", "failed", "denied"] = "running"
    duration: NonNegativeFloat = 0.0

    @classmethod
    def of(cls, call: ToolCall, at: datetime, workspace: str | None) -> "ToolUse":
        """Return the use of a tool that began at that time, or has ended then."""
        ended = "running" if call.success is None else "denied" if call.denied else "ok" if call.success else "failed"
        text = tool_text(call, workspace)
        return cls(id=call.id, text=text, at=at, outcome=ended, duration=call.duration)


class LimitUse(NamedTuple):
    """The amount that a run has used of one of its limits; seconds for "max_duration"."""

    name: str
    used: float
    allowed: float


class RunView(BaseModel, frozen=True):
    """A run as a display shows it, after any number of its events.

    Attributes:
        model: the one that answered last; before, the one that was asked for.
        activity: what the agent is doing, in a few words; `activity_since` when it began.
        running, tools: the tools that it uses now, and the last ones that it has used; the newest last.
        limits: by name, as in `RunStarted`.
        limited: iterations that met a rate limit, and so do not count.
        message: the end of its last message, or of the unfinished one.
        message_ended: whether what it says next is another message.
        started_at: of the process that works on it; `before` are the seconds that the run took until then.
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
    limits: dict[str, float] = {}
    breaker: str = "closed"
    breaker_warning: str = ""
    executor: str = ""
    model: str | None = None
    verifiers: tuple[str, ...] = ()
    activity: str = ""
    activity_since: datetime | None = None
    running: tuple[ToolUse, ...] = ()
    tools: tuple[ToolUse, ...] = ()
    message: str = ""
    message_ended: bool = True
    plan: PlanCount | None = None
    plan_before: PlanCount | None = None
    usage: Usage = Usage()
    denials: NonNegativeInt = 0
    before: NonNegativeFloat = 0.0
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
        changes = _changes(event, self)
        if "activity" in changes and (changes["activity"] != self.activity or isinstance(event, events.ToolStarted)):
            changes["activity_since"] = event.at
        return evolve(self, **changes)

    def elapsed(self, now: datetime) -> float:
        """Return how long the run has taken so far, in seconds, without the time between its processes."""
        if self.state == "finished" or self.started_at is None:
            return self.duration
        return self.before + max(0.0, (now - self.started_at).total_seconds())

    def used(self, now: datetime) -> tuple[LimitUse, ...]:
        """Return what the run has used of each limit for the whole run; what is not measured is left out."""
        usage = self.usage
        amounts = {
            "max_iterations": max(0, self.iteration - self.limited),
            "max_duration": self.elapsed(now),
            "max_tokens": usage.tokens,
            "max_requests": usage.premium_requests,
            "max_cost": usage.cost,
        }
        return tuple(
            LimitUse(name, used, self.limits[name])
            for name, used in amounts.items()
            if used is not None and self.limits.get(name)
        )

    def expected_end(self, now: datetime) -> tuple[datetime, str] | None:
        """Return when the run ends if it continues at the same pace, and by what: "plan", or the name of a limit.

        None before the first iteration has ended, and for a run that is not running.
        """
        if self.state != "running" or not self.last_decision:
            return None
        taken = self.elapsed(now)
        shares = [(use.name, use.used, use.allowed) for use in self.used(now)]
        if self.plan and self.plan_before and self.plan.done < self.plan.total:
            shares.append(("plan", self.plan.done - self.plan_before.done, self.plan.total - self.plan_before.done))
        ends = ((max(0.0, of - done) * taken / done, name) for name, done, of in shares if done > 0)
        left, name = min(ends, default=(0.0, ""))
        return (now + timedelta(seconds=min(left, 1e9)), name) if name else None


def _changes(event: events.Event, view: RunView) -> dict[str, Any]:
    changes: dict[str, Any]
    match event:
        case events.RunStarted():
            changes = _after_start(event, view)
        case events.IterationStarted():
            changes = {"iteration": event.iteration, "since": event.at, "state": "running", "running": ()}
            changes |= {"activity": "thinking", "message_ended": True}
        case events.MessageStreamed():
            text = ("" if view.message_ended else view.message) + event.text
            changes = {"message": text[-_LAST_MESSAGE:], "message_ended": False, "activity": "answering"}
        case events.MessageReceived():
            text = event.text[-_LAST_MESSAGE:] if event.text.strip() else view.message
            changes = {"message": text, "message_ended": True}
        case events.ToolStarted() | events.ToolFinished():
            changes = _after_tool(event, view)
        case events.ExecutorFellBack() if event.before == event.after:
            changes = {"activity": f"{event.before} failed and is asked again", "running": ()}
        case events.ExecutorFellBack():
            changes = {"fallbacks": view.fallbacks + 1, "activity": f"{event.before} failed, {event.after} tries next"}
            changes |= {"executor": event.after, "running": ()}
        case events.VerificationStarted():
            changes = {"activity": f"verifying: {event.verifier}"}
        case events.VerificationFinished():
            changes = {"activity": "verified" if event.passed else "verification failed"}
        case events.IterationFinished():
            changes = _after_iteration(event, view)
        case _:
            changes = _after_change_of_run(event, view)
    return changes


def _after_start(event: events.RunStarted, view: RunView) -> dict[str, Any]:
    known = {"run_id", "task", "workspace", "executor", "max_iterations", "limits", "model", "verifiers"}
    changes = {name: getattr(event, name) for name in known}
    changes |= {"started_at": event.at, "state": "running", "paused_until": None, "running": ()}
    changes |= {name: RunView.model_fields[name].default for name in _OF_END}
    changes |= {"before": event.duration or view.duration, "plan_before": event.plan}
    if not event.resumed:
        changes["plan"] = event.plan
    if not view.iteration:  # else the earlier events have told it
        changes |= {"usage": event.usage, "denials": event.denials, "iteration": event.iteration}
    return changes


def _after_tool(event: events.ToolStarted | events.ToolFinished, view: RunView) -> dict[str, Any]:
    call = event.tool
    running = [use for use in view.running if use.id != call.id]
    use = ToolUse.of(call, event.at, view.workspace)
    if isinstance(event, events.ToolStarted):
        now = (*running, use)[-_LAST_TOOLS:]
        return {"running": now, "activity": use.text, "message_ended": True}
    activity = running[-1].text if running else "thinking"
    tools, denials = (*view.tools, use)[-_LAST_TOOLS:], view.denials + call.denied
    return {"running": tuple(running), "tools": tools, "denials": denials, "activity": activity}


def _after_iteration(event: events.IterationFinished, view: RunView) -> dict[str, Any]:
    return {
        "executor": event.executor or view.executor,
        "model": event.model or view.model,
        "usage": view.usage + event.usage,
        "duration": view.elapsed(event.at),
        "plan": event.plan or view.plan,
        "last_decision": describe(event.decision),
        "activity": "",
        "running": (),
        "message": event.text[-_LAST_MESSAGE:] or view.message,
        "message_ended": True,
        "limited": view.limited + event.limited,
    }


def _after_change_of_run(event: events.Event, view: RunView) -> dict[str, Any]:
    match event:
        case events.BreakerChanged(breaker=breaker):
            return {"breaker": breaker.state, "breaker_warning": breaker.reason if breaker.warning else ""}
        case events.Paused():
            return {"state": "paused", "paused_until": event.until, "activity": event.reason}
        case events.Extended():
            after = {**view.limits, **event.limits}
            most = after.get("max_iterations", view.max_iterations)
            limits = {name: value for name, value in after.items() if value is not None}
            return {"limits": limits, "max_iterations": None if most is None else int(most)}
        case events.Resumed():
            return {"state": "running", "paused_until": None, "activity": ""}
        case events.RunFinished():
            last = {name: getattr(event, name) for name in (*_OF_END, "usage", "denials", "duration")}
            return {"state": "finished", "activity": "", "running": (), **last}
        case _:
            return {}
