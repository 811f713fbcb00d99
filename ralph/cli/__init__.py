"""The program `ralph`: the composition root. One module a command, imported when that command is called.

`main` is the only place that turns an exception into an exit code.
"""

import os
import sys
from io import TextIOWrapper
from typing import NoReturn

__all__ = ["main"]


def main() -> NoReturn:
    """Runs the program on the process's arguments and ends the process."""
    _open_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # what agents write has characters that no terminal has
    code = _exit_code(sys.argv[1:])
    try:
        sys.stdout.flush()
    except OSError:
        _forget_output()
    sys.exit(code)


def _open_streams() -> None:
    """Standard streams that the caller has closed lead to nowhere, or the next files opened would take their place."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115 - a device, for good


def _exit_code(arguments: list[str]) -> int:
    from ralph.errors import RalphError

    try:
        return _call(arguments)
    except RalphError as error:
        return _complain(_findable(str(error), arguments), error.exit_code)
    except BrokenPipeError:
        _forget_output()  # who reads by `| head` has read enough
        return 0
    except KeyboardInterrupt:
        return 130
    except Exception as error:  # noqa: BLE001 - whatever it is, a person is told of it in one paragraph
        from ralph.cli.crash import explain

        return explain(error)


def _call(arguments: list[str]) -> int:
    """Lets typer find the command and call it; its complaints become ours."""
    import typer

    from ralph.cli.commands import command
    from ralph.errors import UsageError

    try:
        with command().make_context("ralph", arguments) as context:
            return context.command.invoke(context) or 0
    except typer.Exit as end:
        return end.exit_code
    except typer.Abort:
        return 130
    except typer.TyperException as error:
        from ralph.cli.complaint import paragraph

        if said := paragraph(error):
            raise UsageError(said) from None
        return UsageError.exit_code  # the help is there instead


def _findable(text: str, arguments: list[str]) -> str:
    """What a person is told, with commands that find the run where it is."""
    from ralph.cli.place import given_store, named
    from ralph.errors import naming_store

    return naming_store(text, named(given_store(arguments)))


def _complain(text: str, code: int) -> int:
    one_paragraph = " ".join(text.split())
    sys.stderr.write(f"ralph: {one_paragraph}\n")
    return code


def _forget_output() -> None:
    """Nobody reads any more: what is left must not fail when Python flushes it at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
