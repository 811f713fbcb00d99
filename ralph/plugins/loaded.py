"""The plug-ins that are loaded, and what they give; one that fails is left out, and that is written down."""

import difflib
import inspect
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

import pluggy

from ralph.errors import PluginConflictError
from ralph.plugins import hooks as specifications
from ralph.plugins.discovery import built_in, from_file, installed, of_object
from ralph.plugins.markers import NAME
from ralph.plugins.offers import HOOKS, Offer, name_of, oddity
from ralph.plugins.plugin import Plugin, failure
from ralph.plugins.tables import Tables, secrets_in, shown_table

if TYPE_CHECKING:
    from ralph.analysis import Detector, Keyword
    from ralph.hooks import Hooks
    from ralph.status import StatusField

__all__ = ["Plugins"]

_MOST = 1_000
"""Things that a hook may give."""


class Plugins:
    """Plug-ins, and what they give.

    Args:
        plugins: in the order in which they are asked; Ralph's own come first by themselves.
        tables: the settings of the plug-ins, by their names.

    Raises:
        SettingError: what is set for one of them will not do.
    """

    def __init__(self, plugins: Iterable[Plugin] = (), tables: Tables | None = None) -> None:
        self._manager = pluggy.PluginManager(NAME)
        self._manager.add_hookspecs(specifications)
        self._functions: dict[int, dict[str, pluggy.HookImpl]] = {}
        self._offers: dict[str, tuple[Offer, ...]] = {}
        self._known: list[Plugin] = []
        self.tables = tables or Tables()
        for plugin in (*built_in(), *plugins):
            self._register(plugin)
        self.tables.require_known(plugin.name for plugin in self._known if not plugin.built_in)

    @classmethod
    def of(cls, objects: Sequence[object]) -> Self:
        """The plug-ins that some modules and objects of a program are; those of one name are numbered."""
        plugins = [of_object(each) for each in objects]
        seen: Counter[str] = Counter()
        for plugin in plugins:
            seen[plugin.name] += 1
            if seen[plugin.name] > 1:
                plugin.name += f" {seen[plugin.name]}"
        return cls(plugins)

    @classmethod
    def found(cls, tables: Tables | None = None, *, local: tuple[Path, bytes | None] | None = None) -> Self:
        """Those that are installed and, where a file is given by its path and its agreed content, that one.

        Raises:
            SettingError: what is set for one of them will not do.
        """
        return cls((*installed(), *([from_file(*local)] if local else [])), tables)

    @property
    def all(self) -> tuple[Plugin, ...]:
        """Every plug-in, also those that could not be loaded."""
        return tuple(self._known)

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong with plug-ins, each in a sentence that names it."""
        return tuple(
            f"{plugin.title[0].upper()}{plugin.title[1:]}: {problem}"
            for plugin in self._known
            for problem in plugin.problems
        )

    def require_sound(self) -> None:
        """Asks every hook, so that what is wrong is known before anything is started.

        Raises:
            PluginConflictError: two things have one name.
        """
        if conflicts := self.conflicts():
            raise conflicts[0]

    def conflicts(self) -> list[PluginConflictError]:
        """Where two plug-ins, or two of their things, have one name."""
        found = _conflicts("plug-in", (Offer(plugin, plugin) for plugin in self._known if not plugin.built_in))
        for hook, form in HOOKS.items():
            offers = self.offers(hook)
            found += _conflicts(form.kind, offers) if form.unique else []
        return found

    def offers(self, hook: str) -> tuple[Offer, ...]:
        """What the plug-ins give to a hook, in order; it is asked once."""
        if hook not in self._offers:
            found = (Offer(plugin, thing, hook) for plugin in self._known for thing in self._asked(plugin, hook))
            self._offers[hook] = tuple(found)
        return self._offers[hook]

    def named(self, hook: str) -> Mapping[str, Offer]:
        """The same by name.

        Raises:
            PluginConflictError: two things have one name.
        """
        offers = self.offers(hook)
        for conflict in _conflicts(HOOKS[hook].kind, offers):
            raise conflict
        return {name_of(offer.thing): offer for offer in offers}

    def things(self, hook: str) -> list[Any]:
        """The things without whose they are."""
        return [offer.thing for offer in self.offers(hook)]

    @property
    def keywords(self) -> "list[Keyword]":
        return self.things("ralph_keywords")

    @property
    def status_fields(self) -> "list[StatusField]":
        return [offer.thing for offer in self.named("ralph_status_fields").values()]

    def fields_with(self, own: "Sequence[StatusField]") -> "tuple[StatusField, ...]":
        """A person's own status fields and those of plug-ins.

        Raises:
            PluginConflictError: two of them have one name.
        """
        theirs = self.named("ralph_status_fields")
        for field in own:
            if field.name in theirs:
                title = theirs[field.name].plugin.title
                raise PluginConflictError("status field", field.name, "your own settings", title)
        return (*own, *(offer.thing for offer in theirs.values()))

    @property
    def detectors(self) -> "list[Detector]":
        return self.things("ralph_detectors")

    @property
    def observers(self) -> "list[Hooks]":
        return self.things("ralph_observers")

    @property
    def secrets(self) -> tuple[str, ...]:
        """The secrets in the plug-ins' own settings."""
        return tuple(secret for plugin in self._known for secret in secrets_in(plugin.own))

    def shown(self, tables: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        """Plug-ins' settings as they are kept and shown: JSON values, those that are secrets masked."""
        own = {plugin.name: plugin.own for plugin in self._known if plugin.own is not None}
        return {name: shown_table(table, own.get(name)) for name, table in tables.items()}

    def _register(self, plugin: Plugin) -> None:
        before = [each.implementation for each in self._known]
        self._known.append(plugin)
        if plugin.implementation is None:
            return
        if any(plugin.implementation is each for each in before):
            plugin.implementation = None
            plugin.problems.append("It is there twice; the first one counts.")
            return
        key = f"{len(self._known)} {plugin.name}"
        try:
            self._manager.register(plugin.implementation, name=key)
            self._functions[id(plugin)] = self._functions_of(plugin.implementation)
        except Exception as error:  # noqa: BLE001 - a hook that takes other arguments, or an object that fails to be read
            plugin.problems.append(f"It cannot be registered: {failure(error)}.")
            if self._manager.has_plugin(key):
                self._manager.unregister(name=key)
            plugin.implementation = None
            return
        if not plugin.built_in:
            for stranger in _strangers(plugin.implementation, self._hooks_of(plugin)):
                plugin.complain(stranger)
            self._configure(plugin)

    def _configure(self, plugin: Plugin) -> None:
        """Reads the plug-in's own settings."""
        if "ralph_settings" not in self._hooks_of(plugin):
            self.tables.refuse(plugin)
            return
        sound = len(plugin.problems)
        model = self._call(plugin, "ralph_settings")
        if model is not None:
            self.tables.apply(plugin, model)
        elif len(plugin.problems) == sound:
            self.tables.refuse(plugin)

    def _functions_of(self, implementation: object) -> dict[str, pluggy.HookImpl]:
        """What implements each hook; by identity, for what is equal to what is in the hands of plug-ins."""
        return {
            name: found
            for name in specifications.__all__
            for found in getattr(self._manager.hook, name).get_hookimpls()
            if found.plugin is implementation
        }

    def _hooks_of(self, plugin: Plugin) -> Collection[str]:
        return self._functions.get(id(plugin), {})

    def _asked(self, plugin: Plugin, hook: str) -> list[object]:
        """The sound things that one plug-in gives to a hook."""
        if plugin.implementation is None or hook not in self._hooks_of(plugin):
            return []
        if plugin.lacks and "settings" in self._functions[id(plugin)][hook].argnames:
            return []
        given = self._call(plugin, hook, settings=plugin.own)
        try:
            things = list(islice(cast("Iterable[object]", given), _MOST + 1)) if given is not None else []
            looked_at = [(thing, oddity(hook, thing)) for thing in things]
        except (Exception, SystemExit) as error:  # noqa: BLE001 - anything may come from foreign code
            plugin.complain(f"{hook} failed: {failure(error)}.")
            return []
        for odd in filter(None, (odd for _, odd in looked_at)):
            plugin.complain(f"{hook} {odd}.")
        if len(things) > _MOST:
            plugin.complain(f"{hook} gave more than {_MOST:,} things.")
        return [thing for thing, odd in looked_at[:_MOST] if not odd]

    def _call(self, plugin: Plugin, hook: str, **arguments: object) -> object:
        """What one plug-in's hook gives; None where it fails."""
        implementation = self._functions[id(plugin)][hook]
        try:
            return implementation.function(*(arguments[name] for name in implementation.argnames))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - anything may come from foreign code
            plugin.complain(f"{hook} failed: {failure(error)}.")
            return None


def _conflicts(kind: str, offers: Iterable[Offer]) -> list[PluginConflictError]:
    seen: dict[str, Plugin] = {}
    found: list[PluginConflictError] = []
    for plugin, thing, _ in offers:
        name = name_of(thing)
        if name in seen:
            found.append(PluginConflictError(kind, name, seen[name].title, plugin.title))
        seen.setdefault(name, plugin)
    return found


def _strangers(implementation: object, hooks: Collection[str]) -> list[str]:
    """What looks like a hook and is none: a name that is not known, or a mark that was forgotten."""
    problems: list[str] = []
    for name in dir(implementation):
        if not name.startswith(f"{NAME}_"):
            continue
        if name not in specifications.__all__:
            found = inspect.getattr_static(implementation, name, None)
            close = difflib.get_close_matches(name, specifications.__all__, n=1, cutoff=0.85)
            if hasattr(found, f"{NAME}_impl") or (close and inspect.isroutine(found)):
                problems.append(f"{name} is not a hook{f': is {close[0]} meant?' if close else '.'}")
        elif name not in hooks:
            problems.append(f"{name} is not marked with @hookimpl, so it is not asked.")
    return problems
