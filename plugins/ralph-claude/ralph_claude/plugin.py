"""The plug-in: what Ralph is told of Claude Code. Nothing of it is loaded before it is asked for."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ralph.plugins import ExecutorKind, ExecutorMaterials, hookimpl

if TYPE_CHECKING:
    from pydantic import BaseModel

    from ralph_claude.executor import ClaudeExecutor

__all__ = ["ralph_executors", "ralph_settings"]


@hookimpl
def ralph_settings() -> "type[BaseModel]":
    from ralph_claude.settings import ClaudeSettings

    return ClaudeSettings


@hookimpl
def ralph_executors() -> Iterator[ExecutorKind]:
    yield ExecutorKind(name="claude", about="Claude Code, through the Claude Agent SDK", build=build)


def build(materials: ExecutorMaterials) -> "ClaudeExecutor":
    """The executor for a run's settings."""
    from ralph_claude.executor import ClaudeExecutor
    from ralph_claude.settings import ClaudeSettings

    own = materials.own if isinstance(materials.own, ClaudeSettings) else ClaudeSettings()
    return ClaudeExecutor(
        own.program,
        **materials.common,
        home=own.home,
        sources=own.sources,
        retries=own.retries,
    )
