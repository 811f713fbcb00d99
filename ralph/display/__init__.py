"""How a run is shown: `open_display` finds the display that a name means."""

from ralph.display.base import Display

__all__ = ["Display", "open_display"]


def open_display(name: str) -> Display:
    """The display of a name in `config.Settings.display`; "auto" is the live one on a terminal, else the plain one."""
    if name == "json":
        from ralph.display.json import JsonDisplay

        return JsonDisplay()
    if name == "none":
        return Display()
    from ralph.display.plain import PlainDisplay

    return PlainDisplay()
