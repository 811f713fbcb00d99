"""Where plug-ins are found: entry points of the group `ralph`, a file, Ralph's own parts, objects in a program."""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

from ralph.plugins.markers import NAME
from ralph.plugins.plugin import Plugin
from ralph.plugins.tables import LOCAL

__all__ = ["built_in", "from_file", "installed", "of_object"]

_BUILT_IN = {
    "executors": "ralph.plugins.builtin.executors",
    "verifiers": "ralph.plugins.builtin.verifiers",
    "strategies": "ralph.plugins.builtin.strategies",
    "stores": "ralph.plugins.builtin.stores",
    "displays": "ralph.watch.plugin",
    "tasks": "ralph.plugins.builtin.tasks",
}
"""Ralph's own parts, one plug-in a part."""


def installed() -> Iterator[Plugin]:
    """The plug-ins that installed distributions have, in the order of their names."""
    from importlib.metadata import entry_points

    for entry in sorted(entry_points(group=NAME), key=lambda entry: (entry.name, entry.value)):
        plugin = Plugin(entry.name, entry.value)
        if entry.dist is not None:
            plugin.distribution, plugin.version = entry.dist.name, entry.dist.version
        plugin.load(entry.load)
        yield plugin


def built_in() -> Iterator[Plugin]:
    """Ralph's own."""
    from ralph import __version__

    for name, module in _BUILT_IN.items():
        yield Plugin(name, module, "ralph-runtime", __version__, built_in=True, implementation=import_module(module))


def from_file(path: Path, content: bytes | None) -> Plugin:
    """The plug-in that a file is; what was read of it is what is run, whatever stands there by now.

    Args:
        content: None where nobody has agreed to it.
    """
    plugin = Plugin(LOCAL, str(path))
    if content is None:
        plugin.problems.append("Nobody has agreed to it, so it is left out; `ralph run --trust` agrees to it.")
        return plugin

    def run() -> object:
        module = ModuleType("ralph_local_plugin")
        module.__file__ = str(path)
        exec(compile(content, str(path), "exec"), module.__dict__)  # noqa: S102 - a person has agreed to these bytes
        return module

    plugin.load(run)
    return plugin


def of_object(given: object) -> Plugin:
    """A module or an object in a program; its name is `name`, or that of its module or class."""
    module = issubclass(type(given), ModuleType)
    name = _name(given, "__name__" if module else "name") or type(given).__name__
    plugin = Plugin(name, f"module {name}" if module else f"object of {type(given).__module__}")
    plugin.load(lambda: given)
    return plugin


def _name(given: object, attribute: str) -> str:
    try:
        name: object = getattr(given, attribute, "")
    except Exception:  # noqa: BLE001 - anything may come from foreign code
        return ""
    return name if isinstance(name, str) else ""
