"""The result of one turn of an agent: its messages, tool calls, usage and end, and its effect on the workspace.

An `Output` is made by an executor and read by everything after it. The text in it was masked and cleaned at the
executor's boundary (`ralph.system.text`), so that every span of evidence refers to the text as stored.

Progress means that the workspace's fingerprint differs from every fingerprint of the last ten iterations (the one
before the run included), or that boxes of the plan moved. So editing and reverting is no progress, and neither is a
tree that was dirty before.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, Field, NonNegativeFloat, NonNegativeInt

_N = TypeVar("_N", int, float)

FINGERPRINTS_KEPT = 10
"""Iterations whose states of the workspace are remembered."""

_UNNAMED = 1_000
_BUSY = 10

FailureKind = Literal["auth", "rate_limited", "unavailable", "protocol", "crashed", "refused"]
"""The reasons for which an executor fails.

auth: not logged in, or the key is not accepted. rate_limited: a quota or a limit, over when its time has come.
unavailable: the model or the service did not answer, or answered with its own error. protocol: an answer that
cannot be understood. crashed: the agent's process died. refused: the request itself was turned down (forbidden,
no such model, context too long), and would be again.
"""


class Message(BaseModel, frozen=True, defer_build=True):
    """One message of the agent. `tool_calls` counts the tools that the message itself asked for."""

    text: str
    tool_calls: NonNegativeInt = 0


class ToolCall(BaseModel, frozen=True, defer_build=True):
    """One tool that the agent used.

    Attributes:
        arguments: the arguments as JSON text, at most 2,000 characters of it.
        success: None while it has not finished.
        denied: the permission policy denied it.
        result: its result, at most 2,000 characters of it.
        duration: in seconds.
    """

    id: str
    name: str
    arguments: str = ""
    success: bool | None = None
    denied: bool = False
    result: str = ""
    duration: NonNegativeFloat = 0.0

    @staticmethod
    def unnamed(allowed: int, denied: int = 0) -> "tuple[ToolCall, ...]":
        """Return calls of which only the number is known, at most a thousand of each kind."""
        used = (ToolCall(id="", name="tool", success=True),) * min(allowed, _UNNAMED)
        return (ToolCall(id="", name="tool", success=False, denied=True),) * min(denied, _UNNAMED) + used


class Usage(BaseModel, frozen=True, defer_build=True):
    """The usage of a model. None means "not measured", never zero; a sum with a measured value is measured.

    Attributes:
        input_tokens: includes `cache_read_tokens`.
        premium_requests: as the provider bills them.
        cost: in US dollars.
        model_calls: requests to the model, the failed ones included.
    """

    input_tokens: NonNegativeInt | None = None
    output_tokens: NonNegativeInt | None = None
    cache_read_tokens: NonNegativeInt | None = None
    premium_requests: NonNegativeFloat | None = None
    cost: NonNegativeFloat | None = None
    model_calls: NonNegativeInt | None = None

    @property
    def tokens(self) -> int | None:
        """Input and output tokens together."""
        return _add(self.input_tokens, self.output_tokens)

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(**{name: _add(getattr(self, name), getattr(other, name)) for name in Usage.model_fields})


class Answered(BaseModel, frozen=True, defer_build=True):
    """The agent ended its turn by itself. That does not say that the work is done."""

    kind: Literal["completed"] = "completed"


Completed = Answered
"""The former name of `Answered`, which reads too much like the decision `Complete`; both stay."""


@dataclass(frozen=True, slots=True)
class Timeouts:
    """The times after which the watchdog ends a turn; in seconds.

    Attributes:
        idle: without a sign of life from the agent.
        iteration: the whole turn.
        tool: a tool that was started and has not finished; until then it counts as a sign of life.
    """

    idle: float = 600.0
    iteration: float = 3600.0
    tool: float = 1800.0


class TimedOut(BaseModel, frozen=True, defer_build=True):
    """The watchdog ended the turn.

    Attributes:
        limit: which time ran out: no sign of life ("idle"), the whole turn ("iteration") or one tool ("tool").
        after: in seconds.
    """

    kind: Literal["timed_out"] = "timed_out"
    limit: Literal["idle", "iteration", "tool"]
    after: NonNegativeFloat


class Failed(BaseModel, frozen=True, defer_build=True):
    """The executor could not do its work.

    Attributes:
        message: its words for the user, at most a few hundred characters.
        retry_after: in seconds from the failure, if the provider named a time.
        status: the HTTP status, if there was one.
    """

    kind: Literal["failed"] = "failed"
    failure: FailureKind
    message: str = ""
    retry_after: NonNegativeFloat | None = None
    status: int | None = None


class Interrupted(BaseModel, frozen=True, defer_build=True):
    """Ralph ended the turn, output kept: a signal, a limit in the turn, or repeated denied or identical tool calls."""

    kind: Literal["interrupted"] = "interrupted"
    by: Literal["signal", "limit", "denials", "circles"]
    detail: str = ""


Outcome = Annotated[Answered | TimedOut | Failed | Interrupted, Field(discriminator="kind")]


class Attempt(BaseModel, frozen=True, defer_build=True):
    """A failed attempt before the output: its executor, its failure and its usage."""

    executor: str
    outcome: Outcome
    usage: Usage = Field(default_factory=Usage)
    duration: NonNegativeFloat = 0.0


class Output(BaseModel, frozen=True, defer_build=True):
    """One turn of an agent.

    Attributes:
        text: the last message that asked for no tool; status and completion are read from it alone. Empty without one.
        usage: of the whole turn, the failed attempts included.
        executor: the one that answered: "copilot-sdk", not "fallback".
        session_id: the agent's own session, if it can be continued.
        duration: in seconds, the failed attempts included.
        attempts: tries before this one, oldest first.
        diagnostics: the end of the error stream of the agent's program, for the user.
    """

    text: str = ""
    messages: tuple[Message, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = Field(default_factory=Usage)
    outcome: Outcome = Field(default_factory=Answered)
    executor: str = ""
    model: str | None = None
    session_id: str | None = None
    duration: NonNegativeFloat = 0.0
    attempts: tuple[Attempt, ...] = ()
    diagnostics: str = ""

    @property
    def denials(self) -> int:
        """The number of tool calls that the permission policy denied."""
        return sum(call.denied for call in self.tool_calls)

    @property
    def busy(self) -> bool:
        """True if its tool calls make it most likely that it has changed something."""
        return busy(len(self.tool_calls), self.denials)

    @property
    def heard_model(self) -> bool:
        """True if the model has said anything in the turn, even in an attempt that failed."""
        return bool(self.messages or self.tool_calls or self.usage.output_tokens)

    @property
    def failure(self) -> Failed | None:
        """The failure that ended the turn, if one did."""
        return self.outcome if isinstance(self.outcome, Failed) else None


def busy(calls: int, denials: int) -> bool:
    """Return whether most tool calls were allowed, and more than a mere check of finished work needs."""
    return calls > 2 * denials and calls - denials >= _BUSY


class Changes(BaseModel, frozen=True, defer_build=True):
    """The effect of an iteration on the workspace.

    Attributes:
        fingerprint: of the workspace after the iteration: its commit, its differences from that, its untracked files;
            equal for equal states. None if it could not be taken; then nothing follows from the other fields.
        files: paths that differ from before the iteration, relative to the workspace, sorted, at most 200 of them.
        files_changed: how many they are in all.
        commits: how many commits were made.
        problem: why the workspace could not be read, if it could not.
        lost: what the iteration removed of the user's from before the run: `.git`; `HEAD`, branches, tags and stashes
            that are gone, or whose commit is, by their full names; files with uncommitted work that are gone, or are
            again as they were committed; ignored files and folders that are gone, with `(ignored by git)` at their end;
            at most 200 of each.
    """

    fingerprint: str | None = None
    files: tuple[str, ...] = ()
    files_changed: NonNegativeInt = 0
    commits: NonNegativeInt = 0
    problem: str = ""
    lost: tuple[str, ...] = ()

    @property
    def known(self) -> bool:
        """True if the state of the workspace is known."""
        return self.fingerprint is not None


class Checkpoint(BaseModel, frozen=True, defer_build=True):
    """The workspace's files at one moment, kept so that they can be restored.

    Attributes:
        commit: the id of the commit that holds them; None if none exists.
        problem: the reason why there is no checkpoint, or which part of the workspace it leaves out.
    """

    commit: str | None = None
    problem: str = ""


def is_new(fingerprint: str | None, earlier: Sequence[Collection[str]]) -> bool:
    """Return whether a state of the workspace was not there before.

    Args:
        fingerprint: of the state; None is never new.
        earlier: fingerprints of the iterations before, oldest first, with that of the start of the run in front; an
            iteration has more than one if its verifiers left something behind. The last ten iterations count.
    """
    recent = earlier[-FINGERPRINTS_KEPT:]
    return fingerprint is not None and not any(fingerprint in marks for marks in recent)


def _add(left: _N | None, right: _N | None) -> _N | None:
    if left is None or right is None:
        return right if left is None else left
    return left + right
