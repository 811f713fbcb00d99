"""Which plug-ins count: those that are installed and the workspace's own file, unless they are off."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ralph.errors import RalphError, SettingError, UsageError
from ralph.types import evolve

if TYPE_CHECKING:
    from ralph.executors import Executor
    from ralph.plugins import Command, CommandMaterials, Plugins
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
    """Whether the environment turns all plug-ins off. Raises `SettingError` for a word that says neither."""
    word = os.environ.get("RALPH_PLUGINS", "").strip().lower()
    if word not in {"", "on", "off"}:
        remedy = "A plug-in's own settings have names such as RALPH_PLUGINS__NAME__KEY."
        raise SettingError("RALPH_PLUGINS", "the environment", "it must be `off` or `on`.", remedy)
    return word == "off"


def load_plugins(
    found: "SettingsFound", folder: Path, *, off: bool = False, trust: bool = False, ask: bool = False
) -> "Plugins":
    """The plug-ins that count for a workspace under some settings.

    Args:
        off: only Ralph's own parts count; so they do where `RALPH_PLUGINS` is `off`.
        trust, ask: as in `require_trust`, for the workspace's own file. Without consent it is left out, which is its
            problem.

    Raises:
        SettingError: what is set for a plug-in will not do.
        UsageError: the file that the settings name cannot be read.
    """
    from ralph.plugins import Plugins
    from ralph.plugins.tables import Tables

    if off or are_off():
        return Plugins()
    tables = Tables(found.settings.plugins, found.origins)
    return Plugins.found(tables, local=_local(found, folder, trust=trust, ask=ask))


def described_commands() -> dict[str, str]:
    """The commands that plug-ins bring, with what they say of them.

    Whatever goes wrong with them is for `ralph plugins` to tell.
    """
    try:
        return {name: command.about for name, command in _commands().items()}
    except RalphError:
        return {}


def settle_settings() -> None:
    """Asks at a terminal for consent to the folder's own settings, for a command of a plug-in that goes by them. Where
    there is none, they are left out, which is told on standard error.

    Raises:
        SettingError: they cannot be read.
    """
    import sys

    from ralph.cli.settings import own_sources
    from ralph.cli.trust import require_trust
    from ralph.cli.user_file import user_file
    from ralph.errors import UntrustedSettingsError

    for source in own_sources(Path.cwd()):
        try:
            require_trust(source, trust=False)
        except UntrustedSettingsError as error:
            elsewhere = f"Run the command once at a terminal, or put them into {user_file()}."
            sys.stderr.write(f"ralph: Left out: {error.problem} {elsewhere}\n")


def command_app(name: str) -> Any:
    """The `typer.Typer` of a plug-in's command; None where there is no such command. One that cannot be loaded says so
    when it is called, and stands in the help of all nonetheless.

    Raises:
        PluginError: there is none of that name among those that plug-ins bring, as far as they could be asked: the
            settings will not do.
    """
    from importlib import import_module

    from ralph.errors import PluginError
    from ralph.plugins.plugin import failure

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
    except (Exception, SystemExit) as error:  # noqa: BLE001 - anything may come from foreign code
        problem = f"The command {name!r} cannot be loaded: {failure(error)}."
        return _raising(PluginError(problem, "Fix the plug-in."), command.about)


def command_materials() -> "CommandMaterials":
    """What the commands of plug-ins are made of."""
    from ralph.plugins import CommandMaterials

    def executor(name: str) -> "Executor":
        from ralph.cli.assemble import executor_for
        from ralph.cli.settings import read_settings

        found = read_settings(Path.cwd(), own="trusted")
        settings = found.settings.executor
        chosen = evolve(settings, name=name) if name else settings
        return executor_for(chosen, plugins=load_plugins(found, Path.cwd()))

    return CommandMaterials(executor)


def _raising(error: RalphError, about: str) -> Any:
    """A command that is nothing but an error."""
    import typer

    app = typer.Typer(add_completion=False)

    @app.command(help=about, context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
    def fail() -> None:  # pyright: ignore[reportUnusedFunction]
        raise error

    return app


def _commands() -> "dict[str, Command]":
    """Raises a `RalphError` where the settings will not do, or two commands have one name."""
    offers = plugins_of(Path.cwd()).named("ralph_commands")
    return {name: offer.thing for name, offer in offers.items()}


def plugins_of(folder: Path) -> "Plugins":
    """The plug-ins that count in a folder for what is no run; what needs consent and has none is left out."""
    from ralph.cli.settings import read_settings

    return load_plugins(read_settings(folder, own="trusted"), folder)


def _local(found: "SettingsFound", folder: Path, *, trust: bool, ask: bool) -> tuple[Path, bytes | None] | None:
    """The workspace's own file, if it is there, and what stands in it, if a person has agreed to it."""
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
