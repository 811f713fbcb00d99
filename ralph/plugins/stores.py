"""The store that a name means, one of a plug-in's included."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from ralph import store

if TYPE_CHECKING:
    from ralph.plugins.loaded import Plugins
    from ralph.store.base import Store

__all__ = ["is_foreign", "open_store"]

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_OWN = {"memory", "postgres", "postgresql", "sqlite"}


def is_foreign(url: str | None) -> bool:
    """Whether a URL is one that only a plug-in's store can go by."""
    scheme = _SCHEME.match(url or "")
    return scheme is not None and scheme[1] not in _OWN


def open_store(url: str | None, plugins: "Plugins | Callable[[], Plugins]") -> "Store":
    """The store that a name means, as `ralph.store.open_store`, or that of a plug-in which knows its scheme.

    Args:
        plugins: those that are loaded, or what loads them where they are needed.

    Raises:
        UsageError: it means no store.
    """
    if url is None or not is_foreign(url):
        return store.open_store(url)
    from ralph.plugins import Plugins, parts

    loaded = plugins if isinstance(plugins, Plugins) else plugins()
    if url.partition(":")[0] not in loaded.named("ralph_stores"):
        return store.open_store(url)  # which says what would be a store
    return parts.store(loaded, url)
