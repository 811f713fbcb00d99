"""The JSON display: one event per line, for programs."""

import json

from ralph.records.events import Diagnosed, Event, MessageReceived, MessageStreamed, ToolFinished, ToolStarted
from ralph.watch.base import Display

__all__ = ["JsonDisplay", "line"]


class JsonDisplay(Display):
    """Writes each event as one line, except pieces of messages. The last line is `run_finished`.

    For a reader that is 16 MB behind, it also leaves out messages and tools: `seq` has a gap there.
    """

    def show(self, event: Event) -> None:
        left_out = isinstance(event, MessageStreamed) or (
            self.out.full and isinstance(event, MessageReceived | ToolStarted | ToolFinished | Diagnosed)
        )
        if not left_out:
            self.out.write(f"{line(event)}\n")


def line(event: Event) -> str:
    """Return an event as one line of ASCII JSON, with its type, run, number and time first."""
    fields = event.model_dump(mode="json")
    front = {name: fields.pop(name) for name in ("type", "run_id", "seq", "at")}
    return json.dumps({**front, **fields})
