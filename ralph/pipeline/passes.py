"""One recorded pass of a loop, as a replay reads it: everything that is not known stays None."""

import re

from pydantic import AwareDatetime, BaseModel, NonNegativeFloat, NonNegativeInt

from ralph.records.record import IterationRecord, PlanCount, RunRecord
from ralph.system.text import pattern
from ralph.types import evolve
from ralph.types.output import Answered, Attempt, Failed, FailureKind, Message, Outcome, Output, ToolCall, Usage
from ralph.types.plan import PlanItem, TaskPlan
from ralph.types.verification import Verification

__all__ = ["Moves", "Pass", "failure_of", "recorded_pass", "recorded_run"]

_READ = 2_000
_FEW = 9
"""The most allowed tool calls that a turn of unknown calls is taken to have made; ten are a busy turn."""
_SHOWN = 300

_FAILURES: tuple[tuple[FailureKind, re.Pattern[str]], ...] = (
    (
        "rate_limited",
        pattern(
            r"rate.?limit|too many requests|\b429\b|\b402\b|quota|(?:usage|session|hour|daily|weekly|requests?) limit|"
            r"(?:hit|reached|exceeded) (?:your|the) [\w ]{0,20}limit|credit balance|insufficient.{0,9}(?:credit|funds)|"
            r"限流|限额|额度|配额|用量上限|请求过于频繁|請求過於頻繁|額度|配額",
            re.IGNORECASE,
        ),
    ),
    (
        "auth",
        pattern(
            r"\b401\b|not (?:logged in|authenticated)|authentication.?(?:error|failed)|invalid (?:api key|x-api-key)|"
            r"please run /login|oauth token (?:has )?expired",
            re.IGNORECASE,
        ),
    ),
    (
        "unavailable",
        pattern(
            r"\b(?:error|http|status|code)\W{1,3}5\d\d\b|\b5\d\d\W{1,2}(?:bad|gateway|internal|overloaded|server|service)|"
            r"overloaded|unavailable|connection|network|econnre|enotfound|fetch failed",
            re.IGNORECASE,
        ),
    ),
    (
        "refused",
        pattern(
            r"\b(?:error|http|status|code)\W{1,3}4\d\d\b|(?:prompt|conversation|input)\b[^.]{0,40}? too long|"
            r"context (?:length|limit|window)|forbidden|model\b[^.]{0,60}?\b(?:not exist|not found)",
            re.IGNORECASE,
        ),
    ),
)


class Moves(BaseModel, frozen=True):
    """The known changes of a pass to the workspace; None is unknown, never zero.

    Attributes:
        fingerprint: of the workspace afterwards; equal for equal states.
    """

    files: NonNegativeInt | None = None
    commits: NonNegativeInt | None = None
    fingerprint: str | None = None


class Pass(BaseModel, frozen=True):
    """One recorded pass of a loop; None is unknown, never zero.

    Attributes:
        text: the agent's last message, storable.
        partial: what it said last in a turn that did not come to its end.
        task: the task; empty if it is not recorded.
        tools: how many tools were called, the denied ones included.
        plan: the checklist afterwards.
        at: when the pass began.
        duration: in seconds.
        took: seconds between its beginning and its end by the clock of the record; None if that is `duration`.
        verification: what verifiers said when the pass was recorded; its usage is part of `usage`.
        left: the workspace's fingerprint after the verifiers had left their files behind.
        resumed: the run had ended before it, and was resumed.
    """

    text: str = ""
    partial: str = ""
    task: str = ""
    outcome: Outcome = Answered()
    attempts: tuple[Attempt, ...] = ()
    tools: NonNegativeInt | None = None
    denials: NonNegativeInt | None = None
    changes: Moves | None = None
    plan: TaskPlan | None = None
    usage: Usage = Usage()
    duration: NonNegativeFloat | None = None
    took: NonNegativeFloat | None = None
    at: AwareDatetime | None = None
    verification: Verification | None = None
    left: str | None = None
    resumed: bool = False

    @property
    def moved(self) -> bool | None:
        """True if the pass changed the workspace, as far as counts say: without a tool it cannot have done so."""
        counts = (self.changes.files, self.changes.commits) if self.changes else (None, None)
        if any(counts):
            return True
        return False if counts == (0, 0) or self.tools == 0 else None

    @property
    def output(self) -> Output:
        """The turn as an executor would have returned it; of its tools only the number is known.

        A turn with an unknown number of calls is taken to have made a few more than it was denied: it may have changed
        something, unless it was denied many. A service that did not answer made none.
        """
        denied = self.denials or 0
        silent = isinstance(self.outcome, Failed) and self.outcome.failure == "unavailable"
        guessed = 0 if silent else min(denied + 1, _FEW)
        allowed = guessed if self.tools is None else max(self.tools - denied, 0)
        return Output(
            text=self.text,
            messages=(Message(text=self.partial),) if self.partial else (),
            tool_calls=ToolCall.unnamed(allowed, denied),
            usage=self.usage,
            outcome=self.outcome,
            attempts=self.attempts,
            duration=self.duration or 0.0,
        )


def recorded_run(run: RunRecord) -> RunRecord:
    """Return a stored run as it was before its first pass; of its plan only the numbers, as of those after it."""
    count = PlanCount.of(run.plan)
    return evolve(run, plan=None if count is None else _boxes(count), breaker=None)


def recorded_pass(record: IterationRecord, *, resumed: bool = False) -> Pass:
    """Return an iteration of a stored run as a pass: the measurements count, the reply is judged anew.

    Args:
        resumed: the run had ended before it.
    """
    changes, verification = record.changes, record.verification
    if verification is not None:
        verdicts = tuple(evolve(verdict, usage=Usage()) for verdict in verification.verdicts)
        verification = evolve(verification, verdicts=verdicts)
    return Pass(
        text=record.text,
        partial=record.partial,
        outcome=record.outcome,
        attempts=record.attempts,
        tools=record.tool_calls,
        denials=record.denials,
        changes=Moves(files=changes.files_changed, commits=changes.commits, fingerprint=changes.fingerprint)
        if changes.known
        else None,
        plan=None if record.plan is None else _boxes(record.plan),
        usage=record.usage,
        duration=record.duration,
        took=max(0.0, (record.finished_at - record.started_at).total_seconds()),
        at=record.started_at,
        verification=verification,
        left=record.fingerprint,
        resumed=resumed,
    )


def _boxes(count: PlanCount) -> TaskPlan:
    """Return a plan with as many boxes, ticked from the first one on."""
    numbers = range(1, count.total + 1)
    return TaskPlan(items=tuple(PlanItem(text=f"box {number}", ticked=number <= count.done) for number in numbers))


def failure_of(error: str) -> Failed:
    """Classify an error text by its wording.

    It is a rate limit, a missing login, a service that does not answer, or a refused request; else a crash.
    """
    said = " ".join(error[:_READ].split())
    for kind, words in _FAILURES:
        if words.search(said):
            return Failed(failure=kind, message=said[:_SHOWN])
    return Failed(failure="crashed", message=said[:_SHOWN])
