"""Plug-ins: the hook specifications, the providers that hooks return, and the loaded plug-ins.

A plug-in is a module or an object with functions that are marked with `hookimpl` and named after a hook:

```python
from ralph import Keyword
from ralph.plugins import hookimpl


@hookimpl
def ralph_keywords():
    yield Keyword(text="mission accomplished")
```

It is registered as an entry point of the group `ralph`, as the file `.ralph/plugin.py` of a workspace, or by
`Runner(plugins=[…])`. `ralph.plugins.spec` specifies each hook. An exception in a plug-in, or a returned object of the
wrong type, is recorded as that plug-in's problem, and everything else continues.
"""

from typing import TYPE_CHECKING

from ralph._lazy import lazy_exports

if TYPE_CHECKING:
    from ralph.plugins.providers import (
        BuildContext,
        Command,
        CommandContext,
        PromptContext,
        PromptPart,
        Provider,
        executor_hooks,
    )
    from ralph.plugins.registry import Plugins
    from ralph.plugins.spec import API_VERSION, hookimpl
    from ralph.verifiers.base import VerifierContext, VerifierProvider

__all__ = [
    "API_VERSION",
    "BuildContext",
    "Command",
    "CommandContext",
    "Plugins",
    "PromptContext",
    "PromptPart",
    "Provider",
    "VerifierContext",
    "VerifierProvider",
    "executor_hooks",
    "hookimpl",
    "lazy_exports",
]

__getattr__, __dir__ = lazy_exports(__name__)
