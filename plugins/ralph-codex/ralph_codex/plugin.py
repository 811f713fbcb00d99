"""The plug-in's registration. Nothing more is loaded before the executor is used."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ralph.plugins import BuildContext, Provider, hookimpl

if TYPE_CHECKING:
    from pydantic import BaseModel

    from ralph_codex.executor import CodexExecutor

__all__ = ["ralph_executors", "ralph_settings"]


@hookimpl
def ralph_settings() -> "type[BaseModel]":
    """Return the model of the plug-in's own settings."""
    from ralph_codex.settings import CodexSettings

    return CodexSettings


@hookimpl
def ralph_executors() -> Iterator[Provider]:
    """Yield the executor under its name."""
    yield Provider(name="codex", about="OpenAI's Codex, through its command line", build=build)


def build(context: BuildContext) -> "CodexExecutor":
    """Return the executor for a run's settings."""
    from ralph_codex.executor import CodexExecutor
    from ralph_codex.settings import CodexSettings

    own = context.own if isinstance(context.own, CodexSettings) else CodexSettings()
    return CodexExecutor(
        own.program,
        **context.common,
        home=own.home,
        network=own.network,
        retries=own.retries,
        progress=context.progress,
    )
