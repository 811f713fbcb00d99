"""From what an iteration gave to what follows from it: pure, one step a function."""

from dataclasses import dataclass
from datetime import datetime

from ralph.decision.breaker import BreakerState, CircuitBreaker, Observation
from ralph.decision.claims import Case, Claim
from ralph.decision.limits import Limits, Price, Spent
from ralph.decision.outcomes import Complete, DecisionSettings
from ralph.decision.rules import Situation, decide
from ralph.decision.streaks import Streaks
from ralph.records.record import IterationRecord, PlanCount, RunRecord, RunState
from ralph.types import evolve
from ralph.types.changes import Changes, Checkpoint, is_new
from ralph.types.output import Answered, Failed, Interrupted, Output, TimedOut, ToolCall, Usage
from ralph.types.plan import PlanState, TaskPlan, compare
from ralph.types.verification import Verification

__all__ = ["Progress", "Rules", "breaker_changed", "conclude", "observe", "priced", "progress", "revisit", "situate"]

_DENIALS = 3
"""Denied calls that make a turn one of denials where nobody knows what it moved; or a third of its calls."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What an iteration is judged by."""

    breaker: CircuitBreaker
    limits: Limits
    decision: DecisionSettings


@dataclass(frozen=True, slots=True)
class Progress:
    """What became of workspace and plan.

    Attributes:
        plan_state: None where there is no plan and was none when the run started.
        progressed: whether this iteration moved either; None where the plan did not move and the workspace is unknown.
        changed: whether the workspace differs from how it was before the run; None where unknown.
    """

    changes: Changes
    plan: TaskPlan | None
    plan_state: PlanState | None
    progressed: bool | None
    changed: bool | None


def progress(run: RunRecord, state: RunState, changes: Changes, plan: TaskPlan | None) -> Progress:
    """What an iteration moved, seen against the run so far."""
    count = PlanCount.of(plan)
    moved = count is not None and count.done > state.ticked
    changed = is_new(changes.fingerprint, state.fingerprints) if changes.known else None
    return Progress(
        changes=changes,
        plan=plan,
        plan_state=None if plan is None and run.plan is None else compare(run.plan, plan),
        progressed=True if moved else changed,
        changed=None if state.baseline is None or not changes.known else changes.fingerprint != state.baseline,
    )


def priced(usage: Usage, price: Price | None) -> Usage:
    """The usage with its cost, where it was not measured and the model has a price."""
    if price is None or usage.cost is not None:
        return usage
    return evolve(usage, cost=price.of(usage))


def observe(case: Case, verification: Verification | None) -> Observation:
    """What the breaker is told of an iteration."""
    outcome, metrics = case.output.outcome, case.analysis.metrics
    failed = isinstance(outcome, Failed | TimedOut)
    errors: list[str] = []
    if case.unanswered:
        errors.append("the service does not answer")
    elif isinstance(outcome, Failed):
        errors.append(f"{outcome.failure} {outcome.status or ''}".strip())
    elif isinstance(outcome, TimedOut):
        errors.append(f"{outcome.limit} time-out")
    elif isinstance(outcome, Interrupted) and outcome.by == "circles":
        errors.append("a turn in circles")
    if verification is not None:
        errors += [f"{verdict.verifier}: {verdict.signature}" for verdict in verification.refuted]
    explicit = metrics.completion_source in {"plan", "checklist", "percentage"}
    return Observation(
        progressed=case.moved,
        worked=case.moved is None and (case.worked or (failed and case.busy)),
        failed=failed,
        unanswered=case.unanswered,
        denied=_denied(case),
        errors=tuple(errors),
        reported=case.analysis.error_signatures,
        delta=metrics.progress if explicit else None,
    )


def _denied(case: Case) -> bool:
    """Whether an iteration was one of denied tools. Where nobody knows what it moved nonetheless, one that was turned
    down now and then may have worked well, and one that tells of work has; but not one that denials were the end of.
    """
    outcome, denials, calls = case.output.outcome, case.output.denials, len(case.output.tool_calls)
    if isinstance(outcome, Interrupted) and outcome.by == "denials":
        return True
    if case.moved is None and (case.worked or case.busy):
        return False
    return denials > 0 and (case.moved is False or denials >= min(_DENIALS, calls / 3))


