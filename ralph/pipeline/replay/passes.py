"""One recorded pass of a loop: what is known of it, and what of that shows that it moved anything."""

import re

from pydantic import AwareDatetime, BaseModel, NonNegativeFloat, NonNegativeInt

from ralph.system.text import pattern
from ralph.types.output import Answered, Failed, FailureKind, Outcome, Output, ToolCall, Usage
from ralph.types.plan import TaskPlan
from ralph.types.verification import Verification

__all__ = ["Moves", "Pass", "failure_of"]

_READ = 2_000
_FEW = 9
"""Allowed tool calls of a turn at most where nobody tells how many there were; ten are a busy turn."""
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
        task: what it was to do; empty where that is not told.
        tools: how many tools were called, the denied ones included.
        plan: the checklist afterwards.
        at: when it began.
        duration: in seconds.
        verification: what verifiers said when the pass was recorded.
        left: the workspace's fingerprint when verifiers had left their files behind.
        resumed: the run had ended before it, and was resumed.
    """

    text: str = ""
    task: str = ""
    outcome: Outcome = Answered()
    tools: NonNegativeInt | None = None
    denials: NonNegativeInt | None = None
    changes: Moves | None = None
    plan: TaskPlan | None = None
    usage: Usage = Usage()
    duration: NonNegativeFloat | None = None
    at: AwareDatetime | None = None
    verification: Verification | None = None
    left: str | None = None
    resumed: bool = False

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
        that is told is taken to have used a few more than it was denied: it may have changed something, unless it was
        denied many. Where the service did not answer, nobody was there to use any.
        """
        denied = self.denials or 0
        silent = isinstance(self.outcome, Failed) and self.outcome.failure == "unavailable"
        untold = 0 if silent else min(denied + 1, _FEW)
        used = untold if self.tools is None else max(self.tools - denied, 0)
        return Output(
            text=self.text,
            tool_calls=ToolCall.unnamed(used, denied),
            usage=self.usage,
            outcome=self.outcome,
            duration=self.duration or 0.0,
        )


def failure_of(error: str) -> Failed:
    """The failure that an error text tells of, by its wording: a rate limit, a missing login, a service that does not
    answer, a request that is turned down; anything else is taken for a crash.
    """
    said = " ".join(error[:_READ].split())
    for kind, words in _FAILURES:
        if words.search(said):
            return Failed(failure=kind, message=said[:_SHOWN])
    return Failed(failure="crashed", message=said[:_SHOWN])
