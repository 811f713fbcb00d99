"""The plug-in: what Ralph is told of GitHub. Nothing of its client is loaded before it is asked for."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ralph.plugins import Command, hookimpl

if TYPE_CHECKING:
    import typer
    from pydantic import BaseModel

    from ralph import Hooks

__all__ = ["ralph_commands", "ralph_observers", "ralph_settings"]


@hookimpl
def ralph_settings() -> "type[BaseModel]":
    from ralph_github.settings import GitHubSettings

    return GitHubSettings


@hookimpl
def ralph_observers(settings: "BaseModel | None") -> "Iterator[Hooks]":
    from ralph_github.settings import GitHubSettings

    if isinstance(settings, GitHubSettings) and settings.report != "none":
        from ralph_github.observer import Reporter

        yield Reporter(settings)


@hookimpl
def ralph_commands(settings: "BaseModel | None") -> Iterator[Command]:
    def app() -> "typer.Typer":
        from ralph_github.command import app_for
        from ralph_github.settings import GitHubSettings

        return app_for(settings if isinstance(settings, GitHubSettings) else GitHubSettings())

    yield Command("github", "Take a task from a GitHub issue.", app)
