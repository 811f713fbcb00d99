"""Notifications for Ralph: an observer that sends word of a run, and the plug-in that registers it as `notify`.

Each name is imported when it is first used: the plug-in is looked at whenever Ralph starts.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ralph_notify.observer import Notifier
    from ralph_notify.settings import NotifySettings

__all__ = ["Notifier", "NotifySettings"]

_HOMES = {"Notifier": "ralph_notify.observer", "NotifySettings": "ralph_notify.settings"}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
