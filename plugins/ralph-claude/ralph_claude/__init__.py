"""Claude Code for Ralph: an executor, and the plug-in that registers it as `claude`.

Each name is imported when it is first used: the plug-in is looked at whenever Ralph starts.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ralph_claude.executor import ClaudeExecutor
    from ralph_claude.settings import ClaudeSettings

__all__ = ["ClaudeExecutor", "ClaudeSettings"]

_HOMES = {"ClaudeExecutor": "ralph_claude.executor", "ClaudeSettings": "ralph_claude.settings"}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
