"""Where a user's own settings are."""

from pathlib import Path

__all__ = ["user_file"]


def user_file() -> Path:
    """The user's own settings, for all workspaces."""
    from platformdirs import user_config_path

    return user_config_path("ralph", appauthor=False) / "ralph.toml"
