"""What follows from an iteration: go on, complete, halt or pause.

The order is fixed; the first that applies is the decision:

1. cancelled
2. a claim of completion that every verifier passed (or, without verifiers, that nothing speaks against)
3. rate-limited: a pause, which counts against nothing
4. the executor cannot work
5. blocked: the agent needs a person
6. a limit
7. the breaker is open
8. test saturation
9. stuck for the second time; the first time makes the next iteration a pivot
10. go on, after the hour where the calls of an hour are used up
"""

from datetime import datetime, timedelta
from typing import Annotated, Literal

from pydantic import BaseModel, Field, NonNegativeInt, PositiveFloat, PositiveInt

from ralph.analysis.result import Evidence
from ralph.breaker import BreakerState
from ralph.limits import LimitReached
from ralph.output import Failed, Interrupted, TimedOut
from ralph.status import StatusMalformed
from ralph.strategies import Case, Claim
from ralph.verification import Verification

__all__ = [
    "Complete",
    "Continue",
    "Decision",
    "DecisionSettings",
    "Halt",
    "Pause",
    "StopReason",
    "Tally",
    "decide",
    "following",
    "held_by",
]

StopReason = Literal[
    "completed",
    "stuck",
    "test_saturation",
    "circuit_open",
    "limit_reached",
    "executor_unavailable",
    "blocked",
    "cancelled",
    "error",
]


class Continue(BaseModel, frozen=True):
    """Another iteration.

    Attributes:
        feedback: what the agent is told of the last one.
        pivot: the loop is stuck: what repeats, so that the agent changes its approach; empty otherwise.
        warning: the breaker may open soon: why, so that the agent changes its approach; empty otherwise.
        confirm: the last one claimed completion against the evidence; the next one may confirm it.
    """

    kind: Literal["continue"] = "continue"
    reason: str = "the work goes on"
    feedback: str = ""
    pivot: str = ""
    warning: str = ""
    confirm: bool = False
    evidence: tuple[Evidence, ...] = ()


class Complete(BaseModel, frozen=True):
    """The task is done.

    Attributes:
        verified: whether anything but the agent's word stands behind it.
        still_open: what spoke against it and was overruled by the agent's confirmation.
    """

    kind: Literal["complete"] = "complete"
    reason: str
    verified: bool = False
    still_open: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()


class Halt(BaseModel, frozen=True):
    """The run ends without being completed."""

    kind: Literal["halt"] = "halt"
    stop_reason: StopReason
    reason: str
    evidence: tuple[Evidence, ...] = ()


class Pause(BaseModel, frozen=True):
    """Nothing is wrong but the time: the run goes on at `until`.

    Attributes:
        then: how it goes on; None after a rate limit, as the iteration that met it is done again.
    """

    kind: Literal["pause"] = "pause"
    until: datetime
    reason: str
    then: Continue | None = None
    evidence: tuple[Evidence, ...] = ()


Decision = Annotated[Continue | Complete | Halt | Pause, Field(discriminator="kind")]

_LONGEST_WAIT = 7 * 86400.0
"""Seconds. A provider that names a later time is asked again nonetheless: nobody waits for what may be nonsense."""


def held_by(limit: LimitReached) -> "Halt | Pause":
    """What a limit that is reached asks for: the end, or, where it passes by itself, a wait."""
    if limit.until is None:
        return Halt(stop_reason="limit_reached", reason=str(limit))
    return Pause(until=limit.until, reason=str(limit))


def following(decision: "Decision") -> Continue | None:
    """How the run goes on after a decision; None where it does not, or goes on as before."""
    return decision.then if isinstance(decision, Pause) else decision if isinstance(decision, Continue) else None


class DecisionSettings(BaseModel, frozen=True, extra="forbid"):
    """Numbers of the decision that belong to no other part."""

    test_saturation: PositiveInt = Field(
        default=3, le=1000, description="Test-only iterations without progress in a row that end the run."
    )
    blocked: PositiveInt = Field(default=2, le=1000, description="Blocked iterations in a row that end the run.")
    questions: PositiveInt = Field(default=3, le=1000, description="Questions to a person in a row that end the run.")
    unavailable: PositiveInt = Field(
        default=2,
        le=1000,
        description="Refused (or, before any answer, unanswered) iterations in a row that end the run.",
    )
    rate_limit_wait: PositiveFloat = Field(
        default=60.0,
        le=_LONGEST_WAIT,
        description="Seconds to wait where no time is named; doubled each time in a row.",
    )
    max_rate_limit_wait: PositiveFloat = Field(
        default=3600.0, le=_LONGEST_WAIT, description="Seconds that such a wait has at most."
    )


