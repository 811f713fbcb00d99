"""What a display is: hooks that show a run to a person or a program. What it cannot write does not break the run."""

import sys
from types import TracebackType
from typing import Self, TextIO

from ralph.events import Event
from ralph.hooks import Hooks

__all__ = ["Display"]


class Display(Hooks):
    """Shows a run. Used in `with`, around the run. Subclass it and implement `show`; this one shows nothing.

    Args:
        out: where to; standard output by default.
    """

    def __init__(self, out: TextIO | None = None) -> None:
        self._out = out if out is not None else sys.stdout
        self._gone = False

    def show(self, event: Event) -> None:
        """Shows one event."""

    async def on_event(self, event: Event) -> None:
        self.show(event)

    def write(self, text: str) -> None:
        """Writes a text at once. When nobody reads any more, it does nothing from then on."""
        if self._gone:
            return
        try:
            self._out.write(text)
            self._out.flush()
        except (OSError, ValueError):
            self._gone = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
