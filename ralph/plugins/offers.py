"""What a plug-in gives to a hook, looked at before anyone uses it."""

from collections.abc import Callable
from importlib import import_module
from inspect import signature
from typing import Any, NamedTuple, cast

from ralph.plugins.plugin import Plugin

__all__ = ["HOOKS", "Offer", "name_of", "oddity"]


class Offer(NamedTuple):
    """A thing, whose it is, and the hook that it was given to."""

    plugin: Plugin
    thing: Any
    hook: str = ""


class _Form(NamedTuple):
    """What a hook's things are.

    Attributes:
        kind: what one is called.
        home: where its class is defined; empty for what is known by its shape.
        unique: whether no two may have one name.
    """

    kind: str
    home: str
    unique: bool = True


HOOKS = {
    "ralph_keywords": _Form("keyword", "ralph.analysis.lexicon.base:Keyword", unique=False),
    "ralph_status_fields": _Form("status field", "ralph.status.fields:StatusField"),
    "ralph_detectors": _Form("detector", "", unique=False),
    "ralph_analyzers": _Form("analyzer", "ralph.plugins.kinds:AnalyzerKind"),
    "ralph_executors": _Form("executor", "ralph.plugins.kinds:ExecutorKind"),
    "ralph_verifiers": _Form("verifier", "ralph.verifiers.kinds:VerifierKind"),
    "ralph_strategies": _Form("exit strategy", ""),
    "ralph_prompt_parts": _Form("prompt part", "ralph.plugins.kinds:PromptPart"),
    "ralph_observers": _Form("observer", "ralph.hooks:Hooks", unique=False),
    "ralph_commands": _Form("command", "ralph.plugins.kinds:Command"),
    "ralph_task_sources": _Form("task source", "ralph.plugins.kinds:TaskSourceKind"),
    "ralph_displays": _Form("display", "ralph.plugins.kinds:DisplayKind"),
    "ralph_stores": _Form("store", "ralph.plugins.kinds:StoreKind"),
}
"""The hooks that give things; `ralph_settings` gives a model instead."""


def name_of(thing: Any) -> str:
    """What a thing is known by."""
    for attribute in ("name", "text", "__name__"):
        name: object = getattr(thing, attribute, None)
        if isinstance(name, str) and name:
            return name
    return type(thing).__name__


def oddity(hook: str, thing: object) -> str:
    """What keeps a thing from being used; empty where nothing does."""
    form = HOOKS[hook]
    if form.home:
        module, _, name = form.home.partition(":")
        expected = cast("type", getattr(import_module(module), name))
        if not isinstance(thing, expected):
            return f"gave {_shown(thing)}, which is not {_article(name)}"
        name = cast("object", getattr(thing, "name", None))
        nameless = form.unique and not (isinstance(name, str) and name.strip())
        return f"gave {_article(form.kind)} without a name" if nameless else ""
    if hook == "ralph_detectors":
        return (
            "" if callable(thing) and _takes(thing, 1) else f"gave {_shown(thing)}, which is not a function of a reply"
        )
    named = isinstance(getattr(thing, "name", None), str)
    claims = not isinstance(thing, type) and callable(getattr(thing, "claim", None))
    return "" if named and claims else f"gave {_shown(thing)}, which has no name or no method `claim`"


def _article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


def _takes(function: Callable[..., object], arguments: int) -> bool:
    """Whether a function can be called with so many arguments; one that nobody can tell of is taken at its word."""
    try:
        signature(function).bind(*[None] * arguments)
    except TypeError:
        return False
    except ValueError:
        return True
    return True


def _shown(thing: object) -> str:
    return f"the class {thing.__name__}" if isinstance(thing, type) else f"an object of type {type(thing).__name__}"
