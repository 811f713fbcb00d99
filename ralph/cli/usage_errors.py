"""What typer complains of, as one paragraph with the nearest name."""

import difflib
import re
from typing import Any

import typer

from ralph.errors import nearest, plainly

__all__ = ["paragraph"]

_SHOWN = 80
_UNKNOWN = re.compile(r"No such command '([^']{1,80})'")
_LEFT_OVER = re.compile(r"Got unexpected extra argument[^ ]* \((.*)\)")


def paragraph(error: typer.TyperException) -> str:
    """A usage error as a person is told it; empty where typer has shown the help instead."""
    context: Any = getattr(error, "ctx", None)
    said = " ".join(str(getattr(error, "format_message", error.__str__)()).split())
    if context is None or not said:
        return said
    command = context.command
    option = getattr(error, "option_name", "")
    if wrong := _wrong_value(error):
        return wrong
    if type(error).__name__ == "NoSuchOption":
        said = f"There is no option {option}. {_nearest_option(option, _options(command))}".rstrip()
    elif unknown := _UNKNOWN.match(said):
        said = f"There is no command {unknown[1]!r}. {nearest(unknown[1], command.list_commands(context))}"
    elif over := _LEFT_OVER.match(said):
        said = f"{over[1][:_SHOWN]!r} is too much. Put quotes around a text of several words, or leave it out."
    return f"{plainly(said).rstrip('.')}. `{context.command_path} --help` shows its use." if said[-1] != "?" else said


def _wrong_value(error: typer.TyperException) -> str:
    """What is said of a value that an option does not take, in the words for those that are settings; else empty."""
    from pydantic import ValidationError

    cause, parameter = error.__cause__, getattr(error, "param", None)
    if not isinstance(cause, ValidationError) or parameter is None:
        return ""
    first, name = cause.errors()[0], max(parameter.opts, key=len)
    return f"{name}: {str(first['input'])[:_SHOWN]!r} is not valid: {plainly(first['msg'])}."


def _nearest_option(option: str, known: list[str]) -> str:
    """One that may have been meant; what all options have in common, "--" and the like, makes none alike."""
    close = difflib.get_close_matches(option.lstrip("-"), [name.lstrip("-") for name in known], n=1, cutoff=0.7)
    return f"Did you mean '--{close[0]}'?" if close else ""


def _options(command: Any) -> list[str]:
    return [name for parameter in command.params for name in parameter.opts if name.startswith("--")]
