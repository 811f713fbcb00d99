"""Notifications for Ralph: an observer that sends messages about runs, and the plug-in that registers it as `notify`.

Each name is imported when it is first used, because Ralph imports the plug-in at every start.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ralph_notify.notifier import Notifier
    from ralph_notify.settings import NotifySettings

__all__ = ["Notifier", "NotifySettings"]

_HOMES = {"Notifier": "ralph_notify.notifier", "NotifySettings": "ralph_notify.settings"}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
