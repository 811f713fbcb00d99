"""The program `ralph`: the composition root. One module a command, imported when that command is called.

`main` is the only place that turns an exception into an exit code.
"""

import os
import sys
from io import TextIOWrapper
from typing import NoReturn

__all__ = ["main"]

_LONGEST = 20_000
_LONGEST_WORD, _WORD_BEGINS, _WORD_ENDS = 1000, 200, 100


def main() -> NoReturn:
    """Runs the program on the process's arguments and ends the process."""
    _open_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=_for_want_of_characters(stream.encoding))
    code = _exit_code(sys.argv[1:])
    try:
        sys.stdout.flush()
    except OSError:
        _forget_output()
    sys.exit(code)


def _for_want_of_characters(encoding: str) -> str:
    """What becomes of characters that an encoding has not: what agents write has some that no terminal has."""
    if encoding.lower() == "utf-8":
        return "replace"  # it has all but halves of characters
    from ralph.system.text import SPELT_OUT

    return SPELT_OUT


def _open_streams() -> None:
    """Standard streams that the caller has closed lead to nowhere, or the next files opened would take their place."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115 - a device, for good


def _exit_code(arguments: list[str]) -> int:
    from ralph.errors import RalphError

    try:
        code = _call(arguments)
        sys.stdout.flush()  # what finds no room must be told of
        return code
    except RalphError as error:
        return _complain(_findable(str(error), arguments), error.exit_code)
    except BrokenPipeError:
        _forget_output()  # who reads by `| head` has read enough
        return 0
    except KeyboardInterrupt:
        return 130
    except Exception as error:  # noqa: BLE001 - whatever it is, a person is told of it in one paragraph
        if isinstance(error, FileNotFoundError) and _stands_nowhere():
            return _complain("The current folder no longer exists. Change to another one, and try again.", 2)
        from ralph.watch.base import DISK_FULL

        if isinstance(error, OSError) and error.errno in DISK_FULL:
            return _complain(f"There is no room for the output: {error.strerror}. Free some space, and try again.", 1)
        from ralph.cli.crash import explain

        return explain(error)


def _call(arguments: list[str]) -> int:
    """Lets typer find the command and call it; its complaints become ours."""
    import typer

    from ralph.cli.commands import command
    from ralph.errors import UsageError

    try:
        with command().make_context("ralph", list(arguments)) as context:
            return context.command.invoke(context) or 0
    except typer.Exit as end:
        return end.exit_code
    except typer.Abort:
        return 130
    except typer.TyperException as error:
        from ralph.cli.usage_errors import paragraph

        if said := paragraph(error):
            raise UsageError(said) from None
        return UsageError.exit_code  # the help is there instead


def _stands_nowhere() -> bool:
    """Whether the current folder was taken away; only its path tells."""
    try:
        os.getcwd()  # noqa: PTH109 - no path is wanted, but whether there is one
    except FileNotFoundError:
        return True
    return False


def _findable(text: str, arguments: list[str]) -> str:
    """What a person is told, with commands that find the run where it is."""
    from ralph.cli.store_url import given_store, named
    from ralph.errors import naming_store

    return naming_store(text, named(given_store(arguments)))


def _complain(text: str, code: int) -> int:
    from ralph.system.text import printable

    one_paragraph = printable(" ".join(map(_bounded, text.split())), _LONGEST)
    sys.stderr.write(f"ralph: {one_paragraph}\n")
    return code


def _bounded(word: str) -> str:
    """A word as a person can read it: what was given may be a whole file, without a space in it."""
    return word if len(word) <= _LONGEST_WORD else f"{word[:_WORD_BEGINS]}…{word[-_WORD_ENDS:]}"


def _forget_output() -> None:
    """Nobody reads any more: what is left must not fail when Python flushes it at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
