"""Executors: the interchangeable parts that hand a prompt to an agent. Each is imported when it is first used."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ralph.executors.base import Executor, Timeouts, Transcript, Turn, watchdog, within_time
    from ralph.executors.copilot_cli import CopilotCLIExecutor, Ending
    from ralph.executors.copilot_sdk import CopilotSDKExecutor
    from ralph.executors.fallback import FallbackExecutor, PrimaryBreaker
    from ralph.executors.permissions import PermissionPolicy

__all__ = [
    "CopilotCLIExecutor",
    "CopilotSDKExecutor",
    "Ending",
    "Executor",
    "FallbackExecutor",
    "PermissionPolicy",
    "PrimaryBreaker",
    "Timeouts",
    "Transcript",
    "Turn",
    "watchdog",
    "within_time",
]

_ELSEWHERE = {
    "CopilotCLIExecutor": "copilot_cli",
    "CopilotSDKExecutor": "copilot_sdk",
    "Ending": "copilot_cli",
    "FallbackExecutor": "fallback",
    "PermissionPolicy": "permissions",
    "PrimaryBreaker": "fallback",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_ELSEWHERE.get(name, 'base')}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