class Tally(BaseModel, frozen=True):
    """What earlier iterations leave for later decisions: a fold over the run, kept in every record."""

    answered: bool = False
    limited: NonNegativeInt = 0
    refused: NonNegativeInt = 0
    blocked: NonNegativeInt = 0
    questions: NonNegativeInt = 0
    test_only: NonNegativeInt = 0
    pivoted: bool = False
    confirming: bool = False

    def after(self, case: Case) -> "Tally":
        """With one more iteration, before its decision. One that Ralph itself cut short says nothing."""
        failure, analysis = case.output.failure, case.analysis
        if isinstance(case.output.outcome, Interrupted):
            return self
        if failure is not None and failure.failure == "rate_limited":
            return self.model_copy(update={"limited": self.limited + 1})
        turned_down = failure is not None and (
            failure.failure == "refused" or (failure.failure == "unavailable" and not self.answered)
        )
        recovered = case.progressed is True and not analysis.stuck.detected
        return self.model_copy(
            update={
                "answered": self.answered or failure is None,
                "limited": 0,
                "refused": self.refused + 1 if turned_down else 0,
                "blocked": self.blocked + 1 if analysis.state == "blocked" else 0,
                "questions": self.questions + 1 if analysis.state == "question" else 0,
                "test_only": self.test_only + 1 if analysis.completion.test_only and not case.progressed else 0,
                "pivoted": self.pivoted and not recovered,
            }
        )

    def decided(self, decision: "Decision") -> "Tally":
        """With what the iteration's decision leaves behind."""
        word = following(decision)
        if word is None:
            return self
        return self.model_copy(update={"pivoted": self.pivoted or bool(word.pivot), "confirming": word.confirm})


def decide(
    case: Case,
    tally: Tally,
    breaker: BreakerState,
    *,
    at: datetime,
    claim: Claim | None = None,
    verification: Verification | None = None,
    limit: LimitReached | None = None,
    breaker_ends_run: bool = True,
    breaker_until: datetime | None = None,
    settings: DecisionSettings | None = None,
) -> "Decision":
    """What follows from an iteration.

    Args:
        tally: with this iteration in it (`Tally.after`).
        breaker: with this iteration in it.
        claim: what the exit strategy made of the case.
        verification: what the verifiers said of the claim; None where there are none or nothing was claimed.
        limit: the limit that is reached, if one is.
        breaker_ends_run: whether an open breaker stops the run or waits for `breaker_until`.
    """
    settings = settings or DecisionSettings()
    word = _go_on(case, breaker, claim, tally, verification)
    return (
        _cancelled(case)
        or _completed(claim, tally, verification)
        or _limited(case, tally, limit, at, settings)
        or _unavailable(case, tally, settings)
        or _blocked(case, tally, settings)
        or _limit(case, limit)
        or _breaker(breaker, breaker_until, word, ends_run=breaker_ends_run)
        or _saturated(case, tally, settings)
        or _stuck_again(case, tally)
        or _later(limit, word)
        or word
    )


def _cancelled(case: Case) -> Halt | None:
    outcome = case.output.outcome
    if isinstance(outcome, Interrupted) and outcome.by == "signal":
        return Halt(stop_reason="cancelled", reason=outcome.detail or "the run was cancelled")
    return None


def _completed(claim: Claim | None, tally: Tally, verification: Verification | None) -> Complete | None:
    if claim is None or (verification is not None and verification.refuted):
        return None
    if claim.doubts and not tally.confirming:
        return None
    passed = [f"`{verdict.verifier}`" for verdict in verification.verdicts] if verification else []
    return Complete(
        reason=f"{claim.reason}; passed: {', '.join(passed)}" if passed else claim.reason,
        verified=verification is not None and verification.passed,
        still_open=claim.doubts,
        evidence=claim.evidence,
    )


def _limited(
    case: Case, tally: Tally, limit: LimitReached | None, at: datetime, settings: DecisionSettings
) -> Pause | None:
    failure = case.output.failure
    if failure is None or failure.failure != "rate_limited":
        return None
    wait = failure.retry_after
    if wait is None:
        doubled = settings.rate_limit_wait * 2.0 ** min(max(tally.limited, 1) - 1, 20)
        wait = min(doubled, settings.max_rate_limit_wait)
    until = at + timedelta(seconds=min(wait, _LONGEST_WAIT))
    if limit is not None and limit.until is not None:
        until = max(until, limit.until)
    return Pause(until=until, reason=f"rate limited: {failure.message}".rstrip(": "))


def _unavailable(case: Case, tally: Tally, settings: DecisionSettings) -> Halt | None:
    failure = case.output.failure
    if failure is None:
        return None
    if failure.failure == "auth" or tally.refused >= settings.unavailable:
        return Halt(stop_reason="executor_unavailable", reason=_failure_text(failure))
    return None


def _blocked(case: Case, tally: Tally, settings: DecisionSettings) -> Halt | None:
    if tally.blocked < settings.blocked and tally.questions < settings.questions:
        return None
    asked = case.analysis.question or case.analysis.work_summary or "the agent says that it cannot go on alone"
    return Halt(stop_reason="blocked", reason=asked, evidence=_pieces(case, "exit_signal"))


def _limit(case: Case, limit: LimitReached | None) -> Halt | None:
    outcome = case.output.outcome
    if isinstance(outcome, Interrupted) and outcome.by == "limit":
        return Halt(stop_reason="limit_reached", reason=outcome.detail)
    held = held_by(limit) if limit else None
    return held if isinstance(held, Halt) else None


