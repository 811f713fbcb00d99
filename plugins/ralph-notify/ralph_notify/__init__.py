"""Notifications for Ralph: an observer that sends messages about runs, and the plug-in that registers it as `notify`.

Each name is imported when it is first used, because Ralph imports the plug-in at every start.
"""

from typing import TYPE_CHECKING

from ralph.plugins import lazy_exports

if TYPE_CHECKING:
    from ralph_notify.notifier import Notifier
    from ralph_notify.settings import NotifySettings

__all__ = ["Notifier", "NotifySettings"]

__getattr__, __dir__ = lazy_exports(__name__)
