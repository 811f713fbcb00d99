"""One event a line, as JSON: for programs."""

import json

from ralph.display.base import Display
from ralph.events import Event, MessageStreamed

__all__ = ["JsonDisplay", "line"]


class JsonDisplay(Display):
    """Writes each event as one line; pieces of messages are left out. The last line is `run_finished`."""

    def show(self, event: Event) -> None:
        if not isinstance(event, MessageStreamed):
            self.write(f"{line(event)}\n")


def line(event: Event) -> str:
    """An event as one line of JSON, its type, run, number and time in front."""
    said = event.model_dump(mode="json")
    front = {name: said.pop(name) for name in ("type", "run_id", "seq", "at")}
    return json.dumps({**front, **said}, ensure_ascii=False)
