"""Errors as the user reads them: one paragraph on standard error, with the nearest name or the place of a traceback."""

import os
import re
import sys
from collections.abc import Sequence
from typing import Any

import typer

from ralph.cli.lookup import given_store, store_option
from ralph.errors import naming_store, plainly
from ralph.system.secrets import Redactor, secret_values
from ralph.system.text import printable

_LONGEST = 20_000
_LONGEST_WORD, _WORD_START, _WORD_END = 1000, 200, 100
_SHOWN = 80
_UNKNOWN = re.compile(r"No such command '([^']{0,80})'")
_MISSING = {
    "Missing argument 'KEY'": "All keys are listed by `ralph config show`.",
    "Missing argument 'RUN'": "Write the beginning of an id from `ralph runs`, or `last`.",
}
_MEANT = {"--workspace": "--directory", "--task-file": "--file", "--no-verify": "--verify none"}
_LEFT_OVER = re.compile(r"Got unexpected extra argument[^ ]* \((.*)\)")


def complain(text: str, code: int) -> int:
    """Print a message as one bounded paragraph on standard error, and return the exit code."""
    long = _LONGEST_WORD  # an argument can be a whole file without a space
    words = (word if len(word) <= long else f"{word[:_WORD_START]}…{word[-_WORD_END:]}" for word in text.split())
    paragraph = printable(" ".join(words), _LONGEST)
    sys.stderr.write(f"ralph: {paragraph}\n")
    return code


def with_store(text: str, arguments: Sequence[str]) -> str:
    """Return a message with the `--store` option in its suggested commands, so that they find the run."""
    return naming_store(text, store_option(given_store(arguments)))


def usage_message(error: typer.TyperException, arguments: Sequence[str] = ()) -> str:
    """Return the message for a usage error; empty if typer has shown the help instead."""
    context: Any = getattr(error, "ctx", None)
    message = " ".join(str(getattr(error, "format_message", error.__str__)()).split())
    if context is None or not message:
        return message
    command = context.command
    option = getattr(error, "option_name", "")
    if invalid := _invalid_value(error):
        return invalid
    if type(error).__name__ == "NoSuchOption":
        message = f"There is no option {option}. {_nearest_option(option, command)}".rstrip()
    elif unknown := _UNKNOWN.match(message):
        from ralph.cli.suggestions import of_command

        remedy = of_command(unknown[1], command.list_commands(context), arguments, context.command_path)
        message = f"There is no command {unknown[1]!r}. {remedy}"
    elif over := _LEFT_OVER.match(message):
        from ralph.cli.suggestions import of_left_over

        message = of_left_over(over[1], context)
    elif remedy := _MISSING.get(message.rstrip(".")):
        message = f"{message.rstrip('.')}. {remedy}"
    if message.endswith(("?", "`.")):
        return message
    return f"{plainly(message).rstrip('.')}. `{context.command_path} --help` shows its use."


def _invalid_value(error: typer.TyperException) -> str:
    """Return the message for an invalid value of an option, worded as for settings; else empty."""
    from pydantic import ValidationError

    cause, parameter = error.__cause__, getattr(error, "param", None)
    if not isinstance(cause, ValidationError) or parameter is None:
        return ""
    first, name = cause.errors()[0], max(parameter.opts, key=len)
    return f"{name}: {str(first['input'])[:_SHOWN]!r} is not valid: {plainly(first['msg'])}."


def _nearest_option(option: str, command: Any) -> str:
    import difflib

    known = [name[2:] for parameter in command.params for name in parameter.opts if name.startswith("--")]
    if (meant := _MEANT.get(option, "")).partition(" ")[0][2:] in known:
        return f"Did you mean '{meant}'?"
    close = difflib.get_close_matches(option.lstrip("-"), known, n=1, cutoff=0.7)
    return f"Did you mean '--{close[0]}'?" if close else ""


def report_fault(error: BaseException) -> int:
    """Report an unexpected error on standard error, and return the exit code.

    A missing current folder and a full disk get a message of their own. Any other error is a fault of the plug-in whose
    code it passed through, or of Ralph itself: its traceback is saved in a file, or shown if RALPH_DEBUG=1.
    """
    if isinstance(error, FileNotFoundError) and _folder_is_gone():
        return complain("The current folder no longer exists. Change to another one, and try again.", 2)
    if isinstance(error, OSError):
        from ralph.watch.base import DISK_FULL

        if error.errno in DISK_FULL:
            return complain(f"There is no room for the output: {error.strerror}. Free some space, and try again.", 1)
    return _report_bug(error)


def _folder_is_gone() -> bool:
    try:
        os.getcwd()  # noqa: PTH109 - only its failure matters
    except FileNotFoundError:
        return True
    return False


def _report_bug(error: BaseException) -> int:
    import traceback

    from ralph.system.foreign import culprit, debugging, show_traceback

    mask = Redactor(secret_values(os.environ))
    what = " ".join(printable(mask(f"{type(error).__name__}: {error}")).split())[:500].rstrip(".")
    if debugging():
        show_traceback(error)
        place = "The traceback is above."
    else:
        place = _saved(mask("".join(traceback.format_exception(error))))
    sys.stderr.write(
        f"ralph: This is a fault in {culprit(error) or 'Ralph itself'}: {what}. {place} Please report it.\n"
    )
    return 1


def _saved(trace: str) -> str:
    """Save a traceback in a file; return a sentence that says where it is."""
    import tempfile

    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="ralph-fault-", suffix=".txt", delete=False, encoding="utf-8", errors="replace"
        ) as file:
            file.write(trace)
        place = f"is in {file.name}"
    except OSError as full:
        place = f"could not be saved ({full.strerror})"
    return f"The traceback {place}; RALPH_DEBUG=1 shows it here."
