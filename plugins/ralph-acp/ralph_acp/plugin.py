"""The plug-in's registration. Nothing more is loaded before the executor is used."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ralph.plugins import BuildContext, Provider, hookimpl

if TYPE_CHECKING:
    from pydantic import BaseModel

    from ralph_acp.executor import AcpExecutor

__all__ = ["build", "ralph_executors", "ralph_settings"]


@hookimpl
def ralph_settings() -> "type[BaseModel]":
    """Return the model of the plug-in's own settings."""
    from ralph_acp.settings import AcpSettings

    return AcpSettings


@hookimpl
def ralph_executors() -> Iterator[Provider]:
    """Yield the executor under its name."""
    yield Provider("acp", "any agent that speaks the Agent Client Protocol", build)


def build(context: BuildContext) -> "AcpExecutor":
    """Return the executor for a run's settings. Raises `UsageError` if they name no agent."""
    from ralph_acp.agents import AGENTS
    from ralph_acp.executor import AcpExecutor
    from ralph_acp.settings import AcpSettings

    own = context.own if isinstance(context.own, AcpSettings) else AcpSettings()
    return AcpExecutor(
        AGENTS[own.agent]() if own.agent else None,
        own.command,
        env=own.env,
        **context.common,
        wire_api=context.settings.wire_api,
        redactor=context.redactor,
        home=own.home.expanduser() if own.home else None,
        files=own.files,
        terminals=own.terminals,
        start_timeout=own.start_timeout,
        progress=context.progress,
    )