def situate(
    rules: Rules,
    state: RunState,
    case: Case,
    *,
    claim: Claim | None,
    verification: Verification | None,
    started_at: datetime,
    at: datetime,
    duration: float,
) -> tuple[Situation, Spent]:
    """What the decision on an iteration rests on, and what the run has spent with it."""
    output = case.output
    unshown = case.limited or (isinstance(output.outcome, Interrupted) and output.outcome.by in {"signal", "limit"})
    breaker = state.breaker if unshown else rules.breaker.record(state.breaker, observe(case, verification), at)
    reviews = verification.sessions if verification else 0
    calls = 1 + len(output.attempts) + reviews
    called = state.spent.called(min(started_at, at), keep=rules.limits.calls_per_hour, times=calls)
    spent = called.used(output.usage, duration, counts=not case.limited)
    situation = Situation(
        case,
        state.tally.after(case),
        breaker,
        at,
        claim=claim,
        verification=verification,
        limit=rules.limits.reached(spent, at),
        breaker_ends_run=rules.breaker.exhausted(breaker),
        breaker_until=rules.breaker.open_until(breaker),
        settings=rules.decision,
    )
    return situation, spent


def conclude(
    rules: Rules,
    run: RunRecord,
    state: RunState,
    case: Case,
    seen: Progress,
    *,
    claim: Claim | None,
    verification: Verification | None,
    fingerprint: str | None,
    checkpoint: Checkpoint | None = None,
    started_at: datetime,
    at: datetime,
    duration: float,
) -> IterationRecord:
    """The record of an iteration, with its decision."""
    output, analysis = case.output, case.analysis
    situation, spent = situate(
        rules, state, case, claim=claim, verification=verification, started_at=started_at, at=at, duration=duration
    )
    decision = decide(situation)
    return IterationRecord(
        run_id=run.id,
        number=case.iteration,
        started_at=started_at,
        finished_at=at,
        text=output.text,
        partial=_partial(output),
        executor=output.executor,
        model=output.model,
        session_id=output.session_id,
        outcome=output.outcome,
        attempts=output.attempts,
        usage=output.usage,
        duration=duration,
        tool_calls=len(output.tool_calls),
        denials=output.denials,
        diagnostics=output.diagnostics,
        changes=seen.changes,
        fingerprint=fingerprint,
        checkpoint=checkpoint or Checkpoint(),
        plan=PlanCount.of(seen.plan),
        progressed=seen.progressed,
        analysis=analysis,
        claim=evolve(claim, evidence=()) if claim else None,
        verification=verification,
        heard=state.heard,
        breaker=situation.breaker,
        decision=decision,
        spent=spent,
        tally=situation.tally if case.unanswered else situation.tally.decided(decision),
    )


def revisit(rules: Rules, before: Streaks, record: IterationRecord, plan: PlanState | None = None) -> Situation:
    """What the decision on a stored iteration rested on.

    Args:
        rules: that it was judged by.
        before: the tally of the iteration before.
        plan: as it was then; a record keeps only how many of its boxes were ticked.
    """
    calls = ToolCall.unnamed(record.tool_calls - record.denials, record.denials)
    output = Output(
        text=record.text, outcome=record.outcome, executor=record.executor, tool_calls=calls, usage=record.usage
    )
    case = Case(
        iteration=record.number, output=output, analysis=record.analysis, plan=plan, progressed=record.progressed
    )
    return Situation(
        case,
        before.after(case),
        record.breaker,
        record.finished_at,
        claim=record.claim or _claimed_before(record),
        verification=record.verification,
        limit=rules.limits.reached(record.spent, record.finished_at),
        breaker_ends_run=rules.breaker.exhausted(record.breaker),
        breaker_until=rules.breaker.open_until(record.breaker),
        settings=rules.decision,
    )


def _claimed_before(record: IterationRecord) -> Claim | None:
    """The claim of a record that was made before records kept them; the decision tells that there was one."""
    if isinstance(record.decision, Complete):
        return Claim(reason=record.decision.reason.partition("; passed: ")[0], doubts=record.decision.still_open)
    return Claim(reason="it was verified") if record.verification is not None else None


def _partial(output: Output) -> str:
    if isinstance(output.outcome, Answered):
        return ""
    return next((message.text for message in reversed(output.messages) if message.text), "")


def breaker_changed(before: BreakerState, after: BreakerState) -> bool:
    """Whether a person should be told."""
    return (before.state, before.warning) != (after.state, after.warning)
