"""The exit strategies: which replies are a claim that the task is done.

A claim ends nothing by itself: the run's verifiers check it, and `ralph.decision.rules` decides what follows.

| strategy | a claim is |
|---|---|
| `auto` | `EXIT_SIGNAL: true`; else the plan's boxes all ticked during this run; else completion words of strength 70 |
| `exit_signal` | `EXIT_SIGNAL: true`, nothing else (go-ralph) |
| `natural_language` | completion words of 30 points and two kinds (go-ralph) |
| `done_signals` | completion words detected and an overall confidence of 40 (Nity Loop) |
| `fix_plan` | every box of the plan ticked (Ralph Runtime, Nity Loop) |
| `circuit_breaker` | nothing: only limits and the safety net end the run |

Only a turn that the agent itself ended can claim anything (`claimed`). An explicit `EXIT_SIGNAL: false` vetoes every
claim made by words. Under `auto`, an explicit claim that the evidence does not support (open boxes in the plan, a run
that changed nothing, a reply that contradicts itself: `ralph.decision.contradictions`) needs a confirming iteration,
and so do words alone after a turn of unknown effect, or after work on an unknown task. A report of further work
confirms nothing: each part of a task may be called done. Words never outweigh open boxes, nor another place in the
reply that says that it is blocked, asks, or continues.

A further analyzer may block a claim: nothing confirms it as long as that analyzer says so. One that supports a claim
made by words is the second witness that such a claim needs. None can make a claim.
"""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

from pydantic import BaseModel

from ralph.analysis.result import VERY_HIGH, Analysis, Evidence
from ralph.decision.contradictions import HOLDS, OPEN, contradictions
from ralph.errors import UnknownNameError
from ralph.status import StatusMalformed, StatusReport
from ralph.types import evolve
from ralph.types.output import Answered, Failed, Outcome, Output
from ralph.types.plan import PlanState

__all__ = ["STRATEGIES", "STRENGTH", "Case", "Claim", "Strategy", "claimed", "limited", "strategy_named", "unanswered"]

STRENGTH = 70.0
"""The least strength of completion words, of 100, that `auto` counts as a claim."""

_WHOLE = re.compile(
    r"\b(?:project|plan|task|goal|proyecto|tarea)\b"
    r"|\b(?:all|every|todas?|todos?)(?: \w{1,20}){0,3} (?:box|item|phase|requirement|stor|tarea|task|to-?do|work)"
    r"|\b(?:nothing|nada)\b|\b(?:no|zero|0)(?: \w{1,20}){0,3} (?:left|open|outstanding|remain|unchecked)"
    r"|项目|專案|所有(?!测试|測試|的?测试|的?測試)|任务|任務|没有|沒有|无|無",
    re.IGNORECASE,
)
"""Words for the whole task alone; every part has its implementation, and its changes that are all in place."""


class Case(BaseModel, frozen=True):
    """The facts of an iteration before its decision.

    Attributes:
        plan: the plan compared with the start of the run; None without a plan.
        changed: whether the workspace differs from the start of the run; None if unknown.
        progressed: whether this iteration moved workspace or plan; None if unknown.
        task: the task of the run; empty if unknown.
    """

    iteration: int = 1
    output: Output = Output()
    analysis: Analysis = Analysis()
    plan: PlanState | None = None
    changed: bool | None = None
    progressed: bool | None = None
    task: str = ""

    @property
    def exit_signal(self) -> bool | None:
        """The agent's explicit `EXIT_SIGNAL`; None if it gave none."""
        status = self.analysis.status
        return status.exit_signal if isinstance(status, StatusReport) else None

    @property
    def moved(self) -> bool | None:
        """The known progress, else the agent's own count of its changes; None if there is neither."""
        return self.analysis.reports_change if self.progressed is None else self.progressed

    @property
    def limited(self) -> bool:
        """True if the turn met a limit of the service, and so counts against nothing."""
        return limited(self.output.outcome, self.analysis, progressed=self.progressed)

    @property
    def logged_out(self) -> bool:
        """True if the limit that the turn met is a missing login."""
        return self.limited and self.analysis.limit == "login"

    @property
    def unanswered(self) -> bool:
        """True if the service failed before the agent had used a tool: the agent is not to blame."""
        return unanswered(self.output.outcome, len(self.output.tool_calls))

    @property
    def waits(self) -> bool:
        """True if the agent asks the user and did nothing else.

        That is so by its own count or, without one and with unknown changes, by its words and the number of its tool
        calls.
        """
        if self.analysis.state not in {"blocked", "question"} or self.analysis.reports_change:
            return False
        return self.moved is not None or not (self.worked or self.busy)

    @property
    def worked(self) -> bool:
        """True if the iteration moved something or, with unknown changes, reports work of its tools."""
        if self.moved is not None:
            return self.moved
        return self.analysis.tells_of_work and len(self.output.tool_calls) > 2 * self.output.denials

    @property
    def busy(self) -> bool:
        """True if the changes are unknown, but the tool calls make some most likely."""
        return self.moved is None and self.output.busy


