"""GitHub for Ralph: tasks from issues, reports on runs, and the plug-in that registers both as `github`.

Each name is imported when it is first used, because Ralph imports the plug-in at every start.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ralph_github.api import GitHubApi
    from ralph_github.observer import Reporter
    from ralph_github.settings import GitHubSettings
    from ralph_github.task import IssueName, task_of

__all__ = ["GitHubApi", "GitHubSettings", "IssueName", "Reporter", "task_of"]

_HOMES = {
    "GitHubApi": "ralph_github.api",
    "GitHubSettings": "ralph_github.settings",
    "IssueName": "ralph_github.task",
    "Reporter": "ralph_github.observer",
    "task_of": "ralph_github.task",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
