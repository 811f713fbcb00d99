"""What typer complains of, as one paragraph with the nearest name."""

import difflib
import re
from typing import Any

import typer

from ralph.errors import nearest, plainly

__all__ = ["paragraph"]

_UNKNOWN = re.compile(r"No such command '([^']{1,80})'")


def paragraph(error: typer.TyperException) -> str:
    """A usage error as a person is told it; empty where typer has shown the help instead."""
    context: Any = getattr(error, "ctx", None)
    said = " ".join(str(getattr(error, "format_message", error.__str__)()).split())
    if context is None or not said:
        return said
    command = context.command
    option = getattr(error, "option_name", "")
    if type(error).__name__ == "NoSuchOption":
        said = f"There is no option {option}. {_nearest_option(option, _options(command))}".rstrip()
    elif unknown := _UNKNOWN.match(said):
        said = f"There is no command {unknown[1]!r}. {nearest(unknown[1], command.list_commands(context))}"
    return f"{plainly(said).rstrip('.')}. `{context.command_path} --help` tells more." if said[-1] != "?" else said


def _nearest_option(option: str, known: list[str]) -> str:
    """One that may have been meant; what all options have in common, "--" and the like, makes none alike."""
    close = difflib.get_close_matches(option.lstrip("-"), [name.lstrip("-") for name in known], n=1, cutoff=0.7)
    return f"Did you mean '--{close[0]}'?" if close else ""


def _options(command: Any) -> list[str]:
    return [name for parameter in command.params for name in parameter.opts if name.startswith("--")]
