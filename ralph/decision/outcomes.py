"""The decisions after an iteration: continue, complete, halt or pause. `ralph.decision.rules` chooses one."""

from datetime import datetime
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, Field, PositiveInt

from ralph.analysis.result import Evidence
from ralph.decision.limits import LimitReached
from ralph.system.declarations import Duration

__all__ = [
    "LONGEST_WAIT",
    "Complete",
    "Considered",
    "Continue",
    "Decision",
    "DecisionSettings",
    "Halt",
    "Pause",
    "StopReason",
    "following",
    "held_by",
    "needs_user",
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
    reason: str = "the work continues"
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
    """One rule of the ordered table, as it was considered for a decision.

    Attributes:
        rule: its name, such as "test saturation".
        decision: the decision that it makes; None if it does not apply.
        why: why it applies, or why not, in a few words.
    """

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


def needs_user(decision: "Decision") -> bool:
    """Return whether the run ended because it needs the user.

    The user who resumes it has seen to that: the agent may ask, or be blocked, as often as at first.
    """
    return isinstance(decision, Halt) and decision.stop_reason == "blocked"


class DecisionSettings(BaseModel, frozen=True, extra="forbid"):
    """The numbers of the decision that belong to no other part."""

    test_saturation: PositiveInt = Field(
        default=3, le=1000, description="Test-only iterations without progress in a row that end the run."
    )
    blocked: PositiveInt = Field(default=2, le=1000, description="Blocked iterations in a row that end the run.")
    questions: PositiveInt = Field(default=3, le=1000, description="Questions to a person in a row that end the run.")
    unavailable: PositiveInt = Field(
        default=2,
        le=1000,
        description="Refused, logged-out (or, before any answer, unanswered) iterations in a row that end the run.",
    )
    rate_limit_wait: Duration = Field(
        default=60.0, description="The wait for a rate limit that names no time; doubled each time in a row."
    )
    max_rate_limit_wait: Duration = Field(default=3600.0, description="The longest such wait.")
