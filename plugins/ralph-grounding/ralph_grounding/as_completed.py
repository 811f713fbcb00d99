"""Concurrent work on a stream of items, with each result passed on as soon as it is ready."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Iterable
from typing import Any, TypeVar

import anyio

__all__ = ["as_completed"]

_T = TypeVar("_T")
_R = TypeVar("_R")


async def as_completed(
    items: Iterable[_T] | AsyncIterable[_T], work: Callable[[_T], Awaitable[_R]], limit: int
) -> AsyncGenerator[list[_R]]:
    """Yield the results of the work in order of completion, grouped if several complete together.

    An item is only taken when there is room for it, so at most `limit` are in progress; while the consumer pauses, no
    more begin. If the source of items raises, the items in progress are finished first; an error of the work is raised
    at once. However the stream ends, nothing is left running.

    No task group may be open where a generator yields, because the generator may be closed from another task. So the
    work runs in plain tasks of the event loop, all of them ended here.
    """
    source = _each(items)
    running: set[asyncio.Task[_R]] = set()
    ready: list[_R] = []
    pull: asyncio.Task[_T] | None = None
    end: Exception | None = None
    try:
        while end is None or running or ready:
            if end is None and pull is None and len(running) + len(ready) < limit:
                pull = asyncio.ensure_future(_coroutine(anext(source)))
            done = await _some_done({*running, pull} if pull else running, wait=not ready)
            ready += [task.result() for task in running & done]
            running -= done
            if pull in done:
                pulled, pull = pull, None
                try:
                    running.add(asyncio.ensure_future(_coroutine(work(pulled.result()))))
                except Exception as error:  # noqa: BLE001 - it is raised again when all is done
                    end = error
            elif ready:
                yield ready
                ready = []
        if not isinstance(end, StopAsyncIteration):
            raise end
    finally:
        await _end({*running, pull} if pull else running)
        with anyio.CancelScope(shield=True):
            await source.aclose()


async def _some_done(tasks: set[asyncio.Task[Any]], *, wait: bool) -> set[asyncio.Task[Any]]:
    """Return the completed tasks; if there are none, wait for the first one, or just yield once to the event loop."""
    if not tasks:
        return set()
    done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED, timeout=None if wait else 0)
    return done


async def _end(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel tasks and wait until they have ended, even if the caller is cancelled repeatedly."""
    for task in tasks:
        task.cancel()
    with anyio.CancelScope(shield=True):
        await asyncio.gather(*tasks, return_exceptions=True)


async def _coroutine(awaitable: Awaitable[_T]) -> _T:
    return await awaitable


async def _each(items: Iterable[_T] | AsyncIterable[_T]) -> AsyncGenerator[_T]:
    """Yield the items, and close their source in any case, so that a generator releases its resources."""
    if isinstance(items, AsyncIterable):
        try:
            async for item in items:
                yield item
        finally:
            if isinstance(items, AsyncGenerator):
                await items.aclose()
    else:
        for item in items:
            yield item
