"""Ralph's executor for every agent that speaks the Agent Client Protocol.

Each name is imported when it is first used: the protocol's library takes half a second to load.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ralph_acp.agents import AGENTS, Agent, Endpoint
    from ralph_acp.executor import AcpExecutor
    from ralph_acp.settings import AcpSettings

__all__ = ["AGENTS", "AcpExecutor", "AcpSettings", "Agent", "Endpoint"]

_ELSEWHERE = {"AcpExecutor": "executor", "AcpSettings": "settings"}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_ELSEWHERE.get(name, 'agents')}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
