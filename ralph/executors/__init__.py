"""Executors: the interchangeable parts that hand a prompt to an agent. Each is imported when it is first used.

Besides the executors, this exports the parts that an executor of your own is made of: the turn and its transcript, the
base classes for agents, the permission policy, the confinement, programs that leave nothing behind, and the masking of
secrets.
"""

from typing import TYPE_CHECKING

from ralph._lazy import lazy_exports

if TYPE_CHECKING:
    from ralph.executors.agent import NO_KEY, AgentExecutor, AgentOptions, Ending, Listener, ProgramExecutor
    from ralph.executors.base import BOUNDS, Bound, Executor, Quantity, Transcript, Turn, watchdog, within_time
    from ralph.executors.copilot.cli import CopilotCLIExecutor
    from ralph.executors.copilot.provision import present_cli, provide_cli
    from ralph.executors.copilot.sdk import CopilotSDKExecutor
    from ralph.executors.failures import (
        WORDINGS,
        Wordings,
        classify_failure,
        describe_exit,
        kind_of_status,
        status_in,
        wait_in,
    )
    from ralph.executors.fallback import FallbackExecutor, PrimaryBreaker
    from ralph.executors.npm import NpmPackage, NpmProgram, Progress
    from ralph.executors.permissions import (
        CREDENTIALS,
        DENIED_COMMANDS,
        Allowed,
        Denied,
        PermissionPolicy,
        PermissionRequest,
    )
    from ralph.executors.program_output import Event, JsonLines, Line, Oversized, Unreadable
    from ralph.system.files import find_program
    from ralph.system.process import ByteStream, ProgramMissingError, Running, spawn
    from ralph.system.sandbox import Confinement
    from ralph.system.secrets import Redactor
    from ralph.types.output import Timeouts

__all__ = [
    "BOUNDS",
    "CREDENTIALS",
    "DENIED_COMMANDS",
    "NO_KEY",
    "WORDINGS",
    "AgentExecutor",
    "AgentOptions",
    "Allowed",
    "Bound",
    "ByteStream",
    "Confinement",
    "CopilotCLIExecutor",
    "CopilotSDKExecutor",
    "Denied",
    "Ending",
    "Event",
    "Executor",
    "FallbackExecutor",
    "JsonLines",
    "Line",
    "Listener",
    "NpmPackage",
    "NpmProgram",
    "Oversized",
    "PermissionPolicy",
    "PermissionRequest",
    "PrimaryBreaker",
    "ProgramExecutor",
    "ProgramMissingError",
    "Progress",
    "Quantity",
    "Redactor",
    "Running",
    "Timeouts",
    "Transcript",
    "Turn",
    "Unreadable",
    "Wordings",
    "classify_failure",
    "describe_exit",
    "find_program",
    "kind_of_status",
    "present_cli",
    "provide_cli",
    "spawn",
    "status_in",
    "wait_in",
    "watchdog",
    "within_time",
]

__getattr__, __dir__ = lazy_exports(__name__)
