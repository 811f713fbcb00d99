"""The exit strategies: what counts as a claim that the task is done.

A claim ends nothing by itself: the run's verifiers decide on it, and `ralph.decision` on what follows.

| strategy | a claim is |
|---|---|
| `auto` | `EXIT_SIGNAL: true`; else the plan's boxes all ticked during this run; else completion words of strength 70 |
| `exit_signal` | `EXIT_SIGNAL: true`, nothing else (go-ralph) |
| `natural_language` | completion words of 30 points and two kinds (go-ralph) |
| `done_signals` | completion words detected and an overall confidence of 40 (Nity Loop) |
| `fix_plan` | every box of the plan ticked (Ralph Runtime, Nity Loop) |
| `circuit_breaker` | nothing: only limits and the safety net end the run |

An explicit `EXIT_SIGNAL: false` vetoes every claim made by words. Under `auto` a claim that the evidence does not
bear out (open boxes in the plan, a run that changed nothing) asks for one confirming iteration first.
"""

from collections.abc import Mapping
from typing import Protocol

from pydantic import BaseModel

from ralph.analysis.result import Analysis, Evidence
from ralph.errors import UnknownNameError
from ralph.output import Completed, Output
from ralph.plan import PlanState
from ralph.status import StatusReport

__all__ = ["STRATEGIES", "Case", "Claim", "Strategy", "strategy_named"]


class Case(BaseModel, frozen=True):
    """What is known when an iteration's decision is due.

    Attributes:
        plan: the plan against how it was when the run started; None without a plan.
        changed: whether the workspace differs from how it was when the run started; None where unknown.
        progressed: whether this iteration moved workspace or plan; None where unknown.
    """

    iteration: int = 1
    output: Output = Output()
    analysis: Analysis = Analysis()
    plan: PlanState | None = None
    changed: bool | None = None
    progressed: bool | None = None

    @property
    def exit_signal(self) -> bool | None:
        """The agent's explicit word; None where it gave none."""
        status = self.analysis.status
        return status.exit_signal if isinstance(status, StatusReport) else None


class Claim(BaseModel, frozen=True):
    """A claim that the task is done.

    Attributes:
        reason: what makes it, in a few words.
        doubts: what speaks against it; with any of them the claim needs a confirming iteration.
    """

    reason: str
    doubts: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()


class Strategy(Protocol):
    """An exit strategy: a named function of the case. It must be pure."""

    @property
    def name(self) -> str: ...

    def claim(self, case: Case) -> Claim | None:
        """The claim that the iteration makes, or None."""
        ...


class _Auto:
    name = "auto"

    def claim(self, case: Case) -> Claim | None:
        if case.exit_signal is False or not isinstance(case.output.outcome, Completed):
            return None
        if case.exit_signal:
            return Claim(reason="EXIT_SIGNAL: true", doubts=_doubts(case), evidence=_said(case, "exit_signal"))
        if case.plan is not None and case.plan.all_ticked_during_run and not _contradicts(case):
            return Claim(reason="every box of the plan was ticked during this run", evidence=_said(case, "plan"))
        completion = case.analysis.completion
        if completion.detected and completion.confidence >= 70:
            words = ", ".join(completion.keywords)
            return Claim(reason=f"the reply says so: {words}", doubts=_doubts(case), evidence=_said(case, "completion"))
        return None


class _ExitSignal:
    name = "exit_signal"

    def claim(self, case: Case) -> Claim | None:
        if not case.exit_signal:
            return None
        return Claim(reason="EXIT_SIGNAL: true", evidence=_said(case, "exit_signal"))


class _NaturalLanguage:
    name = "natural_language"

    def claim(self, case: Case) -> Claim | None:
        if case.exit_signal is not None:
            return _ExitSignal().claim(case)
        analysis = case.analysis
        if analysis.points < 30 or len(analysis.indicators) < 2:
            return None
        reason = f"{analysis.points} points from {', '.join(analysis.indicators)}"
        return Claim(reason=reason, evidence=_said(case, "indicator", "completion"))


class _DoneSignals:
    name = "done_signals"

    def claim(self, case: Case) -> Claim | None:
        analysis = case.analysis
        if not analysis.completion.detected or analysis.confidence < 40:
            return None
        return Claim(reason=f"confidence {analysis.confidence:g} with {', '.join(analysis.completion.keywords)}")


class _FixPlan:
    name = "fix_plan"

    def claim(self, case: Case) -> Claim | None:
        if case.plan is None or not case.plan.now.total or case.plan.now.open:
            return None
        return Claim(reason="every box of the plan is ticked", evidence=_said(case, "plan"))


class _CircuitBreaker:
    name = "circuit_breaker"

    def claim(self, case: Case) -> Claim | None:
        return None


STRATEGIES: Mapping[str, Strategy] = {
    strategy.name: strategy
    for strategy in (_Auto(), _CircuitBreaker(), _DoneSignals(), _ExitSignal(), _FixPlan(), _NaturalLanguage())
}


def strategy_named(name: str) -> Strategy:
    """The built-in strategy of that name. Raises `UnknownNameError`."""
    try:
        return STRATEGIES[name]
    except KeyError:
        raise UnknownNameError("exit strategy", name, STRATEGIES) from None


def _doubts(case: Case) -> tuple[str, ...]:
    doubts = [f"still open in the plan: {item}" for item in (case.plan.still_open if case.plan else ())]
    if case.changed is False and not (case.plan is not None and case.plan.ticked_during_run):
        doubts.append("the whole run has changed nothing in the workspace")
    return tuple(doubts)


def _contradicts(case: Case) -> bool:
    """Whether the reply speaks against a finished plan."""
    status = case.analysis.status
    working = isinstance(status, StatusReport) and status.status.upper() in {"IN_PROGRESS", "BLOCKED"}
    return working or case.analysis.state in {"blocked", "question", "limited", "error"}


def _said(case: Case, *signals: str) -> tuple[Evidence, ...]:
    return tuple(piece for piece in case.analysis.evidence if piece.signal.startswith(signals))
