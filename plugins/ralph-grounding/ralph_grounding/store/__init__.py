"""The store of analyses; `open_grounding_store` opens it by name."""

from typing import TYPE_CHECKING

from ralph.store import database_named, default_path

if TYPE_CHECKING:
    from ralph_grounding.store.grounding import GroundingStore

__all__ = ["open_grounding_store"]


def open_grounding_store(url: str | None = None) -> "GroundingStore":
    """Return the store that a name means, for use in `async with`; nothing is read or written before.

    Args:
        url: "sqlite:///PATH" or a path, "~" allowed, or "postgresql://USER@HOST/DATABASE"; Ralph's own store may be the
            same place. None: `grounding.db` beside Ralph's own store in the user's state folder.

    Raises:
        UsageError: the name is not valid.
    """
    from ralph_grounding.store.grounding import GroundingStore

    if url is None:
        return GroundingStore(database_named(str(default_path().with_name("grounding.db"))))
    return GroundingStore(database_named(url), shared_as=url)
