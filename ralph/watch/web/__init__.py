"""The dashboard: pages of runs, live, with controls, behind a guard; for `ralph serve`.

Every page is made on the server. What an agent has written reaches it as text, or as Markdown without HTML; the pages'
policy lets the browser run no script and apply no style that is not a file of this package.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ralph.store import Store

__all__ = ["Page", "PageRequest"]


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A request for a plug-in's page: the store of the dashboard, and the query in the address."""

    store: "Store"
    query: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Page:
    """A plug-in's page of the dashboard.

    Attributes:
        name: in the address /pages/NAME.
        title: of the page and of the link to it.
        show: returns the content: `markupsafe.Markup`, or text that is escaped.
    """

    name: str
    title: str
    show: Callable[[PageRequest], Awaitable[str]]
