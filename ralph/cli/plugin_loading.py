"""The commands of plug-ins, and the plug-ins of a folder for commands other than `ralph run`."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ralph.errors import PluginError, RalphError, UntrustedSettingsError

if TYPE_CHECKING:
    from ralph.executors import Executor
    from ralph.plugins import Command, CommandContext, Plugins

__all__ = [
    "command_app",
    "command_materials",
    "described_commands",
    "plugins_of",
    "settle_settings",
]


def described_commands() -> dict[str, str]:
    """Return the descriptions of the plug-ins' commands by name; `ralph plugins` reports problems with them."""
    try:
        return {name: command.about for name, command in _commands().items()}
    except RalphError:
        return {}


def settle_settings() -> None:
    """Ask at a terminal for consent to the folder's own settings, which a command of a plug-in uses.

    Without consent they are left out, with a message on standard error.

    Raises:
        SettingError: they cannot be read.
    """
    import sys

    from ralph.cli.settings import ask_at_terminal
    from ralph.settings import own_sources, require_trust, user_file

    for source in own_sources(Path.cwd()):
        try:
            require_trust(source, trust=False, ask=ask_at_terminal)
        except UntrustedSettingsError as error:
            elsewhere = f"Run the command once at a terminal, or put them into {user_file()}."
            sys.stderr.write(f"ralph: Left out: {error.problem} {elsewhere}\n")


def command_app(name: str) -> Any:
    """Return the `typer.Typer` of a plug-in's command; None if there is no such command.

    A command that cannot be loaded reports this when it is called; the help of all commands still lists it.

    Raises:
        PluginError: the plug-ins cannot be searched, since the settings are not valid.
    """
    from importlib import import_module

    from ralph.plugins.discovery import failure

    try:
        command = _commands().get(name)
    except RalphError as error:
        problem = f"Ralph has no command {name!r} of its own, and plug-ins cannot be searched for it: {error.problem}"
        raise PluginError(problem, error.remedy) from error
    if command is None:
        return None
    try:
        if not isinstance(command.app, str):
            return command.app()
        module, _, attribute = command.app.partition(":")
        return getattr(import_module(module), attribute or "app")
    except (Exception, SystemExit) as error:  # noqa: BLE001 - foreign code may raise anything
        problem = f"The command {name!r} cannot be loaded: {failure(error)}."
        return _failing_app(PluginError(problem, "Fix the plug-in."), command.about)


def command_materials() -> "CommandContext":
    """Return what the commands of plug-ins are built from."""
    from ralph.plugins import CommandContext

    def executor(name: str) -> "Executor":
        from ralph.loop.assembly import executor_for
        from ralph.plugins.loading import load_plugins
        from ralph.settings import read_settings
        from ralph.types import evolve

        found = read_settings(Path.cwd(), own="trusted")
        settings = found.settings.executor
        chosen = evolve(settings, name=name) if name else settings
        return executor_for(chosen, plugins=load_plugins(found, Path.cwd()))

    return CommandContext(executor)


def _failing_app(error: RalphError, about: str) -> Any:
    """Return an app with one command that raises an error."""
    import typer

    app = typer.Typer(add_completion=False)

    @app.command(help=about, context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
    def fail() -> None:  # pyright: ignore[reportUnusedFunction]
        raise error

    return app


def _commands() -> "dict[str, Command]":
    """Raise a `RalphError` if the settings are not valid or two commands have the same name."""
    offers = plugins_of(Path.cwd()).named("ralph_commands")
    return {name: offer.thing for name, offer in offers.items()}


def plugins_of(folder: Path) -> "Plugins":
    """Load the plug-ins of a folder for a command other than run; anything without the needed consent is left out."""
    from ralph.plugins.loading import load_plugins
    from ralph.settings import read_settings

    return load_plugins(read_settings(folder, own="trusted"), folder)