def _later(limit: LimitReached | None, word: Continue) -> Pause | None:
    """The wait for a limit that passes by itself. It comes last: it must hide no reason to stop."""
    held = held_by(limit) if limit else None
    return held.model_copy(update={"then": word}) if isinstance(held, Pause) else None


def _breaker(breaker: BreakerState, until: datetime | None, word: Continue, *, ends_run: bool) -> Halt | Pause | None:
    if breaker.state != "open":
        return None
    if ends_run or until is None:
        return Halt(stop_reason="circuit_open", reason=breaker.reason)
    return Pause(until=until, reason=f"circuit open: {breaker.reason}", then=word)


def _saturated(case: Case, tally: Tally, settings: DecisionSettings) -> Halt | None:
    if tally.test_only < settings.test_saturation:
        return None
    reason = f"{tally.test_only} iterations in a row only ran tests"
    return Halt(stop_reason="test_saturation", reason=reason, evidence=_pieces(case, "test_"))


def _stuck_again(case: Case, tally: Tally) -> Halt | None:
    why = _circles(case)
    if not why or not tally.pivoted:
        return None
    reason = f"stuck again after a change of approach: {why}"
    return Halt(stop_reason="stuck", reason=reason, evidence=_repeating(case))


def _circles(case: Case) -> str:
    """How the loop goes in circles; empty where it does not."""
    stuck = case.analysis.stuck
    if not stuck.detected or case.progressed:
        return ""
    return "; ".join(stuck.repeated_patterns) or "the loop goes in circles"


def _repeating(case: Case) -> tuple[Evidence, ...]:
    stuck = case.analysis.stuck
    return tuple(
        Evidence(signal="stuck", text=pattern[:200], weight=stuck.confidence, why="It repeats.")
        for pattern in stuck.repeated_patterns
    )


def _go_on(
    case: Case, breaker: BreakerState, claim: Claim | None, tally: Tally, verification: Verification | None
) -> Continue:
    doubted = claim is not None and bool(claim.doubts) and not tally.confirming
    refuted = verification is not None and bool(verification.refuted)
    pivot = _circles(case)
    if pivot:
        reason = "stuck for the first time: the approach must change"
    elif refuted:
        reason = "a claim of completion was refuted"
    elif doubted:
        reason = "a claim of completion waits for its confirmation"
    else:
        reason = _why_on(case)
    return Continue(
        reason=reason,
        feedback="\n\n".join(_feedback(case, claim if doubted else None, verification)),
        pivot=pivot,
        warning=breaker.reason if breaker.warning else "",
        confirm=doubted,
        evidence=(*(claim.evidence if claim else ()), *(_repeating(case) if pivot else ())),
    )


def _why_on(case: Case) -> str:
    match case.output.outcome:
        case Failed() as failure:
            return f"the turn failed and is tried again: {_failure_text(failure)}"
        case TimedOut(limit=limit, after=after):
            return f"the turn was ended after {after:g} s ({limit} time-out)"
        case Interrupted(detail=detail):
            return f"the turn was ended: {detail}"
        case _ if case.exit_signal is False:
            return "the agent says that work is left"
        case _:
            return "nothing says that the task is done"


def _feedback(case: Case, doubted: Claim | None, verification: Verification | None) -> list[str]:
    """What the agent is told, one paragraph a subject."""
    told = [
        f"You said that the task is done, but `{verdict.verifier}` does not pass:\n{verdict.output}"
        for verdict in (verification.refuted if verification else ())
    ]
    if doubted:
        doubts = "\n".join(f"- {doubt}" for doubt in doubted.doubts)
        told.append(f"You said that the task is done, but:\n{doubts}\nMend that, or confirm that it is done.")
    match case.output.outcome:
        case TimedOut(limit=limit, after=after):
            told.append(f"The last iteration was ended after {after:g} s ({limit} time-out). Take smaller steps.")
        case Failed() as failure:
            told.append(f"The last iteration failed: {_failure_text(failure)}. The files may be half-changed.")
        case _:
            pass
    if isinstance(case.analysis.status, StatusMalformed):
        told.append(f"Your status block could not be read: {case.analysis.status.problem}.")
    if case.analysis.state in {"question", "blocked"}:
        told.append(
            "Nobody will reply to a question before the run ends. "
            "Take the safest reversible choice, note it, and go on."
        )
    if case.output.denials:
        denied = ", ".join(sorted({call.name for call in case.output.tool_calls if call.denied}))
        told.append(
            f"{case.output.denials} tool calls were denied ({denied}). Do not try them again; work without them."
        )
    return told


def _failure_text(failure: Failed) -> str:
    status = f" (HTTP {failure.status})" if failure.status else ""
    return f"{failure.failure}{status}: {failure.message}".rstrip(": .")


def _pieces(case: Case, *signals: str) -> tuple[Evidence, ...]:
    return tuple(piece for piece in case.analysis.evidence if piece.signal.startswith(signals))
