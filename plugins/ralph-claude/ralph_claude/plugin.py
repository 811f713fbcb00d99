"""The plug-in's registration. Nothing more is loaded before the executor is used."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ralph.plugins import BuildContext, Provider, hookimpl

if TYPE_CHECKING:
    from pydantic import BaseModel

    from ralph_claude.executor import ClaudeExecutor

__all__ = ["ralph_executors", "ralph_settings"]


@hookimpl
def ralph_settings() -> "type[BaseModel]":
    """Return the model of the plug-in's own settings."""
    from ralph_claude.settings import ClaudeSettings

    return ClaudeSettings


@hookimpl
def ralph_executors() -> Iterator[Provider]:
    """Yield the executor under its name."""
    yield Provider(name="claude", about="Claude Code, through the Claude Agent SDK", build=build)


def build(context: BuildContext) -> "ClaudeExecutor":
    """Return the executor for a run's settings."""
    from ralph_claude.executor import ClaudeExecutor
    from ralph_claude.settings import ClaudeSettings

    own = context.own if isinstance(context.own, ClaudeSettings) else ClaudeSettings()
    return ClaudeExecutor(
        own.program,
        **context.common,
        home=own.home,
        sources=own.sources,
        retries=own.retries,
    )
