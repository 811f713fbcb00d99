"""Plug-ins one by one: where they are found, how each is loaded, and whether what its hooks return can be used."""

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from importlib import import_module
from inspect import signature
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from pluggy import HookImpl

from ralph.errors import in_words
from ralph.plugins.spec import API_VERSION, NAME
from ralph.system.foreign import pass_on, show_traceback
from ralph.system.secrets import Redactor
from ralph.system.text import printable

if TYPE_CHECKING:
    from pydantic import BaseModel

_logger = logging.getLogger("ralph.plugins")

LOCAL = "local"
"""The name of the plug-in that is a file of the workspace; settings for it may exist where the file does not count."""

_BUILT_IN = {"ralph": "ralph.plugins.builtin", "displays": "ralph.watch.plugin"}
"""Ralph's own parts; displays lie in a layer above the others."""

_LOCAL_MODULE = "ralph_local_plugin"
_SHOWN = 500
_MOST_PROBLEMS = 50
"""Problems of one plug-in that are recorded."""


@dataclass(slots=True, eq=False)
class Plugin:
    """A plug-in, loaded or not.

    Attributes:
        name: the name of its entry point, and of its table in the settings.
        source: the object that the entry point names, or the file.
        module: the module of its code, or the package of it.
        implementation: the module or object that defines its hooks; None if it could not be loaded.
        hooks: its functions by the names of the hooks, once it is registered.
        own: its own settings; None if it has none, or lacks some that it needs.
        lacks: the settings that are missing; empty if none is.
        problems: its problems, in sentences for the user.
    """

    name: str
    source: str
    module: str = ""
    distribution: str = ""
    version: str = ""
    built_in: bool = False
    implementation: object = None
    hooks: dict[str, HookImpl] = field(default_factory=dict[str, HookImpl])
    own: "BaseModel | None" = None
    lacks: str = ""
    problems: list[str] = field(default_factory=list[str])

    @property
    def title(self) -> str:
        """Its name and origin, as messages show them."""
        if self.built_in:
            return "Ralph itself"
        where = f"{self.distribution} {self.version}".strip() or self.source
        return f"the plug-in {self.name!r} ({where})"

    def load(self, implementation: Callable[[], object]) -> None:
        """Import it; keep what it prints out of the output, and record what it raises as its problem."""
        try:
            with redirect_stdout(sys.stderr):
                loaded = implementation()
        except BaseException as error:
            _logger.debug("the plug-in %s cannot be loaded", self.name, exc_info=True)
            self.problems.append(f"It cannot be loaded: {failure(error)}.")
            return
        try:
            version: object = getattr(loaded, "RALPH_API", API_VERSION)
        except Exception as error:  # noqa: BLE001 - anything may come from foreign code
            self.problems.append(f"It cannot be read: {failure(error)}.")
            return
        if version != API_VERSION:
            self.problems.append(
                f"It is made for version {printable(str(version), 40)} of the hooks, and these are version "
                f"{API_VERSION}: another release of it, or of Ralph, may fit."
            )
        elif issubclass(type(loaded), type):
            self.problems.append("It is a class: name an instance of it, or a module.")
        else:
            self.implementation = loaded

    def complain(self, problem: str) -> None:
        """Record a problem, once."""
        if problem not in self.problems and len(self.problems) < _MOST_PROBLEMS:
            self.problems.append(problem)


def failure(error: BaseException) -> str:
    """Return an error of foreign code in one line, without secrets and without a full stop; see `pass_on`."""
    pass_on(error)
    show_traceback(error)
    return printable(" ".join(Redactor()(in_words(error)[: 4 * _SHOWN]).split()), _SHOWN)


def installed() -> Iterator[Plugin]:
    """Yield the plug-ins of installed distributions, in the order of their names."""
    from importlib.metadata import entry_points

    for entry in sorted(entry_points(group=NAME), key=lambda entry: (entry.name, entry.value)):
        plugin = Plugin(entry.name, entry.value, entry.module.partition(".")[0])
        if entry.dist is not None:
            plugin.distribution, plugin.version = entry.dist.name, entry.dist.version
        plugin.load(entry.load)
        yield plugin


def built_in() -> Iterator[Plugin]:
    """Yield Ralph's own plug-ins."""
    from ralph import __version__

    for name, module in _BUILT_IN.items():
        plugin = Plugin(name, module, distribution="ralph-runtime", version=__version__, built_in=True)
        plugin.implementation = import_module(module)
        yield plugin


