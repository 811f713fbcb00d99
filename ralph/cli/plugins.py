"""`ralph plugins`: what is loaded, where it comes from, what it adds, and what is wrong with it."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ralph.cli.options import AsJson, Folder, NoPlugins

if TYPE_CHECKING:
    from ralph.plugins import Plugins
    from ralph.plugins.plugin import Plugin

__all__ = ["app"]

app = typer.Typer(add_completion=False)


@app.command()
def plugins(*, directory: Folder = Path(), as_json: AsJson = False, no_plugins: NoPlugins = False) -> int:
    """List the plug-ins: where each comes from, what it adds, and what is wrong with it.

    Besides installed plug-ins, this includes the folder's file .ralph/plugin.py, which needs consent. Ends with 2 if
    two plug-ins conflict, since no run begins then; one that fails is only left out of a run, and the code is 0.
    """
    from ralph.cli.output import print_json
    from ralph.cli.plugin_loading import are_off, load_plugins
    from ralph.cli.settings import read_settings, workspace_folder
    from ralph.errors import PluginConflictError

    folder = workspace_folder(directory)
    off = no_plugins or are_off()
    loaded = load_plugins(read_settings(folder, own="trusted"), folder, off=off)
    conflicts = [str(conflict) for conflict in loaded.conflicts()]
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
    """The names of what it gives, by kind."""
    from ralph.plugins.offers import HOOKS, name_of

    found = {
        hook.removeprefix("ralph_"): [name_of(offer.thing) for offer in loaded.offers(hook) if offer.plugin is plugin]
        for hook in HOOKS
    }
    return {kind: names for kind, names in found.items() if names}


def _print(loaded: "Plugins", conflicts: list[str], *, off: bool) -> None:
    from ralph.cli.output import console, print_table
    from ralph.watch.terminal import one_line

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
    told = [*loaded.problems, *conflicts]
    told += [f"{plugin.title}: needs {plugin.lacks}." for plugin in loaded.all if plugin.lacks]
    if off:
        told.append("Plug-ins are turned off by --no-plugins or RALPH_PLUGINS: only Ralph's own parts are available.")
    for text in told:
        console().print(f"\n{one_line(text, 1_000)}", soft_wrap=True, markup=False, highlight=False)
