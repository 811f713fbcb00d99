"""The built-in stores."""

from collections.abc import Iterable

from ralph.plugins.kinds import StoreKind
from ralph.plugins.markers import hookimpl
from ralph.store import open_store

__all__ = ["ralph_stores"]


@hookimpl
def ralph_stores() -> Iterable[StoreKind]:
    yield StoreKind("memory", "nothing outlives the process", open_store)
    yield StoreKind("postgres", "the same as postgresql", open_store)
    yield StoreKind("postgresql", "PostgreSQL, for many machines", open_store)
    yield StoreKind("sqlite", "a file, also where its path stands alone", open_store)
