"""The program `ralph`: the composition root, with one module per command group, imported when a command is called.

`main` is the only place that turns an exception into an exit code.
"""

import atexit
import gc
import os
import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from typing import NoReturn, TextIO, cast

from ralph.system.files import absolute_path

__all__ = ["main"]


def main() -> NoReturn:
    """Run the program on the process's arguments and end the process with its exit code."""
    if "PATH" in os.environ:  # for what is not started by Ralph itself, such as the SDK's runtime
        os.environ["PATH"] = absolute_path(os.environ["PATH"])
    atexit.register(gc.freeze)  # a process that ends needs no search for garbage, a fifth of a short command's time
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=_encoding_errors(stream.encoding))
    for number in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        if signal.getsignal(number) == signal.SIG_DFL:
            with suppress(ValueError):  # outside of the main thread
                signal.signal(number, _terminate)
    with _printable_streams():
        code = _exit_code(sys.argv[1:])
        try:
            sys.stdout.flush()
        except OSError:
            _discard_output()
    sys.exit(code)


@contextmanager
def _printable_streams() -> Generator[None]:
    """Let nothing but visible text and colours through to standard output and standard error, whoever prints it."""
    from ralph.system.text import PrintableStream

    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast("TextIO", PrintableStream(stream)) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def _encoding_errors(encoding: str) -> str:
    """Return the error handler for an encoding: agents write characters that many terminals cannot show."""
    if encoding.lower() == "utf-8":
        return "replace"  # only lone surrogates cannot be encoded
    from ralph.system.text import SPELT_OUT

    return SPELT_OUT


def _open_closed_streams() -> None:
    """Open closed standard streams on the null device, or the next opened files would take their descriptors."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115 - stays open


class _Terminated(KeyboardInterrupt):
    """A signal that would have killed the program before its run watches for signals."""


def _terminate(number: int, _frame: object) -> NoReturn:
    signal.signal(number, signal.SIG_DFL)  # the second one kills
    raise _Terminated(number)


def _exit_code(arguments: list[str]) -> int:
    from ralph.cli.json_stream import end_stream

    code, problem = _called(arguments)
    end_stream(arguments, code, problem)
    return code


def _called(arguments: list[str]) -> tuple[int, str]:
    """Call the command; return its exit code, and the problem that was reported if it raised."""
    from ralph.errors import RalphError

    try:
        code = _call(arguments)
        sys.stdout.flush()  # a full disk must be reported
        return code, ""
    except RalphError as error:
        from ralph.cli.error_messages import complain, with_store

        said = with_store(str(error), arguments)
        return complain(said, error.exit_code), said
    except BrokenPipeError:
        _discard_output()  # the reader, such as `| head`, has read enough
        return 0, ""
    except KeyboardInterrupt as error:
        number = error.args[0] if isinstance(error, _Terminated) else signal.SIGINT
        return 128 + number, signal.Signals(number).name
    except Exception as error:  # noqa: BLE001 - every fault is reported in one paragraph
        from ralph.cli.error_messages import report_fault
        from ralph.system.foreign import culprit

        return report_fault(error), f"a fault in {culprit(error) or 'Ralph itself'}: {type(error).__name__}"


def _call(arguments: list[str]) -> int:
    """Find the command and call it. Raises `UsageError` for what typer complains about."""
    import typer

    from ralph.cli.commands import command
    from ralph.errors import UsageError

    try:
        with command().make_context("ralph", list(arguments)) as context:
            return context.command.invoke(context) or 0
    except typer.Exit as end:
        return end.exit_code
    except typer.Abort:
        raise KeyboardInterrupt from None
    except typer.TyperException as error:
        from ralph.cli.error_messages import usage_message

        if message := usage_message(error):
            raise UsageError(message) from None
        return UsageError.exit_code  # typer has shown the help instead


def _discard_output() -> None:
    """Send the rest of the output nowhere, so that Python's final flush does not fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
