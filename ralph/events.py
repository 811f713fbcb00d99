"""What happened, as frozen events in the past tense; a discriminated union, versioned.

Every event but `MessageStreamed` is durable before anyone sees it, and has a `seq`: 1, 2, 3 … within its run.
`MessageStreamed` is shown live, has `seq` 0 and is not kept. Readers must ignore types and fields that they do not
know; a change that would break them raises `VERSION`.
"""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, NonNegativeFloat, NonNegativeInt, PositiveInt, TypeAdapter

from ralph.analysis.result import Analysis
from ralph.breaker import BreakerState
from ralph.changes import Changes
from ralph.decision import Decision, StopReason
from ralph.output import Attempt, Outcome, ToolCall, Usage
from ralph.record import PlanCount
from ralph.strategies import limited
from ralph.verification import Verdict

__all__ = [
    "VERSION",
    "BreakerChanged",
    "Diagnosed",
    "Event",
    "ExecutorFellBack",
    "IterationFinished",
    "IterationStarted",
    "MessageReceived",
    "MessageStreamed",
    "Paused",
    "Resumed",
    "RunFinished",
    "RunStarted",
    "ToolFinished",
    "ToolStarted",
    "VerificationFinished",
    "parse_event",
]

VERSION = 1


class _Happened(BaseModel, frozen=True):
    """What every event has.

    Attributes:
        at: when, in UTC.
        iteration: 0 outside of any.
    """

    type: str = ""
    run_id: str
    seq: NonNegativeInt = 0
    at: datetime
    iteration: NonNegativeInt = 0


class RunStarted(_Happened, frozen=True):
    """A run began, or went on (`resumed`) after a stop or a crash."""

    type: Literal["run_started"] = "run_started"
    version: int = VERSION
    task: str
    workspace: str | None = None
    executor: str = ""
    strategy: str = ""
    verifiers: tuple[str, ...] = ()
    already_green: bool = False
    max_iterations: PositiveInt | None = None
    resumed: bool = False


class IterationStarted(_Happened, frozen=True):
    """An iteration began; `prompt` is what the agent was sent."""

    type: Literal["iteration_started"] = "iteration_started"
    prompt: str = ""


class MessageStreamed(_Happened, frozen=True):
    """A piece of a message under way."""

    type: Literal["message_streamed"] = "message_streamed"
    text: str


class MessageReceived(_Happened, frozen=True):
    """The agent said something; `tool_calls` counts the tools that the message asked for."""

    type: Literal["message_received"] = "message_received"
    text: str
    tool_calls: NonNegativeInt = 0


class ToolStarted(_Happened, frozen=True):
    """The agent began to use a tool."""

    type: Literal["tool_started"] = "tool_started"
    tool: ToolCall


class ToolFinished(_Happened, frozen=True):
    """A tool ended."""

    type: Literal["tool_finished"] = "tool_finished"
    tool: ToolCall


class ExecutorFellBack(_Happened, frozen=True):
    """`before` could not do it; `after` tries next. Both are the same for a retry."""

    type: Literal["executor_fell_back"] = "executor_fell_back"
    before: str
    after: str
    attempt: Attempt


class Diagnosed(_Happened, frozen=True):
    """Something a person should know that is no failure."""

    type: Literal["diagnosed"] = "diagnosed"
    text: str


class VerificationFinished(_Happened, frozen=True):
    """The verifiers spoke on a claim of completion, or, in iteration 0, before the run's first iteration."""

    type: Literal["verification_finished"] = "verification_finished"
    passed: bool
    verdicts: tuple[Verdict, ...]


class BreakerChanged(_Happened, frozen=True):
    """The circuit breaker changed its state or its warning."""

    type: Literal["breaker_changed"] = "breaker_changed"
    before: str
    breaker: BreakerState


class IterationFinished(_Happened, frozen=True):
    """An iteration ended, with all that was concluded from it. `fields` are the registered status fields."""

    type: Literal["iteration_finished"] = "iteration_finished"
    executor: str = ""
    outcome: Outcome
    text: str = ""
    fields: dict[str, Any] = {}
    changes: Changes = Changes()
    plan: PlanCount | None = None
    progressed: bool | None = None
    analysis: Analysis = Analysis()
    breaker: BreakerState = BreakerState()
    decision: Decision
    usage: Usage = Usage()
    duration: NonNegativeFloat = 0.0

    @property
    def limited(self) -> bool:
        """Whether it met a limit of the service, and so counts against nothing."""
        return limited(self.outcome, self.analysis, progressed=self.progressed)


class Paused(_Happened, frozen=True):
    """The run waits until a moment."""

    type: Literal["paused"] = "paused"
    until: datetime
    reason: str


class Resumed(_Happened, frozen=True):
    """The run goes on after a pause."""

    type: Literal["resumed"] = "resumed"


class RunFinished(_Happened, frozen=True):
    """The run ended; `verified` says whether anything but the agent's word stands behind a completion."""

    type: Literal["run_finished"] = "run_finished"
    stop_reason: StopReason
    verified: bool
    detail: str
    still_open: tuple[str, ...] = ()
    iterations: NonNegativeInt
    executors: dict[str, int]
    usage: Usage
    duration: NonNegativeFloat


Event = Annotated[
    RunStarted
    | IterationStarted
    | MessageStreamed
    | MessageReceived
    | ToolStarted
    | ToolFinished
    | ExecutorFellBack
    | Diagnosed
    | VerificationFinished
    | BreakerChanged
    | IterationFinished
    | Paused
    | Resumed
    | RunFinished,
    Field(discriminator="type"),
]

_EVENT: TypeAdapter[Event] = TypeAdapter(Event)


def parse_event(text: str | bytes) -> Event:
    """An event from its JSON. Raises pydantic's `ValidationError` for anything else."""
    return _EVENT.validate_json(text)
