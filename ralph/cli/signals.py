"""Signals during a run: the first SIGINT, SIGTERM or SIGHUP ends it in order, a second (no SIGHUP) kills it."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, NoReturn

import anyio

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
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    if before[signal.SIGHUP] == signal.SIG_IGN:  # under `nohup` the run outlives its terminal
        del before[signal.SIGHUP]
    try:
        with anyio.open_signal_receiver(*before) as signals:
            listening = asyncio.ensure_future(_listen(signals, runner, display))
            try:
                yield
            finally:
                listening.cancel()
    finally:
        for number, handler in before.items():  # asyncio has put the system's own in their place
            signal.signal(number, handler)


async def _listen(signals: AsyncIterator[signal.Signals], runner: "Runner", display: "Display") -> None:
    first = await anext(signals)
    display.hurry("Ending the agent's turn and storing the output so far. A second signal ends it at once.")
    runner.cancel(signal.Signals(first).name)
    with anyio.move_on_after(_GRACE_SECONDS):
        async for number in signals:
            if number != signal.SIGHUP:  # a terminal that is closed sends it twice: by the kernel and by the shell
                _die(number, display)
    display.note("It did not end in time and is killed. Output that is not in the store yet is lost.")
    _die(first, display)


def _die(number: int, display: "Display") -> NoReturn:
    import psutil

    from ralph.system.process_tree import mark_of_this_process, started_by

    for _ in range(3):  # the tree can grow meanwhile
        for child in {*psutil.Process().children(recursive=True), *started_by(mark_of_this_process())}:
            with suppress(psutil.Error):
                child.kill()
    name = signal.Signals(number).name
    display.end("cancelled", f"{name}: it was killed before the run had ended", exit_code=128 + number)
    if sys.stderr.isatty():
        with suppress(OSError):
            os.write(sys.stderr.fileno(), _SHOW_CURSOR)
    os._exit(128 + number)
