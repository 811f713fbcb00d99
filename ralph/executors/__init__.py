"""Executors: the interchangeable parts that hand a prompt to an agent. Each is imported when it is first used.

Beside the executors there is what one is made of: the turn and its transcript, the permission policy and what it is
asked, the confinement, a program that is talked with and leaves nothing behind, and what masks secrets.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ralph.confinement import Confinement
    from ralph.executors.base import Executor, Quantity, Timeouts, Transcript, Turn, watchdog, within_time
    from ralph.executors.copilot_cli import CopilotCLIExecutor, Ending
    from ralph.executors.copilot_sdk import CopilotSDKExecutor
    from ralph.executors.endings import how_it_ended, kind_of_status
    from ralph.executors.fallback import FallbackExecutor, PrimaryBreaker
    from ralph.executors.jsonl import JsonLines, Oversized, Unreadable
    from ralph.executors.permissions import (
        CREDENTIALS,
        DENIED_COMMANDS,
        Allowed,
        Denied,
        PermissionPolicy,
        PermissionRequest,
    )
    from ralph.executors.provision import present_cli, provide_cli
    from ralph.executors.provision_fetch import Progress
    from ralph.process import ByteStream, ProgramMissingError, Running, spawn
    from ralph.redact import Redactor

__all__ = [
    "CREDENTIALS",
    "DENIED_COMMANDS",
    "Allowed",
    "ByteStream",
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
    "ProgramMissingError",
    "Progress",
    "Quantity",
    "Redactor",
    "Running",
    "Timeouts",
    "Transcript",
    "Turn",
    "Unreadable",
    "how_it_ended",
    "kind_of_status",
    "present_cli",
    "provide_cli",
    "spawn",
    "watchdog",
    "within_time",
]

_HOMES = {
    "ralph.confinement": ("Confinement",),
    "ralph.executors.copilot_cli": ("CopilotCLIExecutor", "Ending"),
    "ralph.executors.copilot_sdk": ("CopilotSDKExecutor",),
    "ralph.executors.endings": ("how_it_ended", "kind_of_status"),
    "ralph.executors.fallback": ("FallbackExecutor", "PrimaryBreaker"),
    "ralph.executors.jsonl": ("JsonLines", "Oversized", "Unreadable"),
    "ralph.executors.permissions": (
        *("CREDENTIALS", "DENIED_COMMANDS"),
        *("Allowed", "Denied", "PermissionPolicy", "PermissionRequest"),
    ),
    "ralph.executors.provision": ("present_cli", "provide_cli"),
    "ralph.executors.provision_fetch": ("Progress",),
    "ralph.process": ("ByteStream", "ProgramMissingError", "Running", "spawn"),
    "ralph.redact": ("Redactor",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME.get(name, f"{__name__}.base")), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
