"""Parts by name, made of what plug-ins give. What one raises while it makes a part becomes an error that names it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ralph.errors import PluginError, RalphError, SettingError, UnknownNameError, UsageError
from ralph.hooks import Hooks
from ralph.plugins.guards import GuardedAnalyzer, GuardedStrategy
from ralph.plugins.kinds import DisplayMaterials, ExecutorMaterials, TaskSourceMaterials
from ralph.plugins.loaded import Plugins
from ralph.plugins.offers import HOOKS, Offer
from ralph.plugins.plugin import failure
from ralph.tasks.base import Task

if TYPE_CHECKING:
    from ralph.analysis.result import Analyzer
    from ralph.decision.claims import Strategy
    from ralph.executors.base import Executor
    from ralph.store.base import Store
    from ralph.verifiers.base import Verifier
    from ralph.verifiers.kinds import VerifierMaterials
    from ralph.watch.base import Display

__all__ = ["analyzer", "display", "executor", "store", "strategy", "task", "verifier"]


def executor(plugins: Plugins, name: str, materials: ExecutorMaterials) -> "Executor":
    """The executor of a name.

    Raises:
        UnknownNameError: there is none.
        PluginError: its plug-in could not make it.
        SettingError: its plug-in lacks a setting.
    """
    from ralph.executors.base import Executor as Base

    offer = _found(plugins, "ralph_executors", name)
    return _built(
        offer, lambda: offer.thing.build(replace(materials, own=_own(offer))), lambda part: isinstance(part, Base)
    )


def verifier(plugins: Plugins, text: str, materials: "VerifierMaterials") -> "Verifier":
    """The verifier of a specification, as `ralph.verifiers.registry.verifier_named`."""
    from ralph.verifiers.base import Verifier as Base
    from ralph.verifiers.registry import parse_specification, verifier_named

    offer = _found(plugins, "ralph_verifiers", parse_specification(text)[0])
    materials = materials._replace(own=_own(offer))
    kinds = {offer.thing.name: offer.thing}
    return _built(offer, lambda: verifier_named(text, materials, kinds), lambda part: isinstance(part, Base))


def strategy(plugins: Plugins, name: str) -> "Strategy":
    """The exit strategy of a name."""
    offer = _found(plugins, "ralph_strategies", name)
    return offer.thing if offer.plugin.built_in else GuardedStrategy(offer)


def analyzer(plugins: Plugins, name: str) -> "Analyzer":
    """The further analyzer of a name."""
    offer = _found(plugins, "ralph_analyzers", name)
    built = _built(offer, lambda: offer.thing.build(_own(offer)), lambda part: callable(getattr(part, "analyze", None)))
    return GuardedAnalyzer(offer, built)


def display(plugins: Plugins, name: str, materials: DisplayMaterials) -> "Display":
    """The display of a name."""
    offer = _found(plugins, "ralph_displays", name)
    return _built(offer, lambda: offer.thing.build(replace(materials, own=_own(offer))), _is_display)


def store(plugins: Plugins, url: str) -> "Store":
    """The store that a URL names by its scheme."""
    from ralph.store.base import Store as Base

    offer = _found(plugins, "ralph_stores", url.partition(":")[0])
    return _built(offer, lambda: offer.thing.build(url), lambda part: isinstance(part, Base))


def task(plugins: Plugins, text: str, workspace: Path) -> Task:
    """What a source of tasks gives: `NAME:PLACE`. A source may give the task's bare text.

    Raises:
        UsageError: the text has no name, or there is nothing to do at that place.
    """
    name, colon, place = text.partition(":")
    if not colon or not place.strip():
        raise UsageError(
            f"The task {text[:200]!r} names no place.", "Write --task NAME:PLACE, as in plan:@fix_plan.md."
        )
    offer = _found(plugins, "ralph_task_sources", name)
    materials = TaskSourceMaterials(place, workspace, _own(offer))
    found = _built(offer, lambda: offer.thing.build(materials), lambda part: isinstance(part, Task | str))
    made = Task(found) if isinstance(found, str) else found
    if not made.text.strip():
        raise UsageError(f"The task of {text[:200]!r} is empty.", "Name a place that has something to do.")
    return made


def _is_display(part: object) -> bool:
    return isinstance(part, Hooks) and hasattr(part, "__exit__")


def _found(plugins: Plugins, hook: str, name: str) -> Offer:
    known = plugins.named(hook)
    if name in known:
        return known[name]
    error = UnknownNameError(HOOKS[hook].kind, name, known)
    broken = sorted(plugin.name for plugin in plugins.all if plugin.problems)
    if broken:
        error.remedy += f" `ralph plugins` shows what is wrong with {', '.join(broken[:5])}."
    raise error


def _own(offer: Offer) -> Any:
    """The plug-in's own settings. Raises `SettingError` where it lacks some."""
    if lacks := offer.plugin.lacks:
        remedy = f"Set it in ralph.toml under [plugins.{offer.plugin.name}]."
        raise SettingError(lacks, offer.plugin.title, "it is missing.", remedy)
    return offer.plugin.own


def _built(offer: Offer, build: Callable[[], Any], fits: Callable[[Any], bool]) -> Any:
    """What a kind builds, if it is what it should be."""
    if offer.plugin.built_in:
        return build()
    named = f"The {HOOKS[offer.hook].kind} {offer.thing.name!r} of {offer.plugin.title}"
    try:
        part = build()
    except RalphError:
        raise
    except (Exception, SystemExit) as error:
        raise PluginError(f"{named} could not be created: {failure(error)}.", "Fix the plug-in.") from error
    if not fits(part):
        raise PluginError(f"{named} came out as a {type(part).__name__}, which does not fit.", "Fix the plug-in.")
    return part
