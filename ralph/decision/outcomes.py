"""The decisions after an iteration, and what they leave for the next one: feedback for the agent, and counts in a row.

`ralph.decision.rules` chooses the decision.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, Field, NonNegativeInt

from ralph.analysis.result import Evidence
from ralph.decision.claims import WORDS_ALONE, Case, Claim
from ralph.decision.limits import LimitReached
from ralph.status import StatusMalformed
from ralph.types import evolve
from ralph.types.output import Answered, Failed, Interrupted, TimedOut
from ralph.types.verification import Verification

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
        feedback: the feedback to the agent on the last one.
        pivot: the loop is stuck: what repeats, so that the agent changes its approach; empty otherwise.
        warning: the breaker may open soon: why, so that the agent changes its approach; empty otherwise.
        confirm: the last one claimed completion against the evidence; the next one may confirm it.
    """

    kind: Literal["continue"] = "continue"
    reason: str = "the work continues"
    feedback: str = ""
    pivot: str = ""
    warning: str = ""
    confirm: bool = False
    evidence: tuple[Evidence, ...] = ()


class Complete(BaseModel, frozen=True):
    """The task is done.

    Attributes:
        verified: whether a check went from failing to passing, or a fresh review confirmed.
        already_green: every check passes, but each did before the first iteration.
        verified_by: what supports it, in words.
        still_open: what spoke against it and was overruled by the agent's confirmation.
    """

    kind: Literal["complete"] = "complete"
    reason: str
    verified: bool = False
    already_green: bool = False
    verified_by: str = ""
    still_open: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()


class Halt(BaseModel, frozen=True):
    """The run ends without being completed."""

    kind: Literal["halt"] = "halt"
    stop_reason: StopReason
    reason: str
    evidence: tuple[Evidence, ...] = ()


class Pause(BaseModel, frozen=True):
    """A wait until a point in time, with nothing else wrong.

    Attributes:
        then: how the run continues; None after a rate limit, as the limited iteration is done again.
    """

    kind: Literal["pause"] = "pause"
    until: datetime
    reason: str
    then: Continue | None = None
    evidence: tuple[Evidence, ...] = ()


Decision = Annotated[Continue | Complete | Halt | Pause, Field(discriminator="kind")]

LONGEST_WAIT = 7 * 86400.0
"""Seconds. After this time a provider is asked again even if it names a later one, which may be nonsense."""


class Considered(NamedTuple):
    """One rule of the ordered table, and why it made its decision or, with None, why it did not apply."""

    rule: str
    decision: Decision | None
    why: str


def held_by(limit: LimitReached) -> "Halt | Pause":
    """Return what a reached limit demands: the end or, if it passes by itself, a wait."""
    if limit.until is None:
        return Halt(stop_reason="limit_reached", reason=str(limit))
    return Pause(until=limit.until, reason=str(limit))


def following(decision: "Decision") -> Continue | None:
    """Return how the run continues after a decision; None if it ends, or continues as before."""
    return decision.then if isinstance(decision, Pause) else decision if isinstance(decision, Continue) else None


def awaits_service(decision: "Decision") -> bool:
    """Return whether the run waits for the end of a rate limit or an outage: the iteration counts against nothing."""
    return isinstance(decision, Pause) and decision.then is None


def needs_user(decision: "Decision") -> bool:
    """Return whether the run ended because it needs the user.

    The user who resumes it has seen to that: the agent may ask, or be blocked, as often as at first.
    """
    return isinstance(decision, Halt) and decision.stop_reason == "blocked"


_ASKED = 500
"""Characters of the agent's own question that are quoted."""
_CHECK = (
    "Check now that all that the task asks for is there and right, and do what is missing. "
    "Then end your message with the status block; EXIT_SIGNAL: true only if so."
)


def feedback(
    case: Case, claim: Claim | None, verification: Verification | None, *, doubted: bool, redirected: bool = False
) -> str:
    """Return the paragraphs, in the order in which the agent should read them.

    Args:
        verification: the verdicts on the claim.
        doubted: the claim waits for its confirmation.
        redirected: another part of the prompt asks for another approach already.
    """
    ended = _ended(case, redirected=redirected)
    claimed = _unclaimed(case) if claim is None else _doubted(claim) if doubted else ""
    told = [*_refuted(verification), claimed, ended, _unread(case), _unanswered(case), _denied(case)]
    return "\n\n".join(filter(None, told))


def failure_text(failure: Failed) -> str:
    """Return a failure in words, such as "unavailable (HTTP 503)"."""
    status = f" (HTTP {failure.status})" if failure.status else ""
    return f"{failure.failure}{status}: {failure.message}".rstrip(": .")


def _refuted(verification: Verification | None) -> Iterable[str]:
    if verification is None:
        return ()
    refuted = (
        f"You said that the task is done, but `{verdict.verifier}` does not pass:\n{verdict.output}"
        for verdict in verification.refuted
    )
    unknown = (
        f"You said that the task is done, but `{verdict.verifier}` could not find out whether it is: {verdict.output} "
        "If it is done, say so again; it is then asked once more."
        for verdict in verification.undecided
    )
    return (*refuted, *unknown)


