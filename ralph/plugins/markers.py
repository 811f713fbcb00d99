"""What marks a hook, and the version of all of them."""

import pluggy

__all__ = ["API_VERSION", "NAME", "hookimpl", "hookspec"]

NAME = "ralph"
"""Of the group of entry points, and of the project in pluggy's sense."""

API_VERSION = 1
"""The version of the hooks. A plug-in that says `RALPH_API = 2` is made for others, and is refused."""

hookimpl = pluggy.HookimplMarker(NAME)
"""Marks a plug-in's function as the implementation of the hook that it is named after."""

hookspec = pluggy.HookspecMarker(NAME)
