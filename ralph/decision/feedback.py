"""The feedback of an iteration to the agent of the next one, one paragraph for each subject."""

from collections.abc import Iterable

from ralph.decision.claims import Case, Claim
from ralph.status import StatusMalformed
from ralph.types.output import Failed, Interrupted, TimedOut
from ralph.types.verification import Verification

__all__ = ["failure_text", "feedback"]

_ASKED = 500
"""Characters of the agent's own question that are quoted."""


def feedback(case: Case, doubted: Claim | None, verification: Verification | None, *, redirected: bool = False) -> str:
    """Return the paragraphs, in the order in which the agent should read them.

    Args:
        doubted: a claim that waits for its confirmation.
        verification: the verdicts on a claim.
        redirected: another part of the prompt asks for another approach already.
    """
    ended = _ended(case, redirected=redirected)
    told = [*_refuted(verification), _doubted(doubted), ended, _unread(case), _unanswered(case), _denied(case)]
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


def _doubted(claim: Claim | None) -> str:
    if claim is None:
        return ""
    doubts = "\n".join(f"- {doubt}" for doubt in claim.doubts)
    return f"You said that the task is done, but:\n{doubts}\nFix that, or confirm that it is done."


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
