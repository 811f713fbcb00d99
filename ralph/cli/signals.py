"""SIGINT and SIGTERM: the first ends the run in good order, the second at once."""

import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, NoReturn

import anyio
import anyio.abc

if TYPE_CHECKING:
    from ralph.runner import Runner

__all__ = ["cancelled_by_signals"]


@asynccontextmanager
async def cancelled_by_signals(runner: "Runner") -> AsyncGenerator[None]:
    """Cancels the runner at the first signal, and kills the process with its children at the second."""
    if sys.platform == "win32":  # there Ctrl-C raises KeyboardInterrupt
        yield
        return
    error: BaseException | None = None
    async with anyio.create_task_group() as tasks:
        await tasks.start(_listen, runner)
        try:
            yield
        except BaseException as raised:  # noqa: BLE001 - raised again below, as it is and not in a group
            error = raised
        tasks.cancel_scope.cancel()
    if error is not None:
        raise error


async def _listen(runner: "Runner", *, task_status: anyio.abc.TaskStatus[None]) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        task_status.started()
        again = False
        async for number in signals:
            if again:
                _die(number)
            again = True
            runner.cancel(signal.Signals(number).name)


def _die(number: int) -> NoReturn:
    import psutil

    for child in psutil.Process().children(recursive=True):
        try:
            child.kill()
        except psutil.Error:
            continue
    os._exit(128 + number)