def from_file(path: Path, content: bytes | None) -> Plugin:
    """Return the plug-in in a file; only the content that was read is run, whatever the file holds by now.

    Args:
        content: None without the user's consent.
    """
    plugin = Plugin(LOCAL, str(path), _LOCAL_MODULE)
    if content is None:
        plugin.problems.append("It needs your consent, so it is left out; `ralph run --trust` gives it.")
        return plugin

    def run() -> object:
        module = ModuleType(_LOCAL_MODULE)
        module.__file__ = str(path)
        exec(compile(content, str(path), "exec"), module.__dict__)  # noqa: S102 - a person has agreed to these bytes
        return module

    plugin.load(run)
    return plugin


def of_object(given: object) -> Plugin:
    """Return the plug-in that a module or an object is; its name is `name`, or that of its module or class."""
    module = issubclass(type(given), ModuleType)
    name = _name(given, "__name__" if module else "name") or type(given).__name__
    home = name if module else type(given).__module__
    plugin = Plugin(name, f"{'module' if module else 'object of'} {home}", home)
    plugin.load(lambda: given)
    return plugin


def _name(given: object, attribute: str) -> str:
    try:
        name: object = getattr(given, attribute, "")
    except Exception:  # noqa: BLE001 - anything may come from foreign code
        return ""
    return name if isinstance(name, str) else ""


class Offer(NamedTuple):
    """A thing that a hook returned, with its plug-in and the name of the hook."""

    plugin: Plugin
    thing: Any
    hook: str = ""


class PartKind(NamedTuple):
    """The kind of things that a hook returns.

    Attributes:
        kind: its name in messages.
        home: the place of its class; empty for things that are known by their shape.
        unique: True if no two may have one name.
    """

    kind: str
    home: str
    unique: bool = True


PARTS = {
    "ralph_keywords": PartKind("keyword", "ralph.analysis.lexicon:Keyword", unique=False),
    "ralph_status_fields": PartKind("status field", "ralph.status.fields:StatusField"),
    "ralph_detectors": PartKind("detector", "", unique=False),
    "ralph_analyzers": PartKind("analyzer", "ralph.plugins.providers:Provider"),
    "ralph_executors": PartKind("executor", "ralph.plugins.providers:Provider"),
    "ralph_verifiers": PartKind("verifier", "ralph.verifiers.base:VerifierProvider"),
    "ralph_strategies": PartKind("exit strategy", ""),
    "ralph_prompt_parts": PartKind("prompt part", "ralph.plugins.providers:PromptPart"),
    "ralph_observers": PartKind("observer", "ralph.hooks:Hooks", unique=False),
    "ralph_deliveries": PartKind("function for deliveries", "", unique=False),
    "ralph_commands": PartKind("command", "ralph.plugins.providers:Command"),
    "ralph_task_sources": PartKind("task source", "ralph.plugins.providers:Provider"),
    "ralph_displays": PartKind("display", "ralph.plugins.providers:Provider"),
    "ralph_pages": PartKind("page", "ralph.watch.web:Page"),
    "ralph_stores": PartKind("store", "ralph.plugins.providers:Provider"),
}
"""The kinds of things by hook; `ralph_settings` returns a model instead."""

_FUNCTIONS = {"ralph_detectors": (1, "a reply"), "ralph_deliveries": (2, "a delivery and a record")}
"""The number of arguments of functions, and what they are."""


def name_of(thing: Any) -> str:
    """Return the name that a thing is known by."""
    for attribute in ("name", "text", "__name__"):
        name: object = getattr(thing, attribute, None)
        if isinstance(name, str) and name:
            return name
    return type(thing).__name__


def objection(hook: str, thing: object) -> str:
    """Return the reason why a thing that a hook returned cannot be used; empty if it can."""
    form = PARTS[hook]
    if form.home:
        module, _, name = form.home.partition(":")
        expected = cast("type", getattr(import_module(module), name))
        if not isinstance(thing, expected):
            return f"returned {_shown(thing)}, which is not {_article(name)}"
        name = cast("object", getattr(thing, "name", None))
        nameless = form.unique and not (isinstance(name, str) and name.strip())
        return f"returned {_article(form.kind)} without a name" if nameless else ""
    if hook in _FUNCTIONS:
        arguments, meant = _FUNCTIONS[hook]
        usable = callable(thing) and _takes(thing, arguments)
        return "" if usable else f"returned {_shown(thing)}, which is not a function of {meant}"
    named = isinstance(getattr(thing, "name", None), str)
    claims = not isinstance(thing, type) and callable(getattr(thing, "claim", None))
    return "" if named and claims else f"returned {_shown(thing)}, which has no name or no method `claim`"


def _article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


def _takes(function: Callable[..., object], arguments: int) -> bool:
    """Return True if a function can be called with so many arguments, or if that cannot be known."""
    try:
        signature(function).bind(*[None] * arguments)
    except TypeError:
        return False
    except ValueError:
        return True
    return True


def _shown(thing: object) -> str:
    return f"the class {thing.__name__}" if isinstance(thing, type) else f"an object of type {type(thing).__name__}"
