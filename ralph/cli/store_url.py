"""Where the store is, found out quickly where few words are said about it."""

import os
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

from ralph.cli.user_file import user_file
from ralph.errors import RalphError
from ralph.system.files import read_regular

__all__ = ["given_store", "named", "stated_store"]

_NO_SETTINGS = {"RALPH_DEBUG", "RALPH_PLUGINS", "RALPH_TURN"}
_MOST_BYTES = 1_000_000


def stated_store(name: str | None, folder: Path) -> str | None:
    """The store that the command line names, else the one of the settings in force in a folder; None for the user's
    own. Raises what `read_settings` raises.
    """
    if name is not None:
        return name
    variables = {key for key in os.environ if key.upper().startswith("RALPH_")} - _NO_SETTINGS
    if variables <= {"RALPH_STORE"} and not _has_settings(folder):
        return os.environ.get("RALPH_STORE")
    from ralph.cli.settings import read_settings

    return read_settings(folder, own="trusted").settings.store


def given_store(arguments: Sequence[str]) -> str | None:
    """The store that is named among the program's arguments, whichever the command, else the one of the settings in
    force in the folder that is named there; None where none is.
    """
    store = folder = None
    for word, following in zip_longest(arguments, arguments[1:]):
        option, equals, value = word.partition("=")
        if option == "--store":
            store = value if equals else following
        elif option in {"--directory", "-C"}:
            folder = value if equals else following
    if store is not None or folder is None:
        return store
    from ralph.cli.settings import workspace_folder

    try:
        return stated_store(None, workspace_folder(Path(folder)))
    except RalphError:  # of which somebody is being told already
        return None


def named(store: str | None) -> str:
    """The option that names a store, without a password, for a command that a person is told to type: what stands
    behind the command's name. Empty for None, as then the settings in force name it.
    """
    import re
    import shlex

    if store is None:
        return ""
    place = re.sub(r"(?<=://)([^/@:]*):.*(?=@)", r"\1", store)
    return f" --store {shlex.quote(place)}"


def _has_settings(folder: Path) -> bool:
    """Whether a file may hold any. To read them takes longer than to see that there are none."""
    return any(map(os.path.lexists, (folder / "ralph.toml", user_file()))) or _names_us(folder / "pyproject.toml")


def _names_us(path: Path) -> bool:
    try:
        return b"ralph" in read_regular(path, _MOST_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True  # others tell of that
