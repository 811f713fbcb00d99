"""One event a line, as JSON: for programs."""

import json

from ralph.records.events import Diagnosed, Event, MessageReceived, MessageStreamed, ToolFinished, ToolStarted
from ralph.watch.base import Display

__all__ = ["JsonDisplay", "line"]


class JsonDisplay(Display):
    """Writes each event as one line; pieces of messages are left out. The last line is `run_finished`.

    For a reader that is 16 MB behind, messages and tools are left out as well: `seq` has a gap there.
    """

    def show(self, event: Event) -> None:
        left_out = isinstance(event, MessageStreamed) or (
            self.out.full and isinstance(event, MessageReceived | ToolStarted | ToolFinished | Diagnosed)
        )
        if not left_out:
            self.out.write(f"{line(event)}\n")


def line(event: Event) -> str:
    """An event as one line of JSON: its type, run, number and time in front, all in ASCII for any reader."""
    said = event.model_dump(mode="json")
    front = {name: said.pop(name) for name in ("type", "run_id", "seq", "at")}
    return json.dumps({**front, **said})
