"""What would follow from a reply: the analysis, the strategy's claim and the decision, over the replies before it."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, Field, PositiveInt

from ralph.analysis import Analysis, to_json
from ralph.decision.claims import Strategy
from ralph.decision.limits import Limits
from ralph.decision.outcomes import Complete, Decision, Halt
from ralph.decision.rules import Situation
from ralph.pipeline.evaluate import revisit
from ralph.pipeline.explain import Stage, explain
from ralph.pipeline.replay.loop import UNSEEN, Judging, Loop
from ralph.records.record import RunRecord
from ralph.system.text import storable
from ralph.types import evolve
from ralph.types.output import Output
from ralph.types.plan import compare, parse_plan

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
    situation: Situation
    strategy: str

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

    @property
    def chain(self) -> tuple[Stage, ...]:
        """Why, from the signals to the decision."""
        return explain(self.situation, self.strategy)


def judge(question: Question, strategy: Strategy) -> Ruling:
    """The analysis of a reply, and what the loop would do after it and the replies before."""
    now, judging = datetime.now(UTC), Judging.by_default(strategy)
    loop = Loop.over(
        _going_on(judging, question), RunRecord(id="analyze", task=storable(question.task), started_at=now)
    )
    for earlier in question.previous:
        loop.take(loop.judged(Output(text=storable(earlier)), at=now))
    loop = replace(loop, judging=judging)
    if question.iteration is not None:
        loop.goes_on_at(question.iteration)
    plan = None if question.plan is None else parse_plan(question.plan)
    # How the plan was before nobody knows: whatever is ticked counts as this run's work, and as no progress.
    seen = replace(UNSEEN, plan=plan, plan_state=None if plan is None else compare(None, plan))
    loop = loop.within(Limits(max_iterations=question.max_iterations))
    record = loop.judged(
        Output(text=storable(question.text)), seen, at=now, errors=tuple(map(storable, question.errors))
    )
    situation = revisit(loop.judging.rules, loop.state.tally, record, seen.plan_state)
    return Ruling(record.analysis, record.decision, situation, strategy.name)


def _going_on(judging: Judging, question: Question) -> Judging:
    """The same where no earlier reply ends the loop for want of a person: the next one came without anybody's help."""
    never = len(question.previous) + 1
    decision = evolve(judging.rules.decision, blocked=never, questions=never)
    return replace(judging, rules=replace(judging.rules, decision=decision))
