"""A look at many files, while it lasts: a person hears of it, and can end it."""

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress

import anyio.from_thread

__all__ = ["Looking", "announced", "go_on"]

Looking = Callable[[int, int], None]
"""Told how many files were read, and of how many; of 0 where that is not known yet."""

_MOMENT = 1.0
"""Seconds after which somebody is told, and then again."""


def go_on(number: int = 0) -> None:
    """Ends the work of the worker thread that calls it, if it was cancelled; in any other thread it does nothing.

    Args:
        number: of what is looked at; it finds out at every 256th only, for that takes as long as to look at a file.
    """
    if number % 256 == 0:
        with suppress(RuntimeError):
            anyio.from_thread.check_cancelled()


@contextmanager
def announced(tell: Looking, read: Callable[[], tuple[int, int]]) -> Generator[None]:
    """Tells every second how far the block is, from the first second on."""
    loop = asyncio.get_running_loop()

    def told() -> None:
        nonlocal timer
        tell(*read())
        timer = loop.call_later(_MOMENT, told)

    timer = loop.call_later(_MOMENT, told)
    try:
        yield
    finally:
        timer.cancel()
