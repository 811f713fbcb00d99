"""Hooks: typed observers of a run, and vetoes.

Subclass `Hooks` and override what is of interest. The methods `on_…` observe: they are told of what is already durable,
in the order in which it happened, and what they return is nothing. The two methods `before_…` may veto: they return a
`Veto`, or None to let it be. Everything that a hook is given is frozen.

Whoever makes a hook owns it: it is neither entered nor closed by the run, may serve several runs, and is told that its
run is over by `on_run_finished`. It is called in the event loop of the run, one call at a time, and the run waits for
it; so long work belongs into a task of one's own.

A hook that raises, or takes more than ten seconds, is counted and skipped; the log and the run's events say so once.
One that took too long is told nothing more of that iteration, and after three such iterations nothing at all. A veto
that does not come in time, or that is no `Veto`, is none.
"""

from datetime import datetime

from pydantic import BaseModel, Field

from ralph.decision.claims import Claim
from ralph.records.events import (
    BreakerChanged,
    Diagnosed,
    Event,
    ExecutorFellBack,
    Extended,
    IterationFinished,
    IterationStarted,
    MessageReceived,
    MessageStreamed,
    OrphansEnded,
    Paused,
    ProtectedRestored,
    Resumed,
    RunFinished,
    RunStarted,
    Told,
    ToolFinished,
    ToolStarted,
    VerificationFinished,
    VerificationStarted,
)
from ralph.types.verification import Verification

__all__ = ["CompletionDue", "Hooks", "IterationDue", "Veto"]


class Veto(BaseModel, frozen=True):
    """A hook's word against what is about to happen.

    Attributes:
        reason: why, for people; one against a completion is told to the agent, too.
    """

    reason: str = Field(min_length=1, max_length=2_000)


class IterationDue(BaseModel, frozen=True):
    """An iteration is about to begin.

    Attributes:
        iteration: its number.
        task: what the run is to do; masked.
    """

    run_id: str
    iteration: int
    at: datetime
    task: str
    workspace: str | None


class CompletionDue(BaseModel, frozen=True):
    """A claim of completion is about to be accepted: nothing speaks against it any more.

    Attributes:
        iteration: that made the claim.
        text: the agent's last message; masked.
        verification: what the verifiers said; None without verifiers.
    """

    run_id: str
    iteration: int
    at: datetime
    task: str
    workspace: str | None
    text: str
    claim: Claim
    verification: Verification | None = None


class Hooks:
    """An observer: one coroutine an event, and `on_event` for all of them (it comes first); and two vetoes."""

    async def before_iteration(self, due: IterationDue) -> Veto | None:
        """Whether a run or a resumed one may begin its next iteration. A veto ends it as cancelled, with the reason; it
        can be resumed.
        """

    async def before_completion(self, due: CompletionDue) -> Veto | None:
        """Whether a claim that everything else lets pass is accepted. A veto refutes it as a verifier would: the agent
        is told the reason, and the run goes on.
        """

    async def on_event(self, event: Event) -> None: ...

    async def on_run_started(self, event: RunStarted) -> None: ...

    async def on_iteration_started(self, event: IterationStarted) -> None: ...

    async def on_message_streamed(self, event: MessageStreamed) -> None: ...

    async def on_message_received(self, event: MessageReceived) -> None: ...

    async def on_tool_started(self, event: ToolStarted) -> None: ...

    async def on_tool_finished(self, event: ToolFinished) -> None: ...

    async def on_executor_fell_back(self, event: ExecutorFellBack) -> None: ...

    async def on_diagnosed(self, event: Diagnosed) -> None: ...

    async def on_verification_started(self, event: VerificationStarted) -> None: ...

    async def on_verification_finished(self, event: VerificationFinished) -> None: ...

    async def on_breaker_changed(self, event: BreakerChanged) -> None: ...

    async def on_iteration_finished(self, event: IterationFinished) -> None: ...

    async def on_paused(self, event: Paused) -> None: ...

    async def on_resumed(self, event: Resumed) -> None: ...

    async def on_told(self, event: Told) -> None: ...

    async def on_extended(self, event: Extended) -> None: ...

    async def on_orphans_ended(self, event: OrphansEnded) -> None: ...

    async def on_protected_restored(self, event: ProtectedRestored) -> None: ...

    async def on_run_finished(self, event: RunFinished) -> None: ...
