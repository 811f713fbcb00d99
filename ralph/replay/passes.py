"""One recorded pass of a loop: what is known of it, and what of that shows that it moved anything."""

import re

from pydantic import AwareDatetime, BaseModel, NonNegativeFloat, NonNegativeInt

from ralph.output import Completed, Failed, FailureKind, Outcome, Output, ToolCall, Usage
from ralph.pattern import pattern
from ralph.plan import TaskPlan
from ralph.verification import Verification

__all__ = ["Moves", "Pass", "failure_of"]

_MOST_CALLS = 1_000
_READ = 2_000
_SHOWN = 300
_CALL = ToolCall(id="", name="tool", success=True)
_DENIED = ToolCall(id="", name="tool", success=False, denied=True)

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
)


class Moves(BaseModel, frozen=True):
    """What is known of a pass's changes to the workspace; None is unknown, never zero.

    Attributes:
        fingerprint: of the workspace afterwards; equal for equal states.
    """

    files: NonNegativeInt | None = None
    commits: NonNegativeInt | None = None
    fingerprint: str | None = None


class Pass(BaseModel, frozen=True):
    """One pass of a loop, as somebody recorded it; None is unknown, never zero.

    Attributes:
        text: the agent's last message; it can be stored.
        tools: how many tools were called, the denied ones included.
        plan: the checklist afterwards.
        at: when it began.
        duration: in seconds.
        verification: what verifiers said when the pass was recorded.
        left: the workspace's fingerprint when verifiers had left their files behind.
    """

    text: str = ""
    outcome: Outcome = Completed()
    tools: NonNegativeInt | None = None
    denials: NonNegativeInt | None = None
    changes: Moves | None = None
    plan: TaskPlan | None = None
    usage: Usage = Usage()
    duration: NonNegativeFloat | None = None
    at: AwareDatetime | None = None
    verification: Verification | None = None
    left: str | None = None

    @property
    def moved(self) -> bool | None:
        """Whether it changed the workspace, as far as counts tell: without a tool nothing can have been changed."""
        counts = (self.changes.files, self.changes.commits) if self.changes else (None, None)
        if any(counts):
            return True
        return False if counts == (0, 0) or self.tools == 0 else None

    @property
    def output(self) -> Output:
        """The turn, as an executor would have given it; of its tools only the number is known. A turn of which not even
        that is told is taken to have used some, most of them allowed: it may have changed something.
        """
        denied = min(self.denials or 0, _MOST_CALLS)
        used = 2 * denied + 1 if self.tools is None else min(max(self.tools - denied, 0), _MOST_CALLS)
        return Output(
            text=self.text,
            tool_calls=(_DENIED,) * denied + (_CALL,) * used,
            usage=self.usage,
            outcome=self.outcome,
            duration=self.duration or 0.0,
        )


def failure_of(error: str) -> Failed:
    """The failure that an error text tells of, by its wording: a rate limit, a missing login, a service that does not
    answer; anything else is taken for a crash.
    """
    said = " ".join(error[:_READ].split())
    for kind, words in _FAILURES:
        if words.search(said):
            return Failed(failure=kind, message=said[:_SHOWN])
    return Failed(failure="crashed", message=said[:_SHOWN])
