"""The judgement of one reply as a loop would give it: the analysis, the decision and what explains both."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, Field, PositiveInt

from ralph.analysis import to_json
from ralph.analysis.metrics import ladder_text
from ralph.cli.evidence import marked, print_evidence
from ralph.cli.output import console
from ralph.cli.replay_sources import GivenChanges
from ralph.decision.limits import Limits
from ralph.decision.outcomes import Complete, Halt, Streaks
from ralph.errors import UsageError
from ralph.pipeline.evaluate import Rules
from ralph.pipeline.explain import Stage, explain
from ralph.pipeline.replay import Loop, Pass
from ralph.records.projection import describe, findings
from ralph.records.record import IterationRecord, RunRecord
from ralph.system.files import objects, opened
from ralph.system.text import counted, one_line, storable
from ralph.types import evolve
from ralph.types.output import Output
from ralph.types.plan import PlanState, TaskPlan, compare, parse_plan
from ralph.watch.terminal import print_rows, print_text

_EXIT_REASONS = {
    "stuck": "stuck",
    "test_saturation": "test_saturation",
    "circuit_open": "circuit_open",
    "limit_reached": "max_iterations",
    "blocked": "blocked",
}


class Earlier(BaseModel, frozen=True):
    """A reply with the effect of its iteration.

    Attributes:
        changes: to the workspace; None if unknown.
        errors: error texts from outside the reply.
    """

    text: str
    changes: GivenChanges | None = None
    errors: tuple[str, ...] = ()

    def judged_by(self, loop: Loop, at: datetime, plan: TaskPlan | None = None) -> IterationRecord:
        taken = Pass(changes=self.changes.moves() if self.changes else None)
        progress, left = loop.measure(taken, loop.state.number + 1)
        loop.state = evolve(loop.state, errors=tuple(map(storable, self.errors)))
        # The plan before the run is unknown: every ticked box counts as this run's work, and none as progress.
        if plan is not None:
            progress = replace(progress, plan=plan, plan_state=compare(None, plan))
        return loop.judge(Output(text=storable(self.text)), progress, at=at, fingerprint=left)


class Question(Earlier, frozen=True):
    """A reply and its context.

    Attributes:
        plan: the checklist as Markdown.
        previous: earlier replies, oldest first; each may have its changes and errors.
        iteration: counted from 1; unset: the one after `previous`.
    """

    task: str = ""
    plan: str | None = None
    previous: tuple[str | Earlier, ...] = ()
    iteration: PositiveInt | None = None
    max_iterations: PositiveInt | None = Field(default=None, description="Reached: the loop would end.")


@dataclass(frozen=True, slots=True)
class Ruling:
    """The record of a reply as the next iteration of a run, and the rules that it was judged by."""

    run: RunRecord
    record: IterationRecord
    rules: Rules
    before: Streaks
    plan: PlanState | None

    def as_json(self) -> dict[str, Any]:
        """Return the object that `ralph analyze --json` prints."""
        decision = self.record.decision
        reason = "completion" if isinstance(decision, Complete) else None
        if isinstance(decision, Halt):
            reason = _EXIT_REASONS.get(decision.stop_reason)
        found = to_json(self.record.analysis)
        evidence = found.pop("evidence")
        return {
            **found,
            "should_exit": reason is not None,
            "exit_reason": reason,
            "decision": decision.kind,
            "decision_reason": decision.reason,
            "evidence": evidence,
        }

    @property
    def chain(self) -> tuple[Stage, ...]:
        """The explanation, from the signals to the decision."""
        return explain(self.rules, self.run, self.before, self.record, self.plan)


def judge(question: Question, rules: Rules) -> Ruling:
    """Return the analysis of a reply, and the decision of the loop after it and the replies before.

    Of the limits in the rules none counts: that on iterations is the question's.
    """
    now = datetime.now(UTC)
    rules = replace(rules, limits=Limits(max_iterations=None))
    never = len(question.previous) + 1  # no earlier reply ends the loop because it needs the user: the next one came
    patient = replace(rules, decision=evolve(rules.decision, blocked=never, questions=never))
    loop = Loop.recorded_elsewhere(patient, "analyze", storable(question.task))
    for earlier in question.previous:
        given = Earlier(text=earlier) if isinstance(earlier, str) else earlier
        loop.accept(given.judged_by(loop, now))
    loop.rules = rules = replace(rules, limits=Limits(max_iterations=question.max_iterations))
    if (number := question.iteration) is not None:
        spent = evolve(loop.state.spent, iterations=number - 1)
        loop.state = evolve(loop.state, number=number - 1, spent=spent)
    plan = None if question.plan is None else parse_plan(question.plan)
    before, record = loop.state.streaks, question.judged_by(loop, now, plan)
    return Ruling(loop.run, record, rules, before, None if plan is None else compare(None, plan))


def answers(name: str, rules: Rules) -> Iterator[dict[str, Any]]:
    """Yield an answer for each line, in order, also for a broken or empty one."""
    with opened(name) as stream:
        for _, question in objects(stream, Question, every=True):
            yield {"error": question} if isinstance(question, str) else judge(question, rules).as_json()


def effects(files: Sequence[int], earlier: int) -> list[GivenChanges | None]:
    """Return the changes of each earlier reply and of the last one, given the changed files of the last or of all.

    Raises:
        UsageError: there is another number of them.
    """
    if len(files) not in {0, 1, earlier + 1}:
        problem = f"--changes is given {len(files)} times for {counted(earlier + 1, 'iteration')}."
        raise UsageError(problem, "Give it once for FILE, or for each --previous in order and then for FILE.")
    known = [GivenChanges(files=count, commits=0) for count in files]
    return [*[None] * (earlier + 1 - len(known)), *known]


def print_judged(question: Question, ruling: Ruling) -> None:
    """Print the analysis of a reply with its evidence, and the decision after it."""
    out, analysis = console(), ruling.record.analysis
    metrics, stuck = analysis.metrics, analysis.stuck
    rows: Sequence[tuple[str, str]] = (
        ("state", analysis.state),
        ("decision", describe(ruling.record.decision)),
        ("done", f"{metrics.completion_score} % (by {metrics.completion_source}), confidence {analysis.confidence:g}"),
        ("quality", f"{metrics.quality_score}, certainty {metrics.confidence}, errors {metrics.error_count}"),
        ("level", ladder_text(metrics)),
        *findings(analysis),
        ("asks", analysis.question),
        ("stuck", "; ".join(stuck.repeated_patterns) if stuck.detected else ""),
        *(("warning", warning) for warning in analysis.warnings),
    )
    print_rows(out, ((label, one_line(text, 400)) for label, text in rows if text), width=9)
    if out.is_terminal and question.text.strip():
        out.print()
        out.print(marked(question.text, analysis.evidence))
    if evidence := (*analysis.evidence, *stuck.evidence):
        print_text(out, "\nevidence", style="bold")
        print_evidence(out, evidence)
