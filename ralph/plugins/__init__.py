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

from typing import TYPE_CHECKING

from ralph._lazy import lazy_exports

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
    from ralph.verifiers.kinds import VerifierKind, VerifierMaterials

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

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "ralph.plugins.kinds": (
            "AnalyzerKind",
            "Command",
            "CommandMaterials",
            "DisplayKind",
            "DisplayMaterials",
            "ExecutorKind",
            "ExecutorMaterials",
            "PromptMoment",
            "PromptPart",
            "StoreKind",
            "TaskSourceKind",
            "TaskSourceMaterials",
        ),
        "ralph.plugins.loaded": ("Plugins",),
        "ralph.plugins.markers": ("API_VERSION", "hookimpl"),
        "ralph.verifiers.kinds": ("VerifierMaterials", "VerifierKind"),
    },
)
