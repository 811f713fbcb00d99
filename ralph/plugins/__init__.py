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

from ralph import _lazy

if TYPE_CHECKING:
    from ralph._lazy import lazy_exports as lazy_exports
    from ralph.plugins.providers import BuildContext as BuildContext
    from ralph.plugins.providers import Command as Command
    from ralph.plugins.providers import CommandContext as CommandContext
    from ralph.plugins.providers import Delivery as Delivery
    from ralph.plugins.providers import PromptContext as PromptContext
    from ralph.plugins.providers import PromptPart as PromptPart
    from ralph.plugins.providers import Provider as Provider
    from ralph.plugins.providers import executor_hooks as executor_hooks
    from ralph.plugins.registry import Plugins as Plugins
    from ralph.plugins.spec import API_VERSION as API_VERSION
    from ralph.plugins.spec import hookimpl as hookimpl
    from ralph.verifiers.base import VerifierContext as VerifierContext
    from ralph.verifiers.base import VerifierProvider as VerifierProvider

__getattr__, __dir__ = _lazy.lazy_exports(__name__)
