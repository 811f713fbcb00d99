"""What would follow from a reply: the analysis, the strategy's claim and the decision, over the replies before it."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, Field, PositiveInt

from ralph.analysis import Analysis, AnalysisContext, Past, ResponseAnalyzer, to_json
from ralph.breaker import BreakerState, CircuitBreaker
from ralph.conclusion import observe
from ralph.decision import Complete, Decision, Halt, Tally, decide
from ralph.limits import LimitReached
from ralph.output import Output
from ralph.plan import TaskPlan, compare, parse_plan
from ralph.record import PAST_KEPT
from ralph.status import parse_status
from ralph.status.fields import storable
from ralph.strategies import Case, Strategy

__all__ = ["Question", "Ruling", "judge"]

_EXIT_REASONS = {
    "stuck": "stuck",
    "test_saturation": "test_saturation",
    "circuit_open": "circuit_open",
    "limit_reached": "max_iterations",
    "blocked": "blocked",
}


class Question(BaseModel, frozen=True):
    """A reply and what it is judged against.

    Attributes:
        plan: the checklist as Markdown.
        previous: earlier replies, oldest first.
        errors: error texts from outside the reply.
        iteration: counted from 1; unset: the one after `previous`.
    """

    text: str
    task: str = ""
    plan: str | None = None
    previous: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    iteration: PositiveInt | None = None
    max_iterations: PositiveInt | None = Field(default=None, description="Reached: the loop would end.")


@dataclass(frozen=True, slots=True)
class Ruling:
    """What Ralph makes of a reply, and what would follow from it."""

    analysis: Analysis
    decision: Decision

    def as_json(self) -> dict[str, Any]:
        """The object that `ralph analyze --json` prints."""
        decision = self.decision
        reason = "completion" if isinstance(decision, Complete) else None
        if isinstance(decision, Halt):
            reason = _EXIT_REASONS.get(decision.stop_reason)
        said = to_json(self.analysis)
        evidence = said.pop("evidence")
        return {
            **said,
            "should_exit": reason is not None,
            "exit_reason": reason,
            "decision": decision.kind,
            "decision_reason": decision.reason,
            "evidence": evidence,
        }


@dataclass(slots=True)
class _Loop:
    """The loop's memory, as far as replies alone tell it: of workspace and verifiers nothing is known."""

    strategy: Strategy
    task: str
    past: tuple[Past, ...] = ()
    tally: Tally = field(default_factory=Tally)
    breaker: BreakerState = field(default_factory=BreakerState)

    def hear(
        self,
        text: str,
        iteration: int,
        *,
        plan: TaskPlan | None = None,
        errors: tuple[str, ...] = (),
        max_iterations: int | None = None,
    ) -> Ruling:
        output = Output(text=storable(text))
        context = AnalysisContext(
            task=self.task,
            iteration=iteration,
            max_iterations=max_iterations,
            plan=plan,
            past=self.past,
            errors=errors,
        )
        analysis = ResponseAnalyzer().analyze(output, parse_status(output.text), context)
        state = None if plan is None else compare(None, plan)
        case = Case(iteration=iteration, output=output, analysis=analysis, plan=state)
        now = datetime.now(UTC)
        self.tally = self.tally.after(case)
        self.breaker = CircuitBreaker().record(self.breaker, observe(case, None), now)
        decision = decide(
            case,
            self.tally,
            self.breaker,
            at=now,
            claim=self.strategy.claim(case),
            limit=_reached(iteration, max_iterations),
        )
        self.tally = self.tally.decided(decision)
        self.past = (*self.past, Past.of(output, analysis, progressed=None))[-PAST_KEPT:]
        return Ruling(analysis, decision)


def judge(question: Question, strategy: Strategy) -> Ruling:
    """The analysis of a reply, and what the loop would do after it and the replies before."""
    loop = _Loop(strategy, storable(question.task))
    for number, earlier in enumerate(question.previous, start=1):
        loop.hear(earlier, number)
    return loop.hear(
        question.text,
        question.iteration or len(question.previous) + 1,
        plan=None if question.plan is None else parse_plan(question.plan),
        errors=tuple(map(storable, question.errors)),
        max_iterations=question.max_iterations,
    )


def _reached(iteration: int, most: int | None) -> LimitReached | None:
    if most is None or iteration < most:
        return None
    return LimitReached(limit="max_iterations", allowed=most, used=iteration)
