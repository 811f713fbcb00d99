"""`ralph plugins`: the loaded plug-ins with their origins, additions and problems."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ralph.cli.options import AsJson, Folder, NoPlugins
from ralph.cli.output import print_json, print_paragraph, print_table
from ralph.errors import PluginConflictError
from ralph.watch.terminal import one_line

if TYPE_CHECKING:
    from ralph.plugins import Plugins
    from ralph.plugins.discovery import Plugin

__all__ = ["plugins"]


def plugins(*, directory: Folder = Path(), as_json: AsJson = False, no_plugins: NoPlugins = False) -> int:
    """List the plug-ins: where each comes from, what it adds, and its problems.

    The list includes installed plug-ins and the folder's file .ralph/plugin.py, which needs consent. Exits with 2 if
    two plug-ins conflict, since no run can start then, and with 0 if one fails, since a run leaves it out.
    """
    from ralph.plugins.loading import are_off, load_plugins
    from ralph.settings import read_settings, workspace_folder

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
    """Return the names of the parts that a plug-in adds, by kind."""
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
