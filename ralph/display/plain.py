"""A run as lines of a log: for pipes, files and people who like to scroll."""

from functools import singledispatchmethod

from ralph.display.base import Display
from ralph.events import Event, IterationFinished, IterationStarted, MessageReceived, RunFinished, RunStarted
from ralph.views import describe, printable

__all__ = ["PlainDisplay"]


class PlainDisplay(Display):
    """Writes a line or two for each event."""

    def show(self, event: Event) -> None:
        for text in self.lines(event):
            self.write(f"{text}\n")

    @singledispatchmethod
    def lines(self, event: object) -> list[str]:
        return []

    @lines.register
    def _(self, event: RunStarted) -> list[str]:
        return [f"run {event.run_id}: {printable(event.task, 200)}"]

    @lines.register
    def _(self, event: IterationStarted) -> list[str]:
        return [f"iteration {event.iteration}"]

    @lines.register
    def _(self, event: MessageReceived) -> list[str]:
        return [f"  {printable(event.text)}"]

    @lines.register
    def _(self, event: IterationFinished) -> list[str]:
        return [f"  → {printable(describe(event.decision))}"]

    @lines.register
    def _(self, event: RunFinished) -> list[str]:
        return [f"{event.stop_reason}: {printable(event.detail)}"]
