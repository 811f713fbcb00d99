"""The displays of a run: `open_display` finds one by name, `Display` is the base of all."""

import os
import sys
from typing import TYPE_CHECKING

from ralph._lazy import lazy_exports

if TYPE_CHECKING:
    from ralph.watch.base import Display
    from ralph.watch.telemetry_observer import Telemetry

__all__ = ["Display", "Telemetry", "open_display"]


def open_display(name: str, *, look_up: str = "ralph show", endpoint: bool = False) -> "Display":
    """Return the display with a name of `Settings.display`; the other arguments are those of `Display`.

    "auto" is the live display on an interactive terminal outside CI, else the plain one; "live" falls back to plain
    where there is no such terminal.

    Raises:
        ValueError: no display has this name.
    """
    interactive = sys.stdout.isatty() and os.environ.get("TERM", "") not in {"", "dumb", "unknown"}
    if name == "json":
        from ralph.watch.base import JsonDisplay as Chosen
    elif name == "none":
        from ralph.watch.base import Display as Chosen
    elif interactive and (name == "live" or (name == "auto" and not os.environ.get("CI"))):
        from ralph.watch.live import LiveDisplay as Chosen
    elif name in {"auto", "live", "plain"}:
        from ralph.watch.plain import PlainDisplay as Chosen
    else:
        raise ValueError(f"no display is called {name!r}")
    return Chosen(look_up=look_up, endpoint=endpoint)


__getattr__, __dir__ = lazy_exports(__name__)
