"""The fleet's views for `ralph serve` and `ralph watch`, for stores that can have a fleet."""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.screen import Screen

    from ralph.watch.tui.app import WatchApp
    from ralph.watch.web import Page

_KINDS = ("sqlite:", "postgres:", "postgresql:")


def _can_have_one(url: str | None) -> bool:
    """Return whether a fleet can be in a store: not in memory, and not in a plug-in's."""
    scheme, separator, _ = (url or "").partition(":")
    return not separator or len(scheme) == 1 or f"{scheme}:" in _KINDS


def fleet_pages(url: str | None) -> "list[Page]":
    """Return the fleet's pages of the dashboard."""
    if not _can_have_one(url):
        return []
    from ralph.fleet.view import FleetReader, fleet_page

    return [fleet_page(FleetReader(url))]


def fleet_screen(url: str | None) -> "Callable[[WatchApp], Screen[None]] | None":
    """Return what makes the fleet's screen of the terminal app."""
    if not _can_have_one(url):
        return None

    def made(viewer: "WatchApp") -> "Screen[None]":
        from ralph.fleet.screen import FleetScreen
        from ralph.fleet.view import FleetReader

        return FleetScreen(viewer, FleetReader(url))

    return made
