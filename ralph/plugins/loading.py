"""The plug-ins of a workspace: the installed ones and its own file, unless they are off."""

import os
from pathlib import Path

from ralph.errors import SettingError, UsageError
from ralph.plugins.own_settings import Tables
from ralph.plugins.registry import Plugins
from ralph.settings import SettingsFound
from ralph.settings.consent import Ask, is_agreed
from ralph.settings.sources import MOST_BYTES, read_file

_DEFAULT = ".ralph/plugin.py"


def are_off() -> bool:
    """Return True if the environment turns all plug-ins off.

    Raises:
        SettingError: the variable has a value other than `off` and `on`.
    """
    word = os.environ.get("RALPH_PLUGINS", "").strip().lower()
    if word not in {"", "on", "off"}:
        remedy = "A plug-in's own settings have names such as RALPH_PLUGINS__NAME__KEY."
        raise SettingError("RALPH_PLUGINS", "the environment", "it must be `off` or `on`.", remedy)
    return word == "off"


def load_plugins(
    found: SettingsFound, folder: Path, *, off: bool = False, trust: bool = False, ask: Ask | None = None
) -> Plugins:
    """Return the plug-ins of a workspace under some settings.

    Args:
        off: use only Ralph's own parts, as with `RALPH_PLUGINS=off`.
        trust: as in `ralph.settings.require_trust`, for the workspace's own file. Without consent the file is left
            out, with a problem that says so.
        ask: as in `ralph.settings.require_trust`.

    Raises:
        SettingError: the settings of a plug-in are not valid.
        UsageError: the file that the settings name cannot be read.
    """
    if off or are_off():
        return Plugins()
    tables = Tables(found.settings.plugins, found.origins)
    return Plugins.found(tables, local=_local(found, folder, trust=trust, ask=ask))


def _local(found: SettingsFound, folder: Path, *, trust: bool, ask: Ask | None) -> tuple[Path, bytes | None] | None:
    """Return the workspace's own file, if it exists, and its content, if there is consent to run it."""
    named = found.settings.plugin_file
    path = folder / (Path(named).expanduser() if named else _DEFAULT)
    content = _read(path, required=named is not None)
    if content is None:
        return None
    return path, content if is_agreed(path, content, trust=trust, ask=ask) else None


def _read(path: Path, *, required: bool) -> bytes | None:
    named = f"The plug-in file {path}"
    content = read_file(path, named, "Fix it, or remove it.")
    if content is None and required:
        raise UsageError(f"{named} does not exist.", "Correct `plugin_file`, or remove it.")
    if content is not None and len(content) > MOST_BYTES:
        raise UsageError(f"{named} is larger than {MOST_BYTES:,} bytes.", "Turn it into a package.")
    return content
