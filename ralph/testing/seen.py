"""What an observer of a run was told, kept for a test to look at."""

from typing import Any

from ralph.hooks import Hooks
from ralph.records.events import Event

__all__ = ["SeenEvents"]


class SeenEvents(Hooks):
    """Hooks that keep every event of a run, in the order in which they were told."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    async def on_event(self, event: Event) -> None:
        self.events.append(event)

    def kinds(self) -> list[str]:
        """The types of all events."""
        return [event.type for event in self.events]

    def of(self, kind: str) -> list[Any]:
        """The events of one type."""
        return [event for event in self.events if event.type == kind]