class Claim(BaseModel, frozen=True):
    """A claim that the task is done.

    Attributes:
        reason: what makes it, in a few words.
        doubts: what speaks against it; with any of them the claim needs a confirming iteration.
        confirms: whether it can confirm the claim before it; the report of further work cannot.
    """

    reason: str
    doubts: tuple[str, ...] = ()
    confirms: bool = True
    evidence: tuple[Evidence, ...] = ()

    def holds(self, *, confirming: bool) -> bool:
        """Return whether it needs no further confirmation.

        Args:
            confirming: the iteration before has made a claim that waits for its confirmation.
        """
        return not self.doubts or (confirming and self.confirms)


class Strategy(Protocol):
    """An exit strategy: a named, pure function of the case."""

    @property
    def name(self) -> str: ...

    def claim(self, case: Case) -> Claim | None:
        """Return the claim that the iteration makes, or None."""
        ...


class _BuiltIn(NamedTuple):
    name: str
    find: Callable[[Case], Claim | None]

    def claim(self, case: Case) -> Claim | None:
        return self.find(case)


def _auto(case: Case) -> Claim | None:
    if case.exit_signal is not None:
        return _explicit(case) if case.exit_signal else None
    if _contradicts(case):
        return None
    if case.plan is not None and case.plan.all_ticked_during_run:
        return Claim(reason="every box of the plan was ticked during this run", evidence=_said(case, "boxes"))
    return _by_words(case)


def _exit_signal(case: Case) -> Claim | None:
    return Claim(reason="EXIT_SIGNAL: true", evidence=_said(case, "exit_signal")) if case.exit_signal else None


def _natural_language(case: Case) -> Claim | None:
    if case.exit_signal is not None:
        return _exit_signal(case)
    analysis = case.analysis
    if analysis.points < 30 or len(analysis.indicators) < 2:
        return None
    reason = f"{analysis.points} points from {', '.join(analysis.indicators)}"
    return Claim(reason=reason, evidence=_said(case, "completion"))


def _done_signals(case: Case) -> Claim | None:
    analysis = case.analysis
    if case.exit_signal is False or not analysis.completion.detected or analysis.confidence < 40:
        return None
    reason = f"confidence {analysis.confidence:g} with {', '.join(analysis.completion.keywords)}"
    return Claim(reason=reason, evidence=_said(case, "completion"))


def _fix_plan(case: Case) -> Claim | None:
    if case.plan is None or not case.plan.now.total or case.plan.now.open or case.plan.now.problem:
        return None
    return Claim(reason="every box of the plan is ticked", evidence=_said(case, "boxes"))


def _none(case: Case) -> Claim | None:
    return None


STRATEGIES: Mapping[str, Strategy] = {
    strategy.name: strategy
    for strategy in (
        _BuiltIn("auto", _auto),
        _BuiltIn("circuit_breaker", _none),
        _BuiltIn("done_signals", _done_signals),
        _BuiltIn("exit_signal", _exit_signal),
        _BuiltIn("fix_plan", _fix_plan),
        _BuiltIn("natural_language", _natural_language),
    )
}
"""The built-in strategies by name."""


def strategy_named(name: str) -> Strategy:
    """Return the built-in strategy of that name.

    Raises:
        UnknownNameError: no strategy has that name.
    """
    try:
        return STRATEGIES[name]
    except KeyError:
        raise UnknownNameError("exit strategy", name, STRATEGIES) from None


