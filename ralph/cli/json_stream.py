"""The end of `--display json` on every path: its first line says why no run began, its last is `run_finished`.

The other displays say it if a signal came before the run began.
"""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ralph.errors import RalphError

if TYPE_CHECKING:
    from ralph.watch import Display

_COMMANDS = frozenset({"run", "resume", "continue", "demo"})
_shown: "list[Display]" = []
"""The display of this process's run, once there is one."""


def begin_stream(display: "Display") -> None:
    """Note the display of this process's run."""
    _shown[:] = [display]


def end_stream(arguments: Sequence[str], code: int, problem: str) -> None:
    """Let the display of a program that ends with a problem write what its stream lacks.

    Args:
        arguments: of the program, which ask for JSON perhaps before there is a display.
        code: its exit code.
        problem: the message that it prints on standard error; empty for a command that returned.
    """
    display = _shown.pop() if _shown else None
    if not problem:
        return
    if code > 128 and _COMMANDS.intersection(arguments[:1]) and not (display and display.begun):
        with suppress(OSError):
            sys.stderr.write(f"ralph: Ended by {problem} before a run began: the agent was not started.\n")
    if display is None and _asks_for_json(arguments):
        from ralph.watch.base import JsonDisplay

        display = JsonDisplay()
    if display is not None:
        reason = "executor_unavailable" if code == 6 else "cancelled" if code > 128 else "error"
        display.end(reason, problem, exit_code=code)


def _asks_for_json(arguments: Sequence[str]) -> bool:
    """Return whether a command shows a run as JSON: by its arguments, the environment, or files that can be read."""
    if not _COMMANDS.intersection(arguments[:1]):
        return False
    from ralph.cli.lookup import option_value

    named = option_value(arguments, "--display") or os.environ.get("RALPH_DISPLAY")
    if named is not None:
        return named == "json"
    from ralph.settings.sources import own_sources, toml_source, user_file

    try:
        folder = Path(option_value(arguments, "--directory", "-C") or ".")
        found = [*own_sources(folder), toml_source(user_file().resolve())]
        return [source.values["display"] for source in found if source and "display" in source.values][-1:] == ["json"]
    except (RalphError, OSError):
        return False
