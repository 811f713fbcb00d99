"""The plug-in's hooks: settings, observer and command. Apprise is loaded only when one of them needs it."""

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
    """Return the model of the plug-in's settings."""
    from ralph_notify.settings import NotifySettings

    return NotifySettings


@hookimpl
def ralph_observers(settings: "BaseModel | None") -> "Iterator[Hooks]":
    """Return the plug-in's observers."""
    from ralph_notify.settings import NotifySettings

    if isinstance(settings, NotifySettings) and settings.urls and settings.on:
        from ralph_notify.notifier import Notifier

        yield Notifier(settings)


@hookimpl
def ralph_commands(settings: "BaseModel | None") -> Iterator[Command]:
    """Return the plug-in's commands."""

    def app() -> "typer.Typer":
        from ralph_notify.command import app_for
        from ralph_notify.settings import NotifySettings

        return app_for(settings if isinstance(settings, NotifySettings) else NotifySettings())

    yield Command("notify", "Send a test notification.", app)
