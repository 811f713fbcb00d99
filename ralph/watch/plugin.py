"""The built-in displays, as a plug-in."""

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

from ralph.plugins.providers import BuildContext, Provider
from ralph.plugins.spec import hookimpl
from ralph.watch import open_display

if TYPE_CHECKING:
    from ralph.watch import Display


@hookimpl
def ralph_displays() -> Iterable[Provider]:
    """Yield the built-in displays."""
    for name, about in (
        ("auto", "live at a terminal, else plain"),
        ("live", "a panel that is updated in place"),
        ("plain", "lines, as in a log"),
        ("json", "each event as a JSON object"),
        ("none", "nothing"),
    ):
        yield Provider(name, about, partial(_display, name))


def _display(name: str, context: BuildContext) -> "Display":
    return open_display(name, look_up=context.look_up, endpoint=context.endpoint)
