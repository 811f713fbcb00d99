"""The one way in for plug-ins: the hooks, what they give, and what is loaded.

A plug-in is a module or an object whose functions are marked with `hookimpl` and named after a hook, as in

```python
from ralph import Keyword
from ralph.plugins import hookimpl


@hookimpl
def ralph_keywords():
    yield Keyword(text="mission accomplished")
```

It is registered as an entry point of the group `ralph`, as the file `.ralph/plugin.py` of a workspace, or by
`Runner(plugins=[…])`. `ralph.plugins.hooks` says what each hook is asked for. What a plug-in raises, and what it gives
that is no such thing, is written down as that plug-in's problem, and everything else goes on.

Each name is imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ralph.plugins.kinds import (
        AnalyzerKind,
        Command,
        CommandMaterials,
        DisplayKind,
        DisplayMaterials,
        ExecutorKind,
        ExecutorMaterials,
        PromptMoment,
        PromptPart,
        StoreKind,
        TaskSourceKind,
        TaskSourceMaterials,
    )
    from ralph.plugins.loaded import Plugins
    from ralph.plugins.markers import API_VERSION, hookimpl
    from ralph.verifiers.kinds import Materials as VerifierMaterials
    from ralph.verifiers.kinds import VerifierKind

__all__ = [
    "API_VERSION",
    "AnalyzerKind",
    "Command",
    "CommandMaterials",
    "DisplayKind",
    "DisplayMaterials",
    "ExecutorKind",
    "ExecutorMaterials",
    "Plugins",
    "PromptMoment",
    "PromptPart",
    "StoreKind",
    "TaskSourceKind",
    "TaskSourceMaterials",
    "VerifierKind",
    "VerifierMaterials",
    "hookimpl",
]

_ELSEWHERE = {
    "API_VERSION": ("ralph.plugins.markers", "API_VERSION"),
    "Plugins": ("ralph.plugins.loaded", "Plugins"),
    "VerifierKind": ("ralph.verifiers.kinds", "VerifierKind"),
    "VerifierMaterials": ("ralph.verifiers.kinds", "Materials"),
    "hookimpl": ("ralph.plugins.markers", "hookimpl"),
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home, called = _ELSEWHERE.get(name, ("ralph.plugins.kinds", name))
    value = globals()[name] = getattr(import_module(home), called)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
