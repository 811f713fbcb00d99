"""Executors: the interchangeable parts that hand a prompt to an agent. Each is imported when it is first used.

Beside the executors there is what one is made of: the turn and its transcript, the permission policy and what it is
asked, the confinement, a program that is talked with and leaves nothing behind, and what masks secrets.
"""

from typing import TYPE_CHECKING

from ralph._lazy import lazy_exports

if TYPE_CHECKING:
    from ralph.executors.base import Executor, Quantity, Timeouts, Transcript, Turn, watchdog, within_time
    from ralph.executors.copilot.cli import CopilotCLIExecutor, Ending
    from ralph.executors.copilot.provision import present_cli, provide_cli
    from ralph.executors.copilot.sdk import CopilotSDKExecutor
    from ralph.executors.endings import how_it_ended, kind_of_status
    from ralph.executors.fallback import FallbackExecutor, PrimaryBreaker
    from ralph.executors.jsonl import JsonLines, Oversized, Unreadable
    from ralph.executors.npm import NpmPackage, NpmProgram, Progress
    from ralph.executors.permissions import (
        CREDENTIALS,
        DENIED_COMMANDS,
        Allowed,
        Denied,
        PermissionPolicy,
        PermissionRequest,
    )
    from ralph.system.process import ByteStream, ProgramMissingError, Running, spawn
    from ralph.system.redact import Redactor
    from ralph.system.sandbox import Confinement

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
    "NpmPackage",
    "NpmProgram",
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

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "ralph.executors.base": ("Executor", "Quantity", "Timeouts", "Transcript", "Turn", "watchdog", "within_time"),
        "ralph.executors.copilot.cli": ("CopilotCLIExecutor", "Ending"),
        "ralph.executors.copilot.provision": ("present_cli", "provide_cli"),
        "ralph.executors.npm": ("NpmPackage", "NpmProgram", "Progress"),
        "ralph.executors.copilot.sdk": ("CopilotSDKExecutor",),
        "ralph.executors.endings": ("how_it_ended", "kind_of_status"),
        "ralph.executors.fallback": ("FallbackExecutor", "PrimaryBreaker"),
        "ralph.executors.jsonl": ("JsonLines", "Oversized", "Unreadable"),
        "ralph.executors.permissions": (
            "CREDENTIALS",
            "DENIED_COMMANDS",
            "Allowed",
            "Denied",
            "PermissionPolicy",
            "PermissionRequest",
        ),
        "ralph.system.sandbox": ("Confinement",),
        "ralph.system.process": ("ByteStream", "ProgramMissingError", "Running", "spawn"),
        "ralph.system.redact": ("Redactor",),
    },
)
