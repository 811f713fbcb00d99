"""The one path from a reply and its evidence to the record of an iteration; pure.

`assess` reads a reply: its status block, its analysis, and the claim that it makes. Verifiers may then check the claim.
`evaluate` turns the assessment and the verdicts into the record, with breaker, limits and decision. The live loop,
`ralph replay` and `ralph analyze` call these two functions, and nothing else does their work.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol, Self

from ralph.analysis import Keyword, ResponseAnalyzer
from ralph.analysis.metrics import error_signature
from ralph.analysis.result import AnalysisContext, Analyzer
from ralph.decision.breaker import BreakerState, CircuitBreaker, Observation
from ralph.decision.claims import STRATEGIES, Case, Claim, Strategy, claimed, strategy_named
from ralph.decision.limits import DecisionSettings, Limits, Price, Spent
from ralph.decision.outcomes import Streaks
from ralph.decision.rules import Situation, decide
from ralph.errors import UnknownNameError, UsageError
from ralph.prompt import contract_example
from ralph.records.record import IterationRecord, PlanCount, RunRecord, RunState
from ralph.settings import AnalysisSettings, Settings
from ralph.status import StatusField, parse_status
from ralph.types import evolve
from ralph.types.output import Answered, Changes, Checkpoint, Failed, Interrupted, Output, TimedOut, Usage, is_new
from ralph.types.plan import PlanState, TaskPlan, compare
from ralph.types.verification import PriorChecks, Verification

__all__ = [
    "UNKNOWN",
    "Assessment",
    "Progress",
    "RuleParts",
    "Rules",
    "assess",
    "evaluate",
    "measure_progress",
    "observe",
]

_DENIALS = 3
"""Denied calls that make a turn of unknown effect one of denials; a third of its calls is enough as well."""


class RuleParts(Protocol):
    """The parts that `Rules` are made of, by name, such as those of `ralph.plugins.Plugins`; here Ralph's own alone."""

    def strategy(self, name: str) -> Strategy:
        """Return the exit strategy with a name."""
        return strategy_named(name)

    def fields_with(self, own: Sequence[StatusField]) -> tuple[StatusField, ...]:
        """Return all status fields, your own first."""
        return tuple(own)

    def analyzer_with(
        self,
        keywords: Sequence[Keyword] = (),
        *,
        further: Iterable[Analyzer | str] = (),
        first: Analyzer | None = None,
        **reading: Any,
    ) -> Analyzer:
        """Return the analyzer `first`, or the built-in one with such arguments, combined with the `further` ones."""
        for name in further:
            raise UnknownNameError("analyzer", str(name), ())
        return first or ResponseAnalyzer(keywords, **reading)


class _OwnParts(RuleParts):
    """Ralph's own parts alone."""


@dataclass(frozen=True, slots=True)
class Rules:
    """Everything that an iteration is judged by.

    Attributes:
        status_fields: further fields of the status block.
        promise: the phrase that stands for `EXIT_SIGNAL: true`; None if none exists.
        prices: by model; a measured cost is used as it is.
        model: the model whose price counts if the executor does not say which one answered.
    """

    breaker: CircuitBreaker = field(default_factory=CircuitBreaker)
    limits: Limits = field(default_factory=Limits)
    decision: DecisionSettings = field(default_factory=DecisionSettings)
    strategy: Strategy = STRATEGIES["auto"]
    analyzer: Analyzer = field(default_factory=ResponseAnalyzer)
    status_fields: tuple[StatusField, ...] = ()
    promise: str | None = None
    prices: Mapping[str, Price] = field(default_factory=dict[str, Price])
    model: str | None = None

    @classmethod
    def of(cls, settings: Settings, plugins: RuleParts | None = None, *, limits: Limits | None = None) -> Self:
        """Return the rules of a run with these settings, without prices: recorded costs are used as they are.

        Args:
            plugins: the loaded plug-ins; by default only Ralph's own parts.
            limits: others than those of the settings.

        Raises:
            PluginConflictError: a plug-in has a status field with the name of one of the settings.
            UsageError: the strategy, an analyzer or a status field is not valid.
        """
        arguments = rule_arguments(settings)
        arguments["limits"] = limits or settings.limits
        return cls.built(plugins or _OwnParts(), **arguments)

    @classmethod
    def built(
        cls,
        plugins: RuleParts,
        *,
        breaker: CircuitBreaker | None,
        limits: Limits | None,
        decision: DecisionSettings | None,
        strategy: Strategy | str,
        analyzers: Iterable[Analyzer | str],
        keywords: Sequence[Keyword],
        status_fields: Sequence[StatusField],
        promise: str | None,
        analyzer: Analyzer | None = None,
        analysis: AnalysisSettings | None = None,
        prices: Mapping[str, Price] | None = None,
        model: str | None = None,
    ) -> Self:
        """Return the rules of these parts and those of plug-ins; each argument is one of `ralph.Runner`.

        Raises:
            PluginConflictError: a plug-in has a status field with the name of a given one.
            UsageError: keywords are given together with an own analyzer, or a name is unknown.
        """
        if analyzer is not None and keywords:
            raise UsageError(
                "keywords= has no effect together with analyzer=.",
                "Give the keywords to your analyzer, or add it to the built-in one with analyzers=[…].",
            )
        breaker = breaker or CircuitBreaker()
        reading = {**(analysis or AnalysisSettings()).model_dump(), "no_progress": breaker.settings.no_progress}
        return cls(
            breaker=breaker,
            limits=limits or Limits(),
            decision=decision or DecisionSettings(),
            strategy=plugins.strategy(strategy) if isinstance(strategy, str) else strategy,
            analyzer=plugins.analyzer_with(keywords, further=analyzers, first=analyzer, **reading),
            status_fields=plugins.fields_with(status_fields),
            promise=promise,
            prices=dict(prices or {}),
            model=model,
        )

    def priced(self, usage: Usage, model: str | None) -> Usage:
        """Return the usage with its cost, if the cost was not measured and the price of the model is known."""
        price = self.prices.get(model or self.model or "") or self.prices.get(self.model or "")
        return usage if price is None or usage.cost is not None else evolve(usage, cost=price.of(usage))


