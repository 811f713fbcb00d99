"""The console of every table and display: nothing but text, and colours of Ralph's own, gets through."""

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from ralph.system.text import visible


class VisibleConsole(Console):
    """A console that prints what is visible of each text, without links; only its own drawing moves the cursor."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for text, style, control in super().render(renderable, options):
            if control:
                yield Segment(text, style, control)
            else:
                yield Segment(
                    visible(text).replace("\r", ""), style.update_link(None) if style and style.link else style
                )
