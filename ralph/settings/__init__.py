"""Every setting, declared once, and the sources that set it: files, variables, the command line.

`Settings` is the model. Flags, variables, `ralph.toml`, `ralph config show` and the documentation come from its fields.
"""

from typing import TYPE_CHECKING

from ralph._lazy import lazy_exports

if TYPE_CHECKING:
    from ralph.settings.consent import is_agreed, is_trusted, overridden, remember, require_trust, untrusted_keys
    from ralph.settings.loading import (
        SWITCH,
        SettingsFound,
        environment,
        load_settings,
        read_settings,
        require_numbers,
        setting_error,
        with_flags,
    )
    from ralph.settings.model import FLAGS, TRUSTED_ONLY, ExecutorSettings, Setting, Settings, settings_in
    from ralph.settings.sources import FileSource, Source, own_sources, user_file, workspace_folder
    from ralph.system.declarations import Duration, parse_duration

__all__ = [
    "FLAGS",
    "SWITCH",
    "TRUSTED_ONLY",
    "Duration",
    "ExecutorSettings",
    "FileSource",
    "Setting",
    "Settings",
    "SettingsFound",
    "Source",
    "environment",
    "is_agreed",
    "is_trusted",
    "load_settings",
    "overridden",
    "own_sources",
    "parse_duration",
    "read_settings",
    "remember",
    "require_numbers",
    "require_trust",
    "setting_error",
    "settings_in",
    "untrusted_keys",
    "user_file",
    "with_flags",
    "workspace_folder",
]

__getattr__, __dir__ = lazy_exports(__name__)