def rule_arguments(settings: Settings) -> dict[str, Any]:
    """Return the arguments of `Rules.built` that settings name, all but prices and their model."""
    return {
        "breaker": CircuitBreaker(settings.breaker_settings()),
        "limits": settings.limits,
        "decision": settings.decision,
        "strategy": settings.strategy,
        "analyzers": settings.analyzers,
        "analysis": settings.analysis,
        "keywords": settings.keywords,
        "status_fields": [StatusField(**field.model_dump()) for field in settings.status_fields],
        "promise": settings.promise,
    }


@dataclass(frozen=True, slots=True)
class Progress:
    """The effect of an iteration on workspace and plan.

    Attributes:
        plan_state: None if there is no plan and was none when the run started.
        progressed: whether this iteration moved either; None if the plan did not move and the workspace is unknown.
        changed: whether the workspace differs from how it was before the run; None if that is unknown.
    """

    changes: Changes = field(default_factory=Changes)
    plan: TaskPlan | None = None
    plan_state: PlanState | None = None
    progressed: bool | None = None
    changed: bool | None = None


UNKNOWN = Progress()
"""The effect of an iteration of which neither workspace nor plan is known."""


def measure_progress(run: RunRecord, state: RunState, changes: Changes, plan: TaskPlan | None) -> Progress:
    """Compare workspace and plan after an iteration with the run so far."""
    count = PlanCount.of(plan)
    ticked = count is not None and count.done > state.boxes_ticked
    changed = is_new(changes.fingerprint, state.fingerprints) if changes.known else None
    return Progress(
        changes=changes,
        plan=plan,
        plan_state=None if plan is None and run.plan is None else compare(run.plan, plan),
        progressed=True if ticked else changed,
        changed=differs(changes, state.baseline),
    )


def differs(changes: Changes, baseline: str | None) -> bool | None:
    """Return whether the workspace differs from how it was before the run; None if that is unknown."""
    return None if baseline is None or not changes.known else changes.fingerprint != baseline


@dataclass(frozen=True, slots=True)
class Assessment:
    """A reply that has been read with its evidence, before any verifier checks its claim."""

    case: Case
    progress: Progress
    claim: Claim | None

    def to_verify(self, state: RunState) -> Claim | None:
        """Return the claim that verifiers should check: one that needs no further confirmation."""
        claim = self.claim
        return claim if claim is not None and claim.holds(confirming=state.streaks.confirming) else None


def assess(rules: Rules, run: RunRecord, state: RunState, output: Output, progress: Progress) -> Assessment:
    """Analyze the reply of the run's next iteration and find its claim of completion."""
    example = contract_example(rules.status_fields)
    status = parse_status(output.text, rules.status_fields, promise=rules.promise, example=example)
    context = AnalysisContext(
        task=run.task,
        iteration=state.number + 1,
        max_iterations=rules.limits.max_iterations,
        plan=progress.plan,
        changes=progress.changes,
        progressed=progress.progressed,
        past=state.past,
        errors=state.errors,
    )
    lost = tuple(dict.fromkeys((*state.lost, *progress.changes.lost)))
    case = Case(
        iteration=state.number + 1,
        output=evolve(output, usage=rules.priced(output.usage, output.model)),
        analysis=rules.analyzer.analyze(output, status, context),
        plan=progress.plan_state,
        changed=bool(lost) or progress.changed,
        progressed=progress.progressed,
        task=run.task,
        lost=lost,
    )
    return Assessment(case, progress, claimed(rules.strategy, case))


