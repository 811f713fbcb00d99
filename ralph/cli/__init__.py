"""The program `ralph`: the composition root, with one module per command group, imported when a command is called.

`main` is the only place that turns an exception into an exit code.
"""

import atexit
import gc
import logging
import os
import signal
import sys
from contextlib import suppress
from functools import partial
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, NoReturn, TextIO, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from sys import UnraisableHookArgs

__all__ = ["main"]

_ENDING = (signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM))
"""The signals that end the program in order."""


def main() -> NoReturn:
    """Run the program on the process's arguments and end the process with its exit code."""
    before, arguments = (sys.stdout, sys.stderr, sys.unraisablehook), sys.argv[1:]
    code, problem = _called(arguments)
    _handle_signals(signal.SIG_DFL, _terminate, signal.default_int_handler)  # from here on they kill, but silently
    from ralph.cli.json_stream import end_stream

    end_stream(arguments, code, problem)
    try:
        sys.stdout.flush()
    except OSError:
        _discard_output()
    sys.stdout, sys.stderr, sys.unraisablehook = before
    if problem == signal.SIGINT.name:  # Python would end by the signal if it came in an exec of text, as in dataclasses
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError):
                stream.flush()
        os._exit(code)
    sys.exit(code)


def _prepare() -> None:
    """Prepare signals, PATH and the standard streams, which let through nothing but visible text and colours."""
    _handle_signals(_terminate, signal.SIG_DFL)  # SIGINT keeps Python's own handler, which asyncio replaces by its own
    sys.unraisablehook = partial(_raise_again, sys.unraisablehook)
    usual = logging.Formatter()
    usual.formatException = lambda ei: ""  # shown, masked, where it is caught, if the user wants it
    cast("logging.Handler", logging.lastResort).setFormatter(usual)
    atexit.register(gc.freeze)  # a process that ends needs no search for garbage, a fifth of a short command's time
    _open_closed_streams()
    from ralph.system.files import absolute_path
    from ralph.system.text import SPELT_OUT, PrintableStream

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # in UTF-8, only lone surrogates cannot be encoded; other terminals cannot show many characters
            stream.reconfigure(errors="replace" if stream.encoding.lower() == "utf-8" else SPELT_OUT)

    if "PATH" in os.environ:  # for what is not started by Ralph itself, such as the SDK's runtime
        os.environ["PATH"] = absolute_path(os.environ["PATH"])
    sys.stdout, sys.stderr = (cast("TextIO", PrintableStream(stream)) for stream in (sys.stdout, sys.stderr))


def _open_closed_streams() -> None:
    """Open closed standard streams on the null device, or the next opened files would take their descriptors."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115 - stays open


def _handle_signals(handler: Any, *instead_of: Any) -> None:
    for number in _ENDING:
        if signal.getsignal(number) in instead_of:
            with suppress(ValueError):  # outside of the main thread
                signal.signal(number, handler)


class _Terminated(KeyboardInterrupt):
    """A signal that would have killed the program before its run watches for signals."""

    came = 0
    """The number of the last one."""


def _terminate(number: int, _frame: object) -> NoReturn:
    signal.signal(number, signal.SIG_DFL)  # the second one kills
    _Terminated.came = number
    raise _Terminated(number)


def _raise_again(usual: "Callable[[UnraisableHookArgs], object]", ignored: "UnraisableHookArgs") -> None:
    """Send a signal again that came where Python ignores what is raised, as in the callback of a weak reference."""
    if not isinstance(error := ignored.exc_value, KeyboardInterrupt):
        usual(ignored)
        return
    from threading import Timer

    number = _number(error)
    if isinstance(error, _Terminated):
        signal.signal(number, _terminate)

    def again() -> None:
        if signal.getsignal(number) != signal.SIG_DFL:  # else it was raised elsewhere, too: the program is ending
            os.kill(os.getpid(), number)

    Timer(0.01, again).start()


def _number(error: KeyboardInterrupt) -> int:
    return error.args[0] if isinstance(error, _Terminated) else signal.SIGINT


def _called(arguments: list[str]) -> tuple[int, str]:
    """Call the command; return its exit code, and the problem that was reported if it raised."""
    try:
        _prepare()
        return _reported(arguments)
    except KeyboardInterrupt as error:
        number = _number(error)
        return 128 + number, signal.Signals(number).name


def _reported(arguments: list[str]) -> tuple[int, str]:
    from ralph.errors import RalphError

    try:
        code = _interruptible(arguments)
        sys.stdout.flush()  # a full disk must be reported
        return code, ""
    except RalphError as error:
        from ralph.cli.error_messages import complain, with_store

        said = with_store(str(error), arguments)
        return complain(said, error.exit_code), said
    except (BrokenPipeError, SystemExit) as error:
        if isinstance(error, SystemExit) and not isinstance(error.__context__, BrokenPipeError):  # as of rich
            code = error.code if isinstance(error.code, int) else int(error.code is not None)
            sys.stderr.write(f"{error.code}\n" if isinstance(error.code, str) else "")
            return code, f"a plug-in has ended the program with exit code {code}"
        _discard_output()  # the reader, such as `| head`, has read enough
        return 0, ""
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - every fault is reported in one paragraph
        from ralph.cli.error_messages import report_fault
        from ralph.system.foreign import culprit

        return report_fault(error), f"a fault in {culprit(error) or 'Ralph itself'}: {type(error).__name__}"


def _interruptible(arguments: list[str]) -> int:
    """Call the command; a signal ends it even if a library, such as pydantic, wraps its exception."""
    try:
        return _call(arguments)
    except Exception as error:
        if _Terminated.came:
            raise _Terminated(_Terminated.came) from None
        if KeyboardInterrupt.__name__ in f"{error}{error.__cause__!r}":
            raise KeyboardInterrupt from None
        raise


def _call(arguments: list[str]) -> int:
    """Find the command and call it. Raises `UsageError` for what typer complains about."""
    if os.environ.get("_RALPH_COMPLETE") == "complete_fish":  # as the scripts ask
        from ralph.cli.completion import complete

        return complete()
    from inspect import iscoroutine

    import typer

    from ralph.cli.commands import command
    from ralph.errors import UsageError

    try:
        with command().make_context("ralph", list(arguments)) as context:
            ended = context.command.invoke(context)
            return (_run(ended) if iscoroutine(ended) else ended) or 0
    except typer.Exit as end:
        return end.exit_code
    except typer.Abort as error:  # typer puts it in place of a signal that interrupts a question
        raise error.__context__ if isinstance(error.__context__, KeyboardInterrupt) else KeyboardInterrupt from None
    except typer.TyperException as error:
        from ralph.cli.error_messages import usage_message

        if message := usage_message(error, arguments):
            raise UsageError(message) from None
        return UsageError.exit_code  # typer has shown the help instead


def _run(command: "Coroutine[Any, Any, int | None]") -> int | None:
    import anyio

    async def whole() -> int | None:
        return await command

    return anyio.run(whole)


def _discard_output() -> None:
    """Send the rest of the output nowhere, so that Python's final flush does not fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
