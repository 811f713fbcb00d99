"""Where the store is, found out quickly where nobody has said anything about it."""

import os
from pathlib import Path

__all__ = ["stated_store", "user_file"]


def user_file() -> Path:
    """The user's own settings, for all workspaces."""
    from platformdirs import user_config_path

    return user_config_path("ralph", appauthor=False) / "ralph.toml"


def stated_store(name: str | None, folder: Path) -> str | None:
    """The store that the command line names, else the one of the settings in force in a folder; None for the user's
    own. Raises what `read_settings` raises.
    """
    if name is not None or not _has_settings(folder):
        return name
    from ralph.cli.settings import read_settings

    return read_settings(folder, own="trusted").settings.store


def _has_settings(folder: Path) -> bool:
    """Whether there is anything to be read, which takes longer than to see that there is nothing."""
    files = (folder / "ralph.toml", folder / "pyproject.toml", user_file())
    return any(key.upper().startswith("RALPH_") for key in os.environ) or any(map(os.path.lexists, files))
