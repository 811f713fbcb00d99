"""Claude Code for Ralph: an executor, and the plug-in that registers it as `claude`.

Each name is imported when it is first used: the plug-in is looked at whenever Ralph starts.
"""

from typing import TYPE_CHECKING

from ralph.plugins import lazy_exports

if TYPE_CHECKING:
    from ralph_claude.executor import ClaudeExecutor
    from ralph_claude.settings import ClaudeSettings

__all__ = ["ClaudeExecutor", "ClaudeSettings"]

__getattr__, __dir__ = lazy_exports(__name__)
