"""GitHub for Ralph: tasks from issues, reports on runs, and the plug-in that registers both as `github`.

Each name is imported when it is first used, because Ralph imports the plug-in at every start.
"""

from typing import TYPE_CHECKING

from ralph.plugins import lazy_exports

if TYPE_CHECKING:
    from ralph_github.api import GitHubApi
    from ralph_github.observer import Reporter
    from ralph_github.settings import GitHubSettings
    from ralph_github.task import IssueName, task_of

__all__ = ["GitHubApi", "GitHubSettings", "IssueName", "Reporter", "task_of"]

__getattr__, __dir__ = lazy_exports(__name__)
