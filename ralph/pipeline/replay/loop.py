"""What follows from a turn, by the same functions as in a live run; no agent, no files, no clock."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Self

from ralph.analysis.analyzer import ResponseAnalyzer
from ralph.analysis.lexicon import Keyword
from ralph.analysis.result import AnalysisContext, Analyzer
from ralph.decision.breaker import CircuitBreaker
from ralph.decision.claims import Case, Strategy, claimed, strategy_named
from ralph.decision.limits import Limits
from ralph.decision.outcomes import DecisionSettings
from ralph.pipeline.evaluate import Progress, Rules, conclude
from ralph.prompt import contract_example
from ralph.records.record import IterationRecord, RunRecord, RunState
from ralph.settings import Settings
from ralph.status import StatusField, parse_status
from ralph.types import evolve
from ralph.types.changes import Changes
from ralph.types.output import Output
from ralph.types.verification import Verification

__all__ = ["UNSEEN", "Judging", "Loop"]

UNSEEN = Progress(changes=Changes(), plan=None, plan_state=None, progressed=None, changed=None)
"""Where nothing is known of workspace and plan."""


@dataclass(frozen=True, slots=True)
class Judging:
    """Everything that a turn is judged by."""

    rules: Rules
    strategy: Strategy
    analyzer: Analyzer
    fields: tuple[StatusField, ...] = ()
    promise: str | None = None

    @classmethod
    def by(
        cls,
        settings: Settings,
        *,
        limits: Limits | None = None,
        strategy: Strategy | None = None,
        analyzer: Analyzer | None = None,
        fields: tuple[StatusField, ...] = (),
    ) -> Self:
        """As a run with these settings would judge. Raises `UsageError` for a strategy or a field that will not do.

        Args:
            limits: others than those of the settings.
            strategy, analyzer: others than the settings name, such as a plug-in's.
            fields: further status fields.
        """
        limits = Limits(**settings.limits.model_dump()) if limits is None else limits
        breaker = CircuitBreaker(settings.breaker_settings())
        keywords = [Keyword(**keyword.model_dump()) for keyword in settings.keywords]
        return cls(
            Rules(breaker, limits, settings.decision),
            strategy or strategy_named(settings.strategy),
            analyzer or ResponseAnalyzer(keywords, no_progress=breaker.settings.no_progress),
            (*(StatusField(**field.model_dump()) for field in settings.status_fields), *fields),
            settings.promise,
        )

    @classmethod
    def by_default(cls, strategy: Strategy) -> Self:
        """By a strategy and the defaults of everything else, without limits."""
        rules = Rules(CircuitBreaker(), Limits(max_iterations=None), DecisionSettings())
        return cls(rules, strategy, ResponseAnalyzer())


@dataclass(slots=True)
class Loop:
    """A run, turn by turn: its state is a fold over the records, as that of a live one."""

    judging: Judging
    run: RunRecord
    state: RunState

    @classmethod
    def over(cls, judging: Judging, run: RunRecord) -> Self:
        """At the start of a run."""
        return cls(judging, run, RunState.of(run))

    def judged(
        self,
        output: Output,
        seen: Progress = UNSEEN,
        *,
        at: datetime,
        until: datetime | None = None,
        errors: tuple[str, ...] = (),
        verification: Verification | None = None,
        fingerprint: str | None = None,
    ) -> IterationRecord:
        """The record of the next iteration; `state` stays as it is until `take` is called with it.

        Args:
            output: its text can be stored.
            at, until: when the turn began and when it was over; without the latter it took no time.
            errors: error texts from outside the reply.
            verification: what verifiers said of a claim, if one is made and they were asked.
            fingerprint: of the workspace when the iteration was over.
        """
        judging, until = self.judging, until or at
        state = evolve(self.state, breaker=judging.rules.breaker.cooled(self.state.breaker, at))
        case = self._case(output, seen, errors)
        claim = claimed(judging.strategy, case)
        return conclude(
            judging.rules,
            self.run,
            state,
            case,
            seen,
            claim=claim,
            verification=verification if claim else None,
            fingerprint=fingerprint,
            started_at=at,
            at=until,
            duration=output.duration,
        )

    def take(self, record: IterationRecord) -> IterationRecord:
        """Goes on from an iteration."""
        self.state = self.state.after(record)
        return record

    def goes_on_at(self, number: int) -> None:
        """Makes the next iteration that of a number, as if there had been so many before it."""
        spent = evolve(self.state.spent, iterations=number - 1)
        self.state = evolve(self.state, number=number - 1, spent=spent)

    def within(self, limits: Limits) -> Self:
        """The same, at the same place, within other limits."""
        rules = replace(self.judging.rules, limits=limits)
        return replace(self, judging=replace(self.judging, rules=rules))

    def _case(self, output: Output, seen: Progress, errors: tuple[str, ...]) -> Case:
        judging, number = self.judging, self.state.number + 1
        example = contract_example(judging.fields)
        status = parse_status(output.text, judging.fields, promise=judging.promise, example=example)
        context = AnalysisContext(
            task=self.run.task,
            iteration=number,
            max_iterations=judging.rules.limits.max_iterations,
            plan=seen.plan,
            changes=seen.changes,
            progressed=seen.progressed,
            past=self.state.past,
            errors=errors,
        )
        return Case(
            iteration=number,
            output=output,
            analysis=judging.analyzer.analyze(output, status, context),
            plan=seen.plan_state,
            changed=seen.changed,
            progressed=seen.progressed,
            task=self.run.task,
        )
