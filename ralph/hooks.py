"""Hooks: typed observers of a run.

Subclass `Hooks` and override what is of interest. A hook is told of what is already durable, in the order in which it
happened; it cannot change it. A hook that raises, or takes more than ten seconds, is logged and skipped: it cannot
break a run.
"""

from ralph.events import (
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

__all__ = ["Hooks"]


class Hooks:
    """An observer: one coroutine an event, and `on_event` for all of them (it comes first)."""

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
