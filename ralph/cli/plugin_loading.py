"""Loading of plug-ins: the installed ones and the workspace's own file, unless they are turned off."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ralph.errors import PluginError, RalphError, SettingError, UntrustedSettingsError, UsageError

if TYPE_CHECKING:
    from ralph.executors import Executor
    from ralph.plugins import Command, CommandContext, Plugins
    from ralph.settings import SettingsFound

__all__ = [
    "are_off",
    "command_app",
    "command_materials",
    "described_commands",
    "load_plugins",
    "plugins_of",
    "settle_settings",
]

_DEFAULT = ".ralph/plugin.py"


def are_off() -> bool:
    """Return whether the environment turns all plug-ins off. Raises `SettingError` for an invalid value."""
    word = os.environ.get("RALPH_PLUGINS", "").strip().lower()
    if word not in {"", "on", "off"}:
        remedy = "A plug-in's own settings have names such as RALPH_PLUGINS__NAME__KEY."
        raise SettingError("RALPH_PLUGINS", "the environment", "it must be `off` or `on`.", remedy)
    return word == "off"


def load_plugins(
    found: "SettingsFound", folder: Path, *, off: bool = False, trust: bool = False, ask: bool = False
) -> "Plugins":
    """Load the plug-ins of a workspace.

    Args:
        found: the settings in force.
        folder: the workspace.
        off: load only Ralph's own parts, as with `RALPH_PLUGINS=off`.
        trust: as in `require_trust`, for the workspace's own file. Without consent it is left out and listed as a
            problem.
        ask: as in `require_trust`.

    Raises:
        SettingError: the settings of a plug-in are not valid.
        UsageError: the file that the settings name cannot be read.
    """
    from ralph.plugins import Plugins
    from ralph.plugins.own_settings import Tables

    if off or are_off():
        return Plugins()
    tables = Tables(found.settings.plugins, found.origins)
    return Plugins.found(tables, local=_local(found, folder, trust=trust, ask=ask))


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

    from ralph.cli.settings import own_sources
    from ralph.cli.trust import require_trust
    from ralph.cli.user_file import user_file

    for source in own_sources(Path.cwd()):
        try:
            require_trust(source, trust=False)
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
        from ralph.cli.assemble import executor_for
        from ralph.cli.settings import read_settings
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
    from ralph.cli.settings import read_settings

    return load_plugins(read_settings(folder, own="trusted"), folder)


def _local(found: "SettingsFound", folder: Path, *, trust: bool, ask: bool) -> tuple[Path, bytes | None] | None:
    """Return the workspace's own plug-in file, if it exists, with its content, if the user has consented to it."""
    from ralph.cli.trust import is_agreed

    named = found.settings.plugin_file
    path = folder / (Path(named).expanduser() if named else _DEFAULT)
    content = _read(path, required=named is not None)
    if content is None:
        return None
    return path, content if is_agreed(path, content, trust=trust, ask=ask) else None


def _read(path: Path, *, required: bool) -> bytes | None:
    from ralph.system.files import read_regular

    most = 1_000_000
    try:
        content = read_regular(path, most + 1)
    except (FileNotFoundError, NotADirectoryError):
        if not required:
            return None
        raise UsageError(f"The plug-in file {path} does not exist.", "Correct `plugin_file`, or remove it.") from None
    except OSError as error:
        problem = "it is a link" if path.is_symlink() else error.strerror or error
        raise UsageError(f"The plug-in file {path} cannot be read: {problem}.", "Fix it, or remove it.") from error
    if len(content) > most:
        raise UsageError(f"The plug-in file {path} is larger than {most:,} bytes.", "Turn it into a package.")
    return content
