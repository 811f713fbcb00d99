"""Where analyses are kept: `open_grounding_store` finds the store that a name means."""

from typing import TYPE_CHECKING

from ralph.store import database_named, default_path

if TYPE_CHECKING:
    from ralph_grounding.store.grounding import GroundingStore

__all__ = ["open_grounding_store"]


def open_grounding_store(url: str | None = None) -> "GroundingStore":
    """The store that a name means, to be used in `async with`; nothing is read or written before.

    Args:
        url: "sqlite:///PATH" or a path, "~" allowed, or "postgresql://USER@HOST/DATABASE"; it may be where Ralph keeps
            its runs. None: `grounding.db` beside Ralph's own store in the user's state folder.

    Raises:
        UsageError: it means no store.
    """
    from ralph_grounding.store.grounding import GroundingStore

    if url is None:
        return GroundingStore(database_named(str(default_path().with_name("grounding.db"))))
    return GroundingStore(database_named(url), shared_as=url)
