"""`ralph plugins` lists the plug-ins or adds one; this module also loads them, with their commands, for others."""

import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ralph.cli.options import AsJson, Folder, NoPlugins, completing
from ralph.cli.output import print_json, print_paragraph, print_table
from ralph.errors import PluginConflictError, PluginError, RalphError, SettingError, UntrustedSettingsError
from ralph.system.text import one_line

if TYPE_CHECKING:
    from ralph.executors import Executor
    from ralph.plugins import Command, CommandContext, Plugins
    from ralph.plugins.discovery import Plugin

Names = Annotated[
    list[str],
    typer.Argument(
        metavar="NAME...",
        help="Plug-ins of Ralph, such as claude or notify.",
        autocompletion=completing("known_plugins"),
    ),
]
Run = Annotated[bool, typer.Option("--run", help="Run the command, rather than print it.")]


app = typer.Typer(add_completion=False, help="List the plug-ins, or add one.")


@app.command()
def add(*, names: Names, run: Run = False, as_json: AsJson = False) -> None:
    """Print the command that installs a plug-in beside this Ralph, however that was installed; with --run, run it.

    It fits `uv tool`, `uvx`, pipx, pip and a clone. With --run, the exit code is the installer's.
    """
    from ralph.cli.install import add_plugins

    add_plugins(names, run=run, as_json=as_json)


@app.callback(invoke_without_command=True)
def plugins(
    context: typer.Context, *, directory: Folder = Path(), as_json: AsJson = False, no_plugins: NoPlugins = False
) -> int:
    """List the plug-ins: where each comes from, what it adds, and its problems.

    The list includes installed plug-ins and the folder's file .ralph/plugin.py, which needs consent. Exits with 2 if
    two plug-ins conflict or a setting of one is not valid, since no run can start then, and with 0 if one fails, since
    a run leaves it out.
    """
    if context.invoked_subcommand is not None:
        return 0
    from ralph.plugins.loading import are_off, load_plugins
    from ralph.settings import read_settings, workspace_folder

    folder = workspace_folder(directory)
    off = no_plugins or are_off()
    found, refused = read_settings(folder, own="trusted"), list[str]()
    try:
        loaded = load_plugins(found, folder, off=off)
    except SettingError as error:
        loaded = load_plugins(
            replace(found, settings=found.settings.model_copy(update={"plugins": {}})), folder, off=off
        )
        refused = [f"The plug-ins' own settings are left out: {error}"]
    conflicts = [*refused, *map(str, loaded.conflicts())]
    if as_json:
        listed = [_as_json(loaded, plugin) for plugin in loaded.all]
        print_json({"plugins": listed, "conflicts": conflicts, "off": off})
    else:
        _print(loaded, conflicts, off=off)
    return PluginConflictError.exit_code if conflicts else 0


def _as_json(loaded: "Plugins", plugin: "Plugin") -> dict[str, Any]:
    return {
        "name": plugin.name,
        "version": plugin.version,
        "distribution": plugin.distribution,
        "from": plugin.source,
        "built_in": plugin.built_in,
        "loaded": plugin.implementation is not None,
        "adds": _adds(loaded, plugin),
        "settings": sorted(type(plugin.own).model_fields) if plugin.own is not None else [],
        "lacks": plugin.lacks,
        "problems": plugin.problems,
    }


def _adds(loaded: "Plugins", plugin: "Plugin") -> dict[str, list[str]]:
    from ralph.plugins.discovery import PARTS, name_of

    found = {
        hook.removeprefix("ralph_"): [name_of(offer.thing) for offer in loaded.offers(hook) if offer.plugin is plugin]
        for hook in PARTS
    }
    return {kind: names for kind, names in found.items() if names}


def _print(loaded: "Plugins", conflicts: list[str], *, off: bool) -> None:
    rows = [
        (
            plugin.name,
            plugin.version or "-",
            plugin.distribution or "-",
            one_line(plugin.source, 80),
            one_line("; ".join(f"{kind}: {', '.join(names)}" for kind, names in _adds(loaded, plugin).items()), 400),
        )
        for plugin in loaded.all
    ]
    print_table(("plug-in", "version", "distribution", "from", "adds"), rows)
    problems = [*loaded.problems, *conflicts]
    problems += [f"{plugin.title}: needs {plugin.lacks}." for plugin in loaded.all if plugin.lacks]
    if off:
        problems.append("Plug-ins are turned off by --no-plugins or RALPH_PLUGINS: only Ralph's own parts count.")
    for text in problems:
        print_paragraph(f"\n{one_line(text, 1_000)}")


def plugins_of(folder: Path, *, usable: bool = False) -> "Plugins":
    """Load the plug-ins of a folder for a command other than run; anything without the needed consent is left out.

    With `usable`, settings that are not valid are left out, too.
    """
    from ralph.cli.settings import usable_settings
    from ralph.plugins.loading import load_plugins
    from ralph.settings import read_settings

    found = usable_settings(folder) if usable else read_settings(folder, own="trusted")
    return load_plugins(found, folder)


def described_commands() -> dict[str, str]:
    """Return the descriptions of the plug-ins' commands by name; `ralph plugins` reports problems with them."""
    try:
        return {name: offer.thing.about for name, offer in plugins_of(Path.cwd()).named("ralph_commands").items()}
    except RalphError:
        return {}


def settle_settings() -> None:
    """Ask at a terminal for consent to the folder's own settings, which a command of a plug-in uses.

    Without consent they are left out, with a message on standard error.

    Raises:
        SettingError: they cannot be read.
    """
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

    Raises:
        PluginError: it cannot be loaded, or the plug-ins cannot be searched since the settings are not valid.
    """
    from ralph.plugins.discovery import failure

    try:
        offer = plugins_of(Path.cwd()).named("ralph_commands").get(name)
    except RalphError as error:
        problem = f"Ralph has no command {name!r} of its own, and plug-ins cannot be searched for it: {error.problem}"
        raise PluginError(problem, error.remedy) from error
    if offer is None:
        return None
    command: Command = offer.thing
    try:
        if not isinstance(command.app, str):
            return command.app()
        module, _, attribute = command.app.partition(":")
        return getattr(import_module(module), attribute or "app")
    except BaseException as error:
        problem = f"The command {name!r} of {offer.plugin.title} cannot be loaded: {failure(error)}."
        raise PluginError(problem, "Fix the plug-in.") from error


def command_context() -> "CommandContext":
    """Return the context object of the commands of plug-ins."""
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
