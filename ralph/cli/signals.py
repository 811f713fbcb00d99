"""Signals during a run: the first SIGINT, SIGTERM or SIGHUP ends it in order, the second kills it."""

import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, NoReturn

import anyio
import anyio.abc

if TYPE_CHECKING:
    from ralph.loop.runner import Runner
    from ralph.watch import Display

_GRACE_SECONDS = 4.5
"""Seconds that the run has after the first signal to end the agent's turn and store the output."""

_SHOW_CURSOR = b"\x1b[?25h"


@asynccontextmanager
async def cancelled_by_signals(runner: "Runner", display: "Display") -> AsyncGenerator[None]:
    """Cancel the runner at the first signal; kill this process and its children at the second, or after a timeout."""
    if sys.platform == "win32":  # there Ctrl-C raises KeyboardInterrupt
        yield
        return
    failure: Exception | None = None
    async with anyio.create_task_group() as tasks:
        await tasks.start(_listen, runner, display)
        try:
            yield
        except Exception as error:  # noqa: BLE001 - raised below, outside the exception group
            failure = error
        tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure


async def _listen(runner: "Runner", display: "Display", *, task_status: anyio.abc.TaskStatus[None]) -> None:
    with anyio.open_signal_receiver(*_signals()) as signals:
        task_status.started()
        first = await anext(signals)
        display.hurry("Ending the agent's turn and storing the output so far. A second signal ends it at once.")
        runner.cancel(signal.Signals(first).name)
        with anyio.move_on_after(_GRACE_SECONDS):
            _die(await anext(signals), display)
        display.note("It did not end in time and is killed. Output that is not in the store yet is lost.")
        _die(first, display)


def _signals() -> list[signal.Signals]:
    """Return the signals to handle; SIGHUP, from a closed terminal, is ignored under `nohup`."""
    closed = [signal.SIGHUP] if signal.getsignal(signal.SIGHUP) == signal.SIG_DFL else []
    return [signal.SIGINT, signal.SIGTERM, *closed]


def _die(number: int, display: "Display") -> NoReturn:
    import psutil

    from ralph.system.process_tree import started_here

    for _ in range(3):  # the tree can grow meanwhile
        for child in {*psutil.Process().children(recursive=True), *started_here()}:
            with suppress(psutil.Error):
                child.kill()
    name = signal.Signals(number).name
    display.end("cancelled", f"{name}: it was killed before the run had ended", exit_code=128 + number)
    if sys.stderr.isatty():
        with suppress(OSError):
            os.write(sys.stderr.fileno(), _SHOW_CURSOR)
    os._exit(128 + number)
