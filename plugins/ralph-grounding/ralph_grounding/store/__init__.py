"""Where analyses are kept: `open_grounding_store` finds the store that a name means."""

from typing import TYPE_CHECKING

from ralph.errors import UsageError
from ralph.store import default_path, file_of

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
    from ralph_grounding.store.database import PostgresDatabase, SqliteFile
    from ralph_grounding.store.grounding import GroundingStore

    if url is None:
        return GroundingStore(SqliteFile(default_path().with_name("grounding.db")))
    if url == "memory:":
        raise UsageError("memory: keeps no analyses.", "Give the path of a file, or postgresql://USER@HOST/DATABASE.")
    path = file_of(url)
    return GroundingStore(PostgresDatabase.named(url) if path is None else SqliteFile(path), shared_as=url)
