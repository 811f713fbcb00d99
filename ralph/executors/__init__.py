"""Executors: the interchangeable parts that hand a prompt to an agent. Each is imported when it is first used.

Beside the executors there is what one is made of: the turn and its transcript, the permission policy and what it is
asked, the confinement, and a program that is talked with and leaves nothing behind.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ralph.confinement import Confinement
    from ralph.executors.base import Executor, Quantity, Timeouts, Transcript, Turn, watchdog, within_time
    from ralph.executors.copilot_cli import CopilotCLIExecutor, Ending
    from ralph.executors.copilot_sdk import CopilotSDKExecutor
    from ralph.executors.fallback import FallbackExecutor, PrimaryBreaker
    from ralph.executors.jsonl import JsonLines, Oversized, Unreadable
    from ralph.executors.permissions import Allowed, Denied, PermissionPolicy, PermissionRequest
    from ralph.process import Running, spawn

__all__ = [
    "Allowed",
    "Confinement",
    "CopilotCLIExecutor",
    "CopilotSDKExecutor",
    "Denied",
    "Ending",
    "Executor",
    "FallbackExecutor",
    "JsonLines",
    "Oversized",
    "PermissionPolicy",
    "PermissionRequest",
    "PrimaryBreaker",
    "Quantity",
    "Running",
    "Timeouts",
    "Transcript",
    "Turn",
    "Unreadable",
    "spawn",
    "watchdog",
    "within_time",
]

_HOMES = {
    "ralph.confinement": ("Confinement",),
    "ralph.executors.copilot_cli": ("CopilotCLIExecutor", "Ending"),
    "ralph.executors.copilot_sdk": ("CopilotSDKExecutor",),
    "ralph.executors.fallback": ("FallbackExecutor", "PrimaryBreaker"),
    "ralph.executors.jsonl": ("JsonLines", "Oversized", "Unreadable"),
    "ralph.executors.permissions": ("Allowed", "Denied", "PermissionPolicy", "PermissionRequest"),
    "ralph.process": ("Running", "spawn"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME.get(name, f"{__name__}.base")), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
