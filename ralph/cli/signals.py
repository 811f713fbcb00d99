"""SIGINT, SIGTERM and a terminal that is closed: the first ends the run in good order, the second at once."""

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

__all__ = ["cancelled_by_signals"]

_PATIENCE = 4.5
"""Seconds after the first signal in which the agent's turn is ended and what there was is stored."""

_SHOW_CURSOR = b"\x1b[?25h"


@asynccontextmanager
async def cancelled_by_signals(runner: "Runner", display: "Display") -> AsyncGenerator[None]:
    """Cancels the runner at the first signal; kills this process and what it started at the second, or when the first
    has not ended it in time.
    """
    if sys.platform == "win32":  # there Ctrl-C raises KeyboardInterrupt
        yield
        return
    failure: Exception | None = None
    async with anyio.create_task_group() as tasks:
        await tasks.start(_listen, runner, display)
        try:
            yield
        except Exception as error:  # noqa: BLE001 - it goes on below, as it is and not in a group
            failure = error
        tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure


async def _listen(runner: "Runner", display: "Display", *, task_status: anyio.abc.TaskStatus[None]) -> None:
    with anyio.open_signal_receiver(*_heard()) as signals:
        task_status.started()
        first = await anext(signals)
        display.hurry("Ending the agent's turn and storing what there is. A second signal ends it at once.")
        runner.cancel(signal.Signals(first).name)
        with anyio.move_on_after(_PATIENCE):
            _die(await anext(signals))
        display.note("It did not end in time and is killed. What is not in the store yet is lost.")
        _die(first)


def _heard() -> list[signal.Signals]:
    """SIGHUP comes when the terminal is closed, and means nothing to a program that `nohup` has started."""
    closed = [signal.SIGHUP] if signal.getsignal(signal.SIGHUP) == signal.SIG_DFL else []
    return [signal.SIGINT, signal.SIGTERM, *closed]


def _die(number: int) -> NoReturn:
    import psutil

    from ralph.system.process_tree import started_here

    for _ in range(3):  # a tree can grow while it is felled
        for child in {*psutil.Process().children(recursive=True), *started_here()}:
            with suppress(psutil.Error):
                child.kill()
    if sys.stderr.isatty():
        with suppress(OSError):
            os.write(sys.stderr.fileno(), _SHOW_CURSOR)
    os._exit(128 + number)