def _doubted(claim: Claim) -> str:
    doubts = "\n".join(f"- {doubt}" for doubt in claim.doubts)
    remedy = _CHECK if claim.doubts == (WORDS_ALONE,) else "Fix that, or confirm that it is done."
    return f"You said that the task is done, but:\n{doubts}\n{remedy}"


def _unclaimed(case: Case) -> str:
    said, against = case.says_done
    return "" if against or not said else f"You said “{said}”, but no status block with EXIT_SIGNAL does. {_CHECK}"


def _ended(case: Case, *, redirected: bool) -> str:
    match case.output.outcome:
        case TimedOut(limit=limit, after=after):
            return f"The last iteration was ended after {after:g} s ({limit} time-out). Take smaller steps."
        case Failed() as failure:
            return f"The last iteration failed: {failure_text(failure)}. The files may be half-changed."
        case Interrupted(by="circles", detail=detail):
            advice = "" if redirected else " That leads nowhere; do it in another way."
            return f"The last iteration was ended: {detail}.{advice}"
        case _:
            return ""


def _unread(case: Case) -> str:
    status = case.analysis.status
    return f"Your status block could not be read: {status.problem}." if isinstance(status, StatusMalformed) else ""


def _unanswered(case: Case) -> str:
    if case.analysis.state not in {"question", "blocked"}:
        return ""
    asked = " ".join(case.analysis.question[:_ASKED].split())
    return (
        f"{f'You asked: “{asked}” ' if asked else ''}No one will reply to a question before the run ends. "
        "Take the safest reversible choice, note it, and continue."
    )


def _denied(case: Case) -> str:
    if not case.output.denials:
        return ""
    denied = ", ".join(sorted({call.name for call in case.output.tool_calls if call.denied}))
    return f"{case.output.denials} tool calls were denied ({denied}). Do not try them again; work without them."


_CALM = 3


class Streaks(BaseModel, frozen=True):
    """Counts of iterations in a row, a fold over the run that is kept in every record.

    Attributes:
        answered: an executor has answered at least once, even in a turn that failed or was cut short later.
        outage: iterations in a row in which a service did not answer that the run waits for.
        limited, refused, blocked, test_only: iterations of that kind in a row.
        logins: limited iterations in a row without a login.
        questions: iterations in a row that asked the user, the blocked ones included.
        pivoted: the loop was stuck, and has been asked to change its approach.
        calm: iterations in a row after that which were not stuck; after three, a loop that is stuck again gets another
            change of approach.
        confirming: the next iteration may confirm a claim of completion.
        said_done: iterations of the run, in a row or not, that said "done" without an EXIT_SIGNAL.
    """

    answered: bool = False
    outage: NonNegativeInt = 0
    limited: NonNegativeInt = 0
    logins: NonNegativeInt = 0
    refused: NonNegativeInt = 0
    blocked: NonNegativeInt = 0
    questions: NonNegativeInt = 0
    test_only: NonNegativeInt = 0
    pivoted: bool = False
    calm: NonNegativeInt = 0
    confirming: bool = False
    said_done: NonNegativeInt = 0

    def after(self, case: Case, *, patient: bool = False) -> "Streaks":
        """Return the counts with one more iteration, before its decision.

        An iteration that Ralph itself cut short says nothing of the agent, nor does one in which a service did not
        answer that the run waits for: it has answered before, or the run is `patient`.
        """
        failure, analysis = case.output.failure, case.analysis
        if isinstance(case.output.outcome, Interrupted):
            return evolve(self, outage=0, answered=self.answered or case.output.heard_model)
        if case.limited:
            logins = self.logins + 1 if case.logged_out else 0
            return evolve(self, outage=0, limited=self.limited + 1, logins=logins)
        if case.unanswered and (self.answered or patient):
            return evolve(self, outage=self.outage + 1, limited=0, logins=0, refused=0)
        answered = self.answered or isinstance(case.output.outcome, Answered) or case.output.heard_model
        turned_down = failure is not None and (
            failure.failure == "refused" or (failure.failure == "unavailable" and not answered)
        )
        calm = self.calm + 1 if self.pivoted and not analysis.stuck.detected else 0
        recovered = calm >= _CALM or (calm > 0 and case.moved is True)
        return evolve(
            self,
            answered=answered,
            outage=0,
            limited=0,
            logins=0,
            refused=self.refused + 1 if turned_down else 0,
            blocked=self.blocked + 1 if case.waits and analysis.state == "blocked" else 0,
            questions=self.questions + 1 if case.waits else 0,
            test_only=self.test_only + 1 if analysis.completion.test_only and not case.moved else 0,
            pivoted=self.pivoted and not recovered,
            calm=calm,
            said_done=self.said_done + (1 if case.says_done[0] and not case.says_done[1] else 0),
        )

    def decided(self, decision: Decision) -> "Streaks":
        """Return the counts after the iteration's decision; see `needs_user` for what an end resets."""
        if self.outage:
            return evolve(self, outage=0) if isinstance(decision, Halt) else self
        if needs_user(decision):
            return evolve(self, blocked=0, questions=0, pivoted=False, calm=0)
        word = following(decision)
        if word is None:
            return self
        return evolve(self, pivoted=self.pivoted or bool(word.pivot), confirming=word.confirm)
