"""Ralph's executor for every agent that speaks the Agent Client Protocol.

Each name is imported when it is first used: the protocol's library takes half a second to load.
"""

from typing import TYPE_CHECKING

from ralph.plugins import lazy_exports

if TYPE_CHECKING:
    from ralph_acp.agents import AGENTS, Agent, Endpoint
    from ralph_acp.executor import AcpExecutor
    from ralph_acp.settings import AcpSettings

__all__ = ["AGENTS", "AcpExecutor", "AcpSettings", "Agent", "Endpoint"]

__getattr__, __dir__ = lazy_exports(__name__)
