"""The store that a command means, found without loading the settings if nothing names one there."""

import os
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

from ralph.errors import RalphError
from ralph.settings.sources import user_file
from ralph.system.files import read_regular

__all__ = ["configured_store", "given_store", "store_option"]

_NOT_SETTINGS = {"RALPH_DEBUG", "RALPH_PLUGINS", "RALPH_TURN"}
_MOST_BYTES = 1_000_000


def configured_store(name: str | None, folder: Path) -> str | None:
    """Return the store that the command line names, else that of the settings for a folder; None for the user's own.

    Raises what `read_settings` raises.
    """
    if name is not None:
        return name
    variables = {key for key in os.environ if key.upper().startswith("RALPH_")} - _NOT_SETTINGS
    if variables <= {"RALPH_STORE"} and not _has_settings(folder):
        return os.environ.get("RALPH_STORE")
    from ralph.settings import read_settings

    return read_settings(folder, own="trusted").settings.store


def given_store(arguments: Sequence[str]) -> str | None:
    """Return the store that the program's arguments name, by `--store` or by the settings of the folder after `-C`."""
    store = folder = None
    for word, following in zip_longest(arguments, arguments[1:]):
        option, equals, value = word.partition("=")
        if option == "--store":
            store = value if equals else following
        elif option in {"--directory", "-C"}:
            folder = value if equals else following
    if store is not None or folder is None:
        return store
    from ralph.settings import workspace_folder

    try:
        return configured_store(None, workspace_folder(Path(folder)))
    except RalphError:  # it is being reported already
        return None


def store_option(store: str | None) -> str:
    """Return the `--store` option for a suggested command, without a password; empty for None."""
    import re
    import shlex

    if store is None:
        return ""
    url = re.sub(r"(?<=://)([^/@:]*):.*(?=@)", r"\1", store)
    return f" --store {shlex.quote(url)}"


def _has_settings(folder: Path) -> bool:
    """Return whether a file may hold settings. This check is faster than reading them."""
    return any(map(os.path.lexists, (folder / "ralph.toml", user_file()))) or _names_us(folder / "pyproject.toml")


def _names_us(path: Path) -> bool:
    try:
        return b"ralph" in read_regular(path, _MOST_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True  # the reader of the settings reports it
