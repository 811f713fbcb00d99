"""Hooks: typed observers of a run, with two vetoes.

Subclass `Hooks` and override the methods of interest. The `on_…` methods observe: they receive what is already durable,
in order, and return nothing. The two `before_…` methods may return a `Veto`, or None to allow. All arguments are
frozen.

The caller who makes an observer owns it: the run neither enters nor closes it. It may serve several runs, and learns
from `on_run_finished` that its run is over. The run's event loop calls it, one call at a time, and waits for it; so
long work belongs in a task of the observer's own.

An observer that raises, or takes more than ten seconds, is counted and skipped; the log and the run's events report it
once. One that took too long is not called again in that iteration, and after three such iterations not at all. A late
veto, or a value that is not a `Veto`, does not count.
"""

from datetime import datetime

from pydantic import BaseModel, Field

from ralph.decision.claims import Claim
from ralph.records import events
from ralph.types.verification import Verification


class Veto(BaseModel, frozen=True):
    """An observer's objection to the next step.

    Attributes:
        reason: the reason for the user; for a completion, the agent receives it, too.
    """

    reason: str = Field(min_length=1, max_length=2_000)


class IterationDue(BaseModel, frozen=True):
    """The next iteration, which is about to begin.

    Attributes:
        iteration: its number.
        task: the run's task; masked.
    """

    run_id: str
    iteration: int
    at: datetime
    task: str
    workspace: str | None


class CompletionDue(IterationDue, frozen=True):
    """A claim of completion, which is about to be accepted: every other check has passed.

    Attributes:
        iteration: the one with the claim.
        text: the agent's last message; masked.
        verification: the verifiers' results; None without verifiers.
    """

    text: str
    claim: Claim
    verification: Verification | None = None


class Hooks:
    """An observer with one coroutine for each event, `on_event` for all of them (called first), and two vetoes."""

    async def before_iteration(self, due: IterationDue) -> Veto | None:
        """Allow or veto the next iteration.

        A veto ends the run as cancelled, with the reason; it can be resumed.
        """

    async def before_completion(self, due: CompletionDue) -> Veto | None:
        """Allow or veto a completion that every other check accepts.

        A veto refutes it as a verifier does: the agent receives the reason, and the run continues.
        """

    async def on_event(self, event: events.Event) -> None: ...

    async def on_run_started(self, event: events.RunStarted) -> None: ...

    async def on_iteration_started(self, event: events.IterationStarted) -> None: ...

    async def on_message_streamed(self, event: events.MessageStreamed) -> None: ...

    async def on_message_received(self, event: events.MessageReceived) -> None: ...

    async def on_tool_started(self, event: events.ToolStarted) -> None: ...

    async def on_tool_finished(self, event: events.ToolFinished) -> None: ...

    async def on_executor_fell_back(self, event: events.ExecutorFellBack) -> None: ...

    async def on_diagnosed(self, event: events.Diagnosed) -> None: ...

    async def on_verification_started(self, event: events.VerificationStarted) -> None: ...

    async def on_verification_finished(self, event: events.VerificationFinished) -> None: ...

    async def on_breaker_changed(self, event: events.BreakerChanged) -> None: ...

    async def on_iteration_finished(self, event: events.IterationFinished) -> None: ...

    async def on_paused(self, event: events.Paused) -> None: ...

    async def on_resumed(self, event: events.Resumed) -> None: ...

    async def on_told(self, event: events.Told) -> None: ...

    async def on_extended(self, event: events.Extended) -> None: ...

    async def on_orphans_ended(self, event: events.OrphansEnded) -> None: ...

    async def on_protected_restored(self, event: events.ProtectedRestored) -> None: ...

    async def on_run_finished(self, event: events.RunFinished) -> None: ...
