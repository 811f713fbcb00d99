"""The built-in displays, as a plug-in."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ralph.plugins.providers import BuildContext, Provider
from ralph.plugins.spec import hookimpl

if TYPE_CHECKING:
    from ralph.watch.base import Display

__all__ = ["ralph_displays"]


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
        yield _kind(name, about)


def _kind(name: str, about: str) -> Provider:
    def build(context: BuildContext) -> "Display":
        from ralph.watch import open_display

        return open_display(name, look_up=context.look_up, endpoint=context.endpoint)

    return Provider(name, about, build)
