"""The loaded plug-ins and what they return; one that fails is left out, and its problem is recorded."""

import difflib
import inspect
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

import pluggy

from ralph.errors import PluginConflictError, PluginError, RalphError, SettingError, UnknownNameError, UsageError
from ralph.plugins import spec
from ralph.plugins.discovery import (
    PARTS,
    Offer,
    Plugin,
    built_in,
    failure,
    from_file,
    installed,
    name_of,
    objection,
    of_object,
)
from ralph.plugins.own_settings import Tables, secrets_in, shown_table
from ralph.plugins.providers import BuildContext
from ralph.system.foreign import register
from ralph.system.install import missing_plugin

if TYPE_CHECKING:
    from ralph.analysis import Analyzer, Keyword
    from ralph.decision.claims import Strategy
    from ralph.executors import Executor
    from ralph.status import StatusField
    from ralph.store import Store
    from ralph.tasks import Task
    from ralph.verifiers import Verifier, VerifierContext
    from ralph.watch import Display

_MOST_THINGS = 1_000
"""Things that a hook may return."""

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_OWN_SCHEMES = {"memory", "postgres", "postgresql", "sqlite"}


class Plugins:
    """The loaded plug-ins, and what their hooks return.

    Args:
        plugins: in the order in which they are called; Ralph's own come first.
        tables: the settings of the plug-ins, by their names.

    Raises:
        SettingError: a setting of a plug-in is not valid.
    """

    def __init__(self, plugins: Iterable[Plugin] = (), tables: Tables | None = None) -> None:
        self._manager = pluggy.PluginManager(spec.NAME)
        self._manager.add_hookspecs(spec)
        self._offers: dict[str, tuple[Offer, ...]] = {}
        self._known: list[Plugin] = []
        self.tables = tables or Tables()
        for plugin in (*built_in(), *plugins):
            self._register(plugin)
        self.tables.require_known(plugin.name for plugin in self._known if not plugin.built_in)

    @classmethod
    def of(cls, objects: Sequence[object]) -> Self:
        """Return the plug-ins that modules and objects of a program are; equal names are numbered."""
        plugins = [of_object(each) for each in objects]
        seen: Counter[str] = Counter()
        for plugin in plugins:
            seen[plugin.name] += 1
            if seen[plugin.name] > 1:
                plugin.name += f" {seen[plugin.name]}"
        return cls(plugins)

    @classmethod
    def found(cls, tables: Tables | None = None, *, local: tuple[Path, bytes | None] | None = None) -> Self:
        """Return the installed plug-ins and, if its path and approved content are given, the one in a file.

        Raises:
            SettingError: a setting of a plug-in is not valid.
        """
        return cls((*installed(), *([from_file(*local)] if local else [])), tables)

    @property
    def all(self) -> tuple[Plugin, ...]:
        """Every plug-in, including those that could not be loaded."""
        return tuple(self._known)

    @property
    def problems(self) -> tuple[str, ...]:
        """The problems of plug-ins, each in a sentence that names the plug-in."""
        return tuple(
            f"{plugin.title[0].upper()}{plugin.title[1:]}: {problem}"
            for plugin in self._known
            for problem in plugin.problems
        )

    def require_sound(self) -> None:
        """Call every hook, so that problems are known before anything starts.

        Raises:
            PluginConflictError: two things have one name.
        """
        if conflicts := self.conflicts():
            raise conflicts[0]

    def conflicts(self) -> list[PluginConflictError]:
        """Return the conflicts of two plug-ins, or of two of their things, with one name."""
        found = _conflicts("plug-in", (Offer(plugin, plugin) for plugin in self._known if not plugin.built_in))
        for hook, form in PARTS.items():
            offers = self.offers(hook)
            found += _conflicts(form.kind, offers) if form.unique else []
        return found

    def offers(self, hook: str) -> tuple[Offer, ...]:
        """Return what the plug-ins return from a hook, in order; it is called once."""
        if hook not in self._offers:
            found = (Offer(plugin, thing, hook) for plugin in self._known for thing in self._asked(plugin, hook))
            self._offers[hook] = tuple(found)
        return self._offers[hook]

    def named(self, hook: str) -> Mapping[str, Offer]:
        """Return the offers to a hook by name.

        Raises:
            PluginConflictError: two things have one name.
        """
        offers = self.offers(hook)
        for conflict in _conflicts(PARTS[hook].kind, offers):
            raise conflict
        return {name_of(offer.thing): offer for offer in offers}

    def things(self, hook: str) -> list[Any]:
        """Return what the plug-ins return from a hook, without the plug-ins."""
        return [offer.thing for offer in self.offers(hook)]

    def fields_with(self, own: "Sequence[StatusField]") -> "tuple[StatusField, ...]":
        """Return your own status fields, followed by those of plug-ins.

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
    def secrets(self) -> tuple[str, ...]:
        """The secrets in the plug-ins' own settings."""
        return tuple(secret for plugin in self._known for secret in secrets_in(plugin.own))

    def shown(self, tables: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        """Return plug-ins' settings as they are stored and shown: JSON values, with secrets masked."""
        own = {plugin.name: plugin.own for plugin in self._known if plugin.own is not None}
        return {name: shown_table(table, own.get(name)) for name, table in tables.items()}

    def analyzer_with(
        self,
        keywords: "Sequence[Keyword]" = (),
        *,
        further: "Iterable[Analyzer | str]" = (),
        first: "Analyzer | None" = None,
        **reading: Any,
    ) -> "Analyzer":
        """Return the built-in analyzer, extended by the plug-ins' keywords and detectors.

        Args:
            keywords: added to those of plug-ins.
            further: analyzers that run in addition to it, by name or as instances; an instance goes by its `name`, or
                by that of its class.
            first: an analyzer in place of the built-in one.
            reading: further arguments of `ResponseAnalyzer`.

        Raises:
            UnknownNameError: an analyzer does not exist.
            UsageError: two analyzers have one name.
        """
        from ralph.analysis import ResponseAnalyzer, SeveralAnalyzers
        from ralph.plugins.isolation import guarded_detector

        detectors = [guarded_detector(offer) for offer in self.offers("ralph_detectors")]
        words = (*keywords, *self.things("ralph_keywords"))
        own = first or ResponseAnalyzer(words, detectors=detectors, **reading)
        others = self._further(further)
        return SeveralAnalyzers(own, others) if others else own

    def _further(self, given: "Iterable[Analyzer | str]") -> "dict[str, Analyzer]":
        found: dict[str, Analyzer] = {}
        for each in given:
            name = each if isinstance(each, str) else str(getattr(each, "name", type(each).__name__))
            if name in found:
                raise UsageError(f"Two analyzers have the name {name!r}.", "Give one of them another name.")
            found[name] = self.analyzer(each) if isinstance(each, str) else each
        return found

    def analyzer(self, name: str) -> "Analyzer":
        """Return the further analyzer with a name; see `executor` for the errors."""
        from ralph.plugins.isolation import GuardedAnalyzer

        offer = self._found("ralph_analyzers", name)
        return GuardedAnalyzer(
            offer, _built(offer, BuildContext(), lambda part: callable(getattr(part, "analyze", None)))
        )

    def executor(self, name: str, context: BuildContext) -> "Executor":
        """Return the executor with a name.

        Raises:
            UnknownNameError: there is no such executor.
            PluginError: its plug-in could not build it.
            SettingError: its plug-in lacks a setting.
        """
        from ralph.executors.base import Executor

        offer = self._found("ralph_executors", name)
        return _built(offer, context, lambda part: isinstance(part, Executor) and part.name == str(part.name))

    def verifier(self, text: str, context: "VerifierContext") -> "Verifier":
        """Return the verifier of a specification, as `ralph.verifiers.registry.verifier_named`."""
        from ralph.verifiers.base import Verifier
        from ralph.verifiers.registry import parse_specification, verifier_named

        offer = self._found("ralph_verifiers", parse_specification(text)[0])
        context = replace(context, own=_own(offer))
        return _made(
            offer,
            lambda: verifier_named(text, context, {offer.thing.name: offer.thing}),
            lambda part: isinstance(part, Verifier),
        )

    def strategy(self, name: str) -> "Strategy":
        """Return the exit strategy with a name."""
        from ralph.plugins.isolation import GuardedStrategy

        offer = self._found("ralph_strategies", name)
        return offer.thing if offer.plugin.built_in else GuardedStrategy(offer)

    def display(self, name: str, context: BuildContext) -> "Display":
        """Return the display with a name."""
        from ralph.hooks import Hooks

        offer = self._found("ralph_displays", name)
        return _built(offer, context, lambda part: isinstance(part, Hooks) and hasattr(part, "__exit__"))

    def store(self, url: str) -> "Store":
        """Return the store that a URL names by its scheme."""
        from ralph.store.base import Store

        offer = self._found("ralph_stores", url.partition(":")[0])
        return _built(offer, BuildContext(argument=url), lambda part: isinstance(part, Store))

    def task(self, text: str, workspace: Path) -> "Task":
        """Return the task that `NAME:PLACE` names.

        Raises:
            UsageError: the text has no name, or there is nothing to do at that place.
        """
        from ralph.tasks import Task

        name, colon, place = text.partition(":")
        if not colon or not place.strip():
            raise UsageError(
                f"The task {text[:200]!r} names no place.", "Write --task NAME:PLACE, as in plan:@fix_plan.md."
            )
        offer = self._found("ralph_task_sources", name)
        context = BuildContext(argument=place, workspace=workspace)
        found = _built(offer, context, lambda part: isinstance(part.text if isinstance(part, Task) else part, str))
        made = Task(found) if isinstance(found, str) else found
        if not made.text.strip():
            raise UsageError(f"The task of {text[:200]!r} is empty.", "Name a place that has something to do.")
        return made

    def _found(self, hook: str, name: str) -> Offer:
        known = self.named(hook)
        if name in known:
            return known[name]
        error = UnknownNameError(PARTS[hook].kind, name, known)
        if missing := missing_plugin(hook, name):
            error.remedy = missing
        broken = sorted(plugin.name for plugin in self.all if plugin.problems)
        if broken:
            error.remedy += f" `ralph plugins` shows what is wrong with {', '.join(broken[:5])}."
        raise error

    def _register(self, plugin: Plugin) -> None:
        before = [each.implementation for each in self._known]
        self._known.append(plugin)
        register(plugin.module, plugin.title)
        if plugin.implementation is None:
            return
        if any(plugin.implementation is each for each in before):
            plugin.implementation = None
            plugin.problems.append("It is there twice; the first one counts.")
            return
        key = f"{len(self._known)} {plugin.name}"
        try:
            self._manager.register(plugin.implementation, name=key)
            plugin.hooks = self._hooks_of(plugin.implementation)
        except Exception as error:  # noqa: BLE001 - a hook that takes other arguments, or an object that fails to be read
            plugin.problems.append(f"It cannot be registered: {failure(error)}.")
            if self._manager.has_plugin(key):
                self._manager.unregister(name=key)
            plugin.implementation = None
            return
        if not plugin.built_in:
            for stranger in _strangers(plugin.implementation, plugin.hooks):
                plugin.complain(stranger)
            self._configure(plugin)

    def _configure(self, plugin: Plugin) -> None:
        if "ralph_settings" not in plugin.hooks:
            self.tables.refuse(plugin)
            return
        sound = len(plugin.problems)
        model = self._call(plugin, "ralph_settings")
        if model is not None:
            self.tables.apply(plugin, model)
        elif len(plugin.problems) == sound:
            self.tables.refuse(plugin)

    def _hooks_of(self, implementation: object) -> dict[str, pluggy.HookImpl]:
        """Return a plug-in's function for each hook, by identity, as plug-ins may define equality as they like."""
        return {
            name: found
            for name in spec.HOOK_NAMES
            for found in getattr(self._manager.hook, name).get_hookimpls()
            if found.plugin is implementation
        }

    def _asked(self, plugin: Plugin, hook: str) -> list[object]:
        if hook not in plugin.hooks:
            return []
        if plugin.lacks and "settings" in plugin.hooks[hook].argnames:
            return []
        given = self._call(plugin, hook, settings=plugin.own)
        try:
            things = list(islice(cast("Iterable[object]", given), _MOST_THINGS + 1)) if given is not None else []
            looked_at = [(thing, objection(hook, thing)) for thing in things]
        except BaseException as error:  # noqa: BLE001 - anything may come from foreign code
            plugin.complain(f"{hook} failed: {failure(error)}.")
            return []
        for odd in filter(None, (odd for _, odd in looked_at)):
            plugin.complain(f"{hook} {odd}.")
        if len(things) > _MOST_THINGS:
            plugin.complain(f"{hook} returned more than {_MOST_THINGS:,} things.")
        return [thing for thing, odd in looked_at[:_MOST_THINGS] if not odd]

    def _call(self, plugin: Plugin, hook: str, **arguments: object) -> object:
        """Return the result of one plug-in's hook; None if it fails."""
        implementation = plugin.hooks[hook]
        try:
            return implementation.function(*(arguments[name] for name in implementation.argnames))
        except BaseException as error:  # noqa: BLE001 - anything may come from foreign code
            plugin.complain(f"{hook} failed: {failure(error)}.")
            return None


def is_foreign(url: str | None) -> bool:
    """Return True for a URL that only a plug-in's store can serve."""
    scheme = _SCHEME.match(url or "")
    return scheme is not None and scheme[1] not in _OWN_SCHEMES


def open_store(url: str | None, plugins: Plugins | Callable[[], Plugins]) -> "Store":
    """Return the store that a name means: one of Ralph's, or that of a plug-in with the scheme.

    Args:
        plugins: the loaded plug-ins, or a function that loads them when they are needed.

    Raises:
        UsageError: the name does not mean a store.
    """
    from ralph.store import open_store as open_own

    if url is None or not is_foreign(url):
        return open_own(url)
    loaded = plugins if isinstance(plugins, Plugins) else plugins()
    if url.partition(":")[0] not in loaded.named("ralph_stores"):
        return open_own(url)  # it raises, and lists the stores there are
    return loaded.store(url)


def _own(offer: Offer) -> Any:
    """Return the plug-in's own settings.

    Raises:
        SettingError: it lacks some.
    """
    if lacks := offer.plugin.lacks:
        remedy = f"Set it in ralph.toml under [plugins.{offer.plugin.name}]."
        raise SettingError(lacks, offer.plugin.title, "it is missing.", remedy)
    return offer.plugin.own


def _built(offer: Offer, context: BuildContext, fits: Callable[[Any], bool]) -> Any:
    """Return the part that a provider builds from the context and the plug-in's own settings."""
    context = replace(context, own=_own(offer))
    return _made(offer, lambda: offer.thing.build(context), fits)


def _made(offer: Offer, make: Callable[[], Any], fits: Callable[[Any], bool]) -> Any:
    """Return what a plug-in makes, if it is a part of the right kind."""
    if offer.plugin.built_in:
        return make()
    named = f"The {PARTS[offer.hook].kind} {offer.thing.name!r} of {offer.plugin.title}"
    try:
        part = make()
    except RalphError:
        raise
    except BaseException as error:
        raise PluginError(f"{named} could not be created: {failure(error)}.", "Fix the plug-in.") from error
    if not fits(part):
        raise PluginError(f"{named} came out as a {type(part).__name__}, which does not fit.", "Fix the plug-in.")
    return part


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
    """Return problems with functions that look like hooks: unknown names, and missing marks."""
    problems: list[str] = []
    for name in dir(implementation):
        if not name.startswith(f"{spec.NAME}_"):
            continue
        if name not in spec.HOOK_NAMES:
            found = inspect.getattr_static(implementation, name, None)
            close = difflib.get_close_matches(name, spec.HOOK_NAMES, n=1, cutoff=0.85)
            if hasattr(found, f"{spec.NAME}_impl") or (close and inspect.isroutine(found)):
                problems.append(f"{name} is not a hook{f': is {close[0]} meant?' if close else '.'}")
        elif name not in hooks:
            problems.append(f"{name} is not marked with @hookimpl, so it is not asked.")
    return problems