def evaluate(
    rules: Rules,
    run: RunRecord,
    state: RunState,
    assessed: Assessment,
    *,
    started_at: datetime,
    at: datetime,
    duration: float,
    verification: Verification | None = None,
    stopped: str = "",
    fingerprint: str | None = None,
    checkpoint: Checkpoint | None = None,
    last_message: int = 0,
) -> IterationRecord:
    """Decide what follows from an iteration and return its record.

    Args:
        at: when the iteration was over.
        duration: in seconds, verification included.
        verification: the verdicts on the claim; None if nothing was verified.
        stopped: why the run was told to stop during the iteration; empty if it was not.
        fingerprint: of the workspace when the iteration was over.
        last_message: the number of the last user message in the prompt; 0 without one.
    """
    case = _after_verification(rules, assessed.case, verification, stopped)
    breaker = _breaker_after(rules, state, case, verification, started_at=started_at, at=at)
    calls = 1 + len(case.output.attempts) + (verification.sessions if verification else 0)
    called = state.spent.called(min(started_at, at), keep=rules.limits.calls_per_hour, times=calls)
    output = case.output
    spent = called.used(output.usage, duration, counts=not _waits(rules, state, case), denials=output.denials)
    checks = state.checks.after(verification)
    situation = situation_of(
        rules,
        case,
        state.streaks,
        checks=checks,
        breaker=breaker,
        spent=spent,
        at=at,
        claim=assessed.claim,
        verification=verification,
    )
    decision = decide(situation)
    streaks = situation.streaks
    delivered = last_message and not case.limited and (output.messages or output.tool_calls)
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
        changes=assessed.progress.changes,
        fingerprint=fingerprint,
        checkpoint=checkpoint or Checkpoint(),
        plan=PlanCount.of(assessed.progress.plan),
        progressed=assessed.progress.progressed,
        analysis=case.analysis,
        claim=evolve(situation.claim, evidence=()) if situation.claim else None,
        verification=verification,
        heard=last_message if delivered else state.heard,
        breaker=breaker,
        decision=decision,
        spent=spent,
        tally=streaks.decided(decision),
        checks=checks,
    )


def situation_of(
    rules: Rules,
    case: Case,
    before: Streaks,
    *,
    checks: PriorChecks,
    breaker: BreakerState,
    spent: Spent,
    at: datetime,
    claim: Claim | None,
    verification: Verification | None,
) -> Situation:
    """Return the facts that the decision on a case rests on; all but the streaks `before` include this iteration."""
    if claim is not None and verification is None and rules.decision.confirm_words:
        claim = claim.unverified
    return Situation(
        case,
        before.after(case, patient=rules.limits.max_duration is not None),
        breaker,
        at,
        claim=claim,
        verification=verification,
        checks=checks,
        limit=rules.limits.reached(spent, at),
        breaker_ends_run=rules.breaker.exhausted(breaker),
        breaker_until=rules.breaker.open_until(breaker),
        settings=rules.decision,
    )


def _after_verification(rules: Rules, case: Case, verification: Verification | None, stopped: str) -> Case:
    """Return the case with the verifiers' usage, and as interrupted if the run was told to stop."""
    output = case.output
    if verification is not None:
        output = evolve(output, usage=output.usage + rules.priced(verification.usage, output.model))
    if stopped:
        output = evolve(output, outcome=Interrupted(by="signal", detail=stopped))
    return case if output is case.output else evolve(case, output=output)


def _breaker_after(
    rules: Rules, state: RunState, case: Case, verification: Verification | None, *, started_at: datetime, at: datetime
) -> BreakerState:
    """Return the breaker with this iteration, unless that waits for a service or was cut short by user or limit."""
    outcome, before = case.output.outcome, rules.breaker.cooled(state.breaker, started_at)
    if _waits(rules, state, case) or (isinstance(outcome, Interrupted) and outcome.by in {"signal", "limit"}):
        return before
    return rules.breaker.record(before, observe(case, verification, outside=state.errors), at)


def _waits(rules: Rules, state: RunState, case: Case) -> bool:
    """Return whether the run waits for a service after the iteration, which then counts against nothing."""
    return case.limited or state.streaks.after(case, patient=rules.limits.max_duration is not None).outage > 0


def observe(case: Case, verification: Verification | None, *, outside: tuple[str, ...] = ()) -> Observation:
    """Return what the breaker counts of an iteration.

    Args:
        outside: error texts that the analysis was given; the breaker has counted them in their own iteration.
    """
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
        errors += verification.errors
    known = {error_signature(error) for error in outside}
    explicit = metrics.completion_source in {"plan", "checklist", "percentage"}
    return Observation(
        progressed=case.moved,
        worked=case.moved is None and (case.worked or (failed and case.busy)),
        failed=failed,
        unanswered=case.unanswered,
        denied=_denied(case),
        errors=tuple(errors),
        reported=tuple(error for error in case.analysis.error_signatures if error not in known),
        delta=metrics.progress if explicit else None,
    )


def _denied(case: Case) -> bool:
    """Return whether an iteration was one of denied tools.

    If its effect is unknown, one that was denied a call now and then may have worked well, and one that reports work
    has; but not one that ended because of its denials.
    """
    outcome, denials, calls = case.output.outcome, case.output.denials, len(case.output.tool_calls)
    if isinstance(outcome, Interrupted) and outcome.by == "denials":
        return True
    if case.moved is None and (case.worked or case.busy):
        return False
    return denials > 0 and (case.moved is False or denials >= min(_DENIALS, calls / 3))


def _partial(output: Output) -> str:
    if isinstance(output.outcome, Answered):
        return ""
    return next((message.text for message in reversed(output.messages) if message.text), "")
