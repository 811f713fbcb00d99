"""Keeps runs in a SQL database.

One connection does everything, one call at a time: in a thread of the store's own, in the order in which it was asked
for, but for appends that need not wait for anybody, which are done at once. A call that is cancelled is done as a
whole or not at all, and leaves the connection to the calls after it.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from threading import Lock
from types import TracebackType
from typing import Concatenate, ParamSpec, Self, TypeVar

import anyio

from ralph.errors import StoreError, StoreUnusableError
from ralph.events import Event
from ralph.record import IterationRecord, RunRecord
from ralph.store.base import Store
from ralph.store.sqlite import SqliteFile
from ralph.store.tables import Tables

__all__ = ["SqlStore"]

_P = ParamSpec("_P")
_T = TypeVar("_T")


class SqlStore(Store):
    """A store in a database, shared with any number of other processes."""

    def __init__(self, database: SqliteFile) -> None:
        self._database = database
        self._tables: Tables | None = None
        self._thread: ThreadPoolExecutor | None = None
        self._free = Lock()

    async def __aenter__(self) -> Self:
        self._thread = ThreadPoolExecutor(1, "ralph-store")
        try:
            with _telling_that_it_is_unusable():
                await self._in_thread(self._open)
        except BaseException:
            await self.__aexit__(None, None, None)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._thread
        try:
            with anyio.CancelScope(shield=True):
                await self._in_thread(self._close)
        finally:
            self._thread.shutdown()

    async def create(self, run: RunRecord, events: Sequence[Event] = ()) -> None:
        with _telling_that_it_is_unusable():
            await self._do(Tables.create, run, events)

    async def append(
        self,
        run_id: str,
        events: Sequence[Event],
        *,
        iteration: IterationRecord | None = None,
        run: RunRecord | None = None,
    ) -> None:
        if not self._appended(run_id, events, iteration, run):
            await self._do(Tables.append, run_id, events, iteration, run)
        elif iteration is not None:
            await asyncio.sleep(0)  # at least once an iteration, whoever else is due gets a turn

    async def run(self, run_id: str) -> RunRecord | None:
        return await self._do(Tables.run, run_id)

    async def runs(self, *, workspace: str | None = None, limit: int = 100) -> list[RunRecord]:
        return await self._do(Tables.newest_runs, workspace, limit)

    async def iterations(self, run_id: str) -> AsyncIterator[IterationRecord]:
        after = 0
        while page := await self._do(Tables.iterations, run_id, after):
            for iteration in page:
                yield iteration
            after = page[-1].number

    async def events(self, run_id: str, *, after: int = 0) -> AsyncIterator[Event]:
        while page := await self._do(Tables.events, run_id, after):
            for _, event in page:
                if event is not None:
                    yield event
            after = page[-1][0]

    async def last_seq(self, run_id: str) -> int:
        return await self._do(Tables.last_seq, run_id)

    def _appended(
        self, run_id: str, events: Sequence[Event], iteration: IterationRecord | None, run: RunRecord | None
    ) -> bool:
        """Tries an append at once, here: where nobody is in the way, the trip to the thread costs half a commit more.

        Returns False, with nothing done, where it would have to wait for the thread or for another process.
        """
        if self._tables is None or not self._free.acquire(blocking=False):
            return False
        try:
            self._tables.append(run_id, events, iteration, run, patient=False)
        except self._database.errors as error:
            if self._database.is_busy(error):
                return False
            raise self._database.explain(error) from error
        finally:
            self._free.release()
        return True

    async def _do(self, call: Callable[Concatenate[Tables, _P], _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        if self._tables is None:
            raise RuntimeError("A store is used in `async with`.")
        return await self._in_thread(partial(call, self._tables, *args, **kwargs))

    async def _in_thread(self, work: Callable[[], _T]) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._explained, work)

    def _explained(self, work: Callable[[], _T]) -> _T:
        try:
            with self._free:
                return work()
        except self._database.errors as error:
            raise self._database.explain(error) from error

    def _open(self) -> None:
        self._tables = Tables.open(self._database)

    def _close(self) -> None:
        tables, self._tables = self._tables, None
        if tables:
            tables.close()


@contextmanager
def _telling_that_it_is_unusable() -> Generator[None]:
    """What goes wrong before anything was spent is for the person to mend, and is told as such."""
    try:
        yield
    except StoreError as error:
        raise StoreUnusableError(error.problem, error.remedy) from error