def limited(outcome: Outcome, analysis: Analysis, *, progressed: bool | None) -> bool:
    """Return whether a turn met a limit of the service: by its failure or, if it moved nothing, by its words."""
    if isinstance(outcome, Failed) and outcome.failure == "rate_limited":
        return True
    return isinstance(outcome, Answered | Failed) and analysis.state == "limited" and not progressed


def unanswered(outcome: Outcome, calls: int) -> bool:
    """Return whether the service failed before the agent had used a tool."""
    return isinstance(outcome, Failed) and outcome.failure == "unavailable" and not calls


def claimed(strategy: Strategy, case: Case) -> Claim | None:
    """Return the claim that a strategy sees in a case, weighed by the further analyzers.

    A turn that failed or was cut short claims nothing, whatever it said before.
    """
    claim = strategy.claim(case) if isinstance(case.output.outcome, Answered) else None
    return _weighed(claim, case.analysis) if claim is not None and case.analysis.further else claim


def _weighed(claim: Claim, analysis: Analysis) -> Claim:
    holding, supporting = analysis.opinions("holds_back"), analysis.opinions("supports")
    doubts = tuple(f"{HOLDS}{name} blocks it: {reason}".rstrip(": ") for name, reason in holding.items())
    update: dict[str, object] = {"doubts": (*claim.doubts, *doubts), "confirms": claim.confirms and not doubts}
    if supporting:
        update["reason"] = f"{claim.reason}; supported by {', '.join(supporting)}"
    return evolve(claim, **update)


def _explicit(case: Case) -> Claim | None:
    """Return the claim of an `EXIT_SIGNAL: true`; none if the same block says BLOCKED, which only wants to stop."""
    if _status_word(case) == "BLOCKED":
        return None
    against = tuple(contradictions(case.output.text, case.analysis))
    return Claim(
        reason="EXIT_SIGNAL: true",
        doubts=(*_doubts(case), *against),
        confirms=not (against and case.moved),
        evidence=_said(case, "exit_signal"),
    )


def _by_words(case: Case) -> Claim | None:
    completion = case.analysis.completion
    if not completion.detected or completion.confidence < STRENGTH or (case.plan is not None and case.plan.still_open):
        return None
    doubts = list(_doubts(case))
    seconded = bool(case.analysis.opinions("supports"))
    partly = (case.worked or case.busy) and not seconded and not _speaks_of_the_whole(case)
    if not seconded and case.changed is None and case.output.tool_calls and case.analysis.standstill != "done":
        doubts.append("only the reply says so, and the changes of this turn are unknown")
    elif partly and not case.task:
        doubts.append("the whole task is unknown, and this turn may have done a part of it")
    if isinstance(case.analysis.status, StatusMalformed):
        doubts.append(f"the status block could not be read: {case.analysis.status.problem}")
    reason = f"the reply says so: {', '.join(completion.keywords)}"
    return Claim(reason=reason, doubts=tuple(doubts), confirms=not partly, evidence=_said(case, "completion"))


def _speaks_of_the_whole(case: Case) -> bool:
    """Return whether the words name the whole task as done, and not what may be a part."""
    claims = (piece for piece in case.analysis.evidence if piece.signal == "completion_claim")
    return any(piece.weight >= VERY_HIGH and _WHOLE.search(piece.text) for piece in claims)


def _doubts(case: Case) -> tuple[str, ...]:
    doubts = [f"{OPEN}{item}" for item in (case.plan.still_open if case.plan else ())]
    if case.changed is False and not (case.plan is not None and case.plan.ticked_during_run):
        doubts.append("the whole run has changed nothing in the workspace")
    return tuple(doubts)


def _contradicts(case: Case) -> bool:
    """Return whether another part of the reply speaks against being finished."""
    working = _status_word(case) in {"IN_PROGRESS", "BLOCKED"}
    return working or case.analysis.state in {"blocked", "question", "limited", "error"}


def _status_word(case: Case) -> str:
    status = case.analysis.status
    return status.status.strip().upper().replace(" ", "_") if isinstance(status, StatusReport) else ""


def _said(case: Case, *signals: str) -> tuple[Evidence, ...]:
    return tuple(piece for piece in case.analysis.evidence if piece.signal.startswith(signals))
