"""Foreign code: the plug-in that a thing or an exception comes from, for messages that name it."""

import os
import sys
import traceback
from collections.abc import Iterator

_titles: dict[str, str] = {}
"""The titles of the loaded plug-ins by their module, or the package of it."""


def register(module: str, title: str) -> None:
    """Remember that a module, and everything in it, belongs to a plug-in."""
    if module and module.partition(".")[0] != "ralph":
        _titles[module] = title


def maker(thing: object) -> str:
    """Return the title of the plug-in whose code defines a thing's class; empty if none does."""
    return _title_of(type(getattr(thing, "__wrapped__", thing)).__module__)


def culprit(error: BaseException) -> str:
    """Return the plug-in whose code, or whose object's method, an exception passed through; empty if none."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    owner = maker(frames[-1].f_locals.get("self")) if frames else ""
    return next((title for module in _modules(error) if (title := _title_of(module))), owner)


def pass_on(error: BaseException) -> None:
    """Raise an exception again that is no fault of foreign code: Ctrl-C, or a cancellation of the current task."""
    import asyncio

    cancelled = isinstance(error, asyncio.CancelledError) and (task := asyncio.current_task()) and task.cancelling()
    if cancelled or isinstance(error, KeyboardInterrupt | GeneratorExit):
        raise error


def named(what: str, title: str) -> str:
    """Return a thing with its plug-in; the thing alone if it is Ralph's own."""
    return f"{what} of {title}" if title else what


def debugging() -> bool:
    """Return whether the user wants tracebacks of faults on standard error, with `RALPH_DEBUG=1`."""
    return os.environ.get("RALPH_DEBUG", "") not in {"", "0"}


def show_traceback(error: BaseException) -> None:
    """Write the traceback of an exception of foreign code to standard error, masked, if the user wants it."""
    if debugging():
        from ralph.system.secrets import Redactor, secret_values

        trace = "".join(traceback.format_exception(error))
        sys.stderr.write(Redactor(secret_values(os.environ))(trace))


def _title_of(module: str) -> str:
    name = module
    while name:
        if name in _titles:
            return _titles[name]
        name = name.rpartition(".")[0]
    return ""


def _modules(error: BaseException) -> Iterator[str]:
    """Yield the modules of an exception's frames, innermost first, then those of its group and its causes."""
    for frame, _ in reversed(list(traceback.walk_tb(error.__traceback__))):
        yield str(frame.f_globals.get("__name__", ""))
    grouped: tuple[BaseException, ...] = getattr(error, "exceptions", ())
    for each in (*grouped, *filter(None, [error.__cause__])):
        yield from _modules(each)
