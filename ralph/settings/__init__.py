"""Every setting, declared once, and the sources that set it: files, variables, the command line.

`Settings` is the model. Flags, variables, `ralph.toml`, `ralph config show` and the documentation come from its fields.
"""

from typing import TYPE_CHECKING

from ralph._lazy import lazy_exports

if TYPE_CHECKING:
    from ralph.settings.consent import is_agreed as is_agreed
    from ralph.settings.consent import is_trusted as is_trusted
    from ralph.settings.consent import overridden as overridden
    from ralph.settings.consent import remember as remember
    from ralph.settings.consent import require_trust as require_trust
    from ralph.settings.consent import untrusted_keys as untrusted_keys
    from ralph.settings.loading import SWITCH as SWITCH
    from ralph.settings.loading import SettingsFound as SettingsFound
    from ralph.settings.loading import environment as environment
    from ralph.settings.loading import load_settings as load_settings
    from ralph.settings.loading import read_settings as read_settings
    from ralph.settings.loading import require_numbers as require_numbers
    from ralph.settings.loading import setting_error as setting_error
    from ralph.settings.loading import with_flags as with_flags
    from ralph.settings.model import FLAGS as FLAGS
    from ralph.settings.model import TRUSTED_ONLY as TRUSTED_ONLY
    from ralph.settings.model import AnalysisSettings as AnalysisSettings
    from ralph.settings.model import ExecutorSettings as ExecutorSettings
    from ralph.settings.model import Setting as Setting
    from ralph.settings.model import Settings as Settings
    from ralph.settings.model import settings_in as settings_in
    from ralph.settings.sources import FileSource as FileSource
    from ralph.settings.sources import Source as Source
    from ralph.settings.sources import own_sources as own_sources
    from ralph.settings.sources import user_file as user_file
    from ralph.settings.sources import workspace_folder as workspace_folder
    from ralph.system.declarations import Duration as Duration
    from ralph.system.declarations import parse_duration as parse_duration

__getattr__, __dir__ = lazy_exports(__name__)
