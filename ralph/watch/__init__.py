"""How a run is shown: `open_display` finds the display that a name means."""

import os
import sys
from typing import TYPE_CHECKING

from ralph._lazy import lazy_exports

if TYPE_CHECKING:
    from ralph.watch.base import Display

__all__ = ["Display", "open_display"]


def open_display(name: str, *, look_up: str = "ralph show", endpoint: bool = False) -> "Display":
    """The display of a name in `config.Settings.display`; the other arguments are those of `Display`.

    "auto" is the live one on a terminal that people sit at, else the plain one; "live" falls back in the same way.
    """
    if name == "json":
        from ralph.watch.json import JsonDisplay

        return JsonDisplay(look_up=look_up, endpoint=endpoint)
    if name == "none":
        from ralph.watch.base import Display

        return Display()
    if _interactive() and (name == "live" or (name == "auto" and not os.environ.get("CI"))):
        from ralph.watch.live import LiveDisplay

        return LiveDisplay(look_up=look_up, endpoint=endpoint)
    if name in {"auto", "live", "plain"}:
        from ralph.watch.plain import PlainDisplay

        return PlainDisplay(look_up=look_up, endpoint=endpoint)
    raise ValueError(f"no display is called {name!r}")


def _interactive() -> bool:
    return sys.stdout.isatty() and os.environ.get("TERM", "") not in {"", "dumb", "unknown"}


__getattr__, __dir__ = lazy_exports(__name__, {"ralph.watch.base": ("Display",)})
