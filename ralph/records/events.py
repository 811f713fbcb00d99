"""The events of a run, frozen and in the past tense; a versioned, discriminated union.

Every event is durable before anyone sees it, and has a `seq`: 1, 2, 3 … within its run. Some are shown live, have `seq`
0 and are not kept: `MessageStreamed`, and the state of a store that cannot be written. Readers must ignore types and
fields that they do not know; a change that would break them raises `VERSION`.
"""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, NonNegativeFloat, NonNegativeInt, PositiveInt, TypeAdapter

from ralph.analysis.result import Analysis
from ralph.decision.breaker import BreakerState
from ralph.decision.claims import limited
from ralph.decision.outcomes import Decision, StopReason, awaits_service
from ralph.records.record import PlanCount
from ralph.types.output import Attempt, Changes, Outcome, ToolCall, Usage
from ralph.types.verification import Verdict

VERSION = 1


class _Happened(BaseModel, frozen=True):
    """The fields of every event.

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
    """A run began, or continued (`resumed`) after a stop or a crash.

    Attributes:
        version: of the events; readers of one version may not understand another.
        workspace: the folder that the agent works in; None without one.
        verifiers: the names of those that check a claim of completion.
        already_green: every verifier ran before the first iteration, and passed; they cannot tell when the work is
            done.
        max_iterations: the limit; None without one.
        sandbox, permission: what confines the agent, in words.
        limits: all that are set, by name; times are in seconds.
        model: the one that was asked for; None for the agent's own choice.
        plan: its progress before the first iteration; None without a plan.
        usage, denials, duration: what the run has used before, if it continues; denied tool calls, seconds.
    """

    type: Literal["run_started"] = "run_started"
    version: int = VERSION
    task: str
    workspace: str | None = None
    executor: str = ""
    strategy: str = ""
    verifiers: tuple[str, ...] = ()
    already_green: bool = False
    max_iterations: PositiveInt | None = None
    sandbox: str = ""
    permission: str = ""
    limits: dict[str, float] = {}
    resumed: bool = False
    model: str | None = None
    plan: PlanCount | None = None
    usage: Usage = Usage()
    denials: NonNegativeInt = 0
    duration: NonNegativeFloat = 0.0


class IterationStarted(_Happened, frozen=True):
    """An iteration began; `prompt` is what the agent was sent, `checkpoint` the commit that holds the workspace."""

    type: Literal["iteration_started"] = "iteration_started"
    prompt: str = ""
    checkpoint: str | None = None


class MessageStreamed(_Happened, frozen=True):
    """A piece of an unfinished message."""

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
    """A notice for the user that is no failure."""

    type: Literal["diagnosed"] = "diagnosed"
    text: str


class ProtectedRestored(_Happened, frozen=True):
    """Protected paths had been changed in this iteration.

    Attributes:
        paths: those that are as they were again.
        aside: the folder with what was found in their place; None if that was nothing.
        left: those that stay as they were found: too large to restore, or changed after the run had crashed.
        because: why a path is protected, in words, if it is because of a check.
        parts: what of a path was restored, if the rest stays as it was found: keys of git's settings, a table.
    """

    type: Literal["protected_restored"] = "protected_restored"
    paths: tuple[str, ...]
    aside: str | None = None
    left: tuple[str, ...] = ()
    because: dict[str, str] = {}
    parts: dict[str, str] = {}


class VerificationStarted(_Happened, frozen=True):
    """A verifier began to check a claim of completion; checks before the first iteration have no such event."""

    type: Literal["verification_started"] = "verification_started"
    verifier: str


class VerificationFinished(_Happened, frozen=True):
    """The verifiers finished a claim of completion or, in iteration 0, the check before the first iteration.

    Attributes:
        cut_short: why not all of them have finished.
    """

    type: Literal["verification_finished"] = "verification_finished"
    passed: bool
    verdicts: tuple[Verdict, ...]
    cut_short: str = ""


class BreakerChanged(_Happened, frozen=True):
    """The circuit breaker changed its state or its warning."""

    type: Literal["breaker_changed"] = "breaker_changed"
    before: str
    breaker: BreakerState


class IterationFinished(_Happened, frozen=True):
    """An iteration ended, with its results. `fields` are the registered status fields.

    Attributes:
        executor, model: those that answered.
        text: the agent's last message.
        plan: its progress so far; None without a plan.
        progressed: whether workspace or plan moved; None if unknown.
        duration: in seconds, verification included.
        analysis_duration: in seconds, of the reply's analysis alone.
    """

    type: Literal["iteration_finished"] = "iteration_finished"
    executor: str = ""
    model: str | None = None
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
    analysis_duration: NonNegativeFloat = 0.0

    @property
    def limited(self) -> bool:
        """True if it met a limit of the service, or an outage that is waited for, and so counts against nothing."""
        return awaits_service(self.decision) or limited(self.outcome, self.analysis, progressed=self.progressed)


class Paused(_Happened, frozen=True):
    """The run waits until a point in time, or with None until the user resumes it.

    One with `seq` 0 says that the store cannot be written: the run waits until it can be again.
    """

    type: Literal["paused"] = "paused"
    until: datetime | None = None
    reason: str


class Resumed(_Happened, frozen=True):
    """The run continues after a pause."""

    type: Literal["resumed"] = "resumed"


class Told(_Happened, frozen=True):
    """A message of the user goes to the agent, with the prompt of this iteration."""

    type: Literal["told"] = "told"
    text: str


class Extended(_Happened, frozen=True):
    """The user allowed the run more: `added` to which limits, and `limits` with the new values (None: no limit)."""

    type: Literal["extended"] = "extended"
    added: dict[str, float]
    limits: dict[str, float | None]


class OrphansEnded(_Happened, frozen=True):
    """Before the run continued, processes that its dead process had left running were ended: numbers and names."""

    type: Literal["orphans_ended"] = "orphans_ended"
    processes: tuple[str, ...]


class RunFinished(_Happened, frozen=True):
    """The run ended.

    Attributes:
        verified: whether a check went from failing to passing, or a fresh review confirmed the completion.
        already_green: every check passes, but each did before the first iteration.
        verified_by: what supports a completion, in words; empty if the run did not complete.
        detail: why it ended, in a few words.
        still_open: what spoke against a completion and was overruled by the agent's confirmation.
        lost: what the run removed of the user's, the first twenty.
        executors: how many iterations each of them answered.
        usage, denials, duration: of the whole run; denied tool calls, seconds.
    """

    type: Literal["run_finished"] = "run_finished"
    stop_reason: StopReason
    verified: bool
    already_green: bool = False
    verified_by: str = ""
    detail: str
    still_open: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    iterations: NonNegativeInt
    executors: dict[str, int]
    usage: Usage
    denials: NonNegativeInt = 0
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
    | VerificationStarted
    | VerificationFinished
    | BreakerChanged
    | IterationFinished
    | Paused
    | ProtectedRestored
    | Resumed
    | Told
    | Extended
    | OrphansEnded
    | RunFinished,
    Field(discriminator="type"),
]

_EVENT: TypeAdapter[Event] = TypeAdapter(Event)


def parse_event(text: str | bytes) -> Event:
    """Parse an event from its JSON.

    Raises:
        pydantic.ValidationError: it is not an event.
    """
    return _EVENT.validate_json(text)
