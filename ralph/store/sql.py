"""A store in a SQL database.

One connection does everything, one call at a time, in the store's own thread and in order. Only appends that need not
wait for others run at once in the caller's. A cancelled call is done completely or not at all, and leaves the
connection usable.

A server that gives no answer holds no one up: after some seconds its connection is shut down, and the call has failed
for a reason that may pass. The next call waits twice as long, since an answer may just be slow.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any, Self, TypeVar, TypeVarTuple, Unpack

import anyio
from sqlalchemy import Connection

from ralph.errors import StoreError, StoreUnusableError
from ralph.records.events import Event
from ralph.records.record import IterationRecord, RunRecord, Trace
from ralph.store.base import LEASE, Health, Store
from ralph.store.database import Database, SqliteMemory
from ralph.store.tables import InDoubtError, Tables
from ralph.types.requests import Request

_PATIENCE, _MOST_PATIENCE, _SLOW_PATIENCE = 4.0, 64.0, 600.0
"""Seconds that a call waits for an answer: at first, at most, and where every record is read."""
_IN_A_HURRY = 1.0
_NOTICED_WITHIN = 0.2
"""Seconds in which a call ends once its connection is shut down, unless it is still connecting."""

_LOOK, _LOOKS = 0.1, 10
"""Seconds between two looks at a database's version, and the number of them after which a follower reads anyway."""

_SLOW: tuple[Callable[..., object], ...] = (Tables.check, Tables.compact)

_Args = TypeVarTuple("_Args")
_T = TypeVar("_T")


class SqlStore(Store):
    """A store in a database, shared with any number of other processes."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._tables: Tables | None = None
        self._thread: _Thread | None = None
        self._users = self._followers = 0
        self._watch: Connection | None = None
        self._free = Lock()
        self._doubt: tuple[_Call, InDoubtError] | None = None
        self._patience = _PATIENCE
        self._hurried = asyncio.Event()

    async def __aenter__(self) -> Self:
        self._users += 1
        if self._thread is not None:
            return self
        self._thread = _Thread()
        try:
            with _telling_that_it_is_unusable():
                await self._do(lambda _: None)  # it opens the connection
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        self._users -= 1
        if self._users:
            return
        thread, self._thread = self._thread, None
        assert thread
        patience = _IN_A_HURRY if self._hurried.is_set() else _PATIENCE
        if self._tables is None:  # it may still connect, for longer than anyone wants to wait
            patience = 0.0
        self._hurried = asyncio.Event()
        closing = thread.call(self._drop)
        thread.end()
        try:
            with anyio.CancelScope(shield=True):
                await asyncio.wait([closing], timeout=None if self._database.immediate else patience)
                if closing.done():
                    closing.result()
        finally:
            self._database.interrupt()

    async def create(self, run: RunRecord, events: Sequence[Event] = (), *, owner: str = "") -> None:
        with _telling_that_it_is_unusable():
            await self._do(Tables.create, run, events, owner)

    async def append(
        self,
        run_id: str,
        events: Sequence[Event],
        *,
        iteration: IterationRecord | None = None,
        run: RunRecord | None = None,
        owner: str = "",
    ) -> None:
        if not self._appended(run_id, events, iteration, run, owner):
            await self._do(Tables.append, run_id, events, iteration, run, owner)
        elif iteration is not None:
            await asyncio.sleep(0)  # at least once an iteration, other tasks get a turn

    async def iterations(self, run_id: str) -> AsyncIterator[IterationRecord]:
        after = 0
        while page := await self._do(Tables.iterations, run_id, after):
            for iteration in page:
                yield iteration
            after = page[-1].number

    async def traces(self, run_id: str) -> list[Trace]:
        traces: list[Trace] = []
        while page := await self._do(Tables.traces, run_id, traces[-1].number if traces else 0):
            traces += page
        return traces

    async def events(self, run_id: str, *, after: int = 0) -> AsyncIterator[Event]:
        while page := await self._do(Tables.events, run_id, after):
            for _, event in page:
                if event is not None:
                    yield event
            after = page[-1][0]

    async def follow(
        self, run_id: str, *, after: int = 0, going: Callable[[RunRecord], bool] | None = None
    ) -> AsyncGenerator[Event]:
        self._followers += 1
        try:
            async for event in super().follow(run_id, after=after, going=going):
                yield event
        finally:
            self._followers -= 1
            if not self._followers:
                self._end_watch()

    async def _moved(self, seen: int) -> int:
        if self._watch is None:
            with suppress(StoreError):  # a server that only reads refuses it
                await self._do(self._begin_watch)
        for _ in range(_LOOKS):
            await asyncio.sleep(_LOOK)
            try:
                if self._watch and (now := self._database.version(self._watch)) != seen:
                    return now
            except self._database.errors:
                self._end_watch()
        return seen

    def _begin_watch(self, _: Tables) -> None:
        """Connect once for all followers, unless they are gone by then."""
        self._watch = self._watch or self._database.watch()
        if not self._followers:
            self._end_watch()

    def _end_watch(self) -> None:
        watch, self._watch = self._watch, None
        if watch:
            with suppress(*self._database.errors):
                watch.close()

    async def acquire(self, run_id: str, owner: str, *, dead: str = "", seconds: float = LEASE) -> None:
        await self._do(Tables.acquire, run_id, owner, dead, seconds)

    async def renew(self, run_id: str, owner: str, *, seconds: float = LEASE) -> None:
        await self._do(Tables.renew, run_id, owner, seconds)

    async def release(self, run_id: str, owner: str) -> None:
        await self._do(Tables.release, run_id, owner)

    async def leased(self, run_id: str) -> bool:
        return await self._do(Tables.leased, run_id)

    async def holder(self, run_id: str) -> str:
        return await self._do(Tables.holder, run_id)

    async def ask(self, run_id: str, request: Request) -> int:
        return await self._do(Tables.ask, run_id, request)

    async def requests(self, run_id: str, *, after: int = 0) -> list[Request]:
        return await self._do(Tables.requests, run_id, after)

    async def run(self, run_id: str) -> RunRecord | None:
        return await self._do(Tables.run, run_id)

    async def runs(self, *, workspace: str | None = None, limit: int = 100) -> list[RunRecord]:
        found, odd = await self._do(Tables.runs, workspace, limit)
        self.unreadable = tuple(dict.fromkeys((*self.unreadable, *odd)))
        return found

    async def iteration(self, run_id: str, number: int) -> IterationRecord | None:
        return await self._do(Tables.iteration, run_id, number)

    async def last_seq(self, run_id: str) -> int:
        return await self._do(Tables.last_seq, run_id)

    async def last_iteration(self, run_id: str) -> int:
        return await self._do(Tables.last_iteration, run_id)

    async def remove(self, run_id: str, *, owner: str = "") -> None:
        await self._do(Tables.remove, run_id, owner)

    async def forget_transcript(self, run_id: str) -> int:
        return await self._do(Tables.forget_transcript, run_id)

    async def check(self) -> Health:
        return await self._do(Tables.check)

    async def compact(self) -> None:
        await self._do(Tables.compact)

    def _appended(self, *given: Any) -> bool:
        """Append at once on the event loop, which saves half a commit's time in thread switches.

        Returns False, with nothing done, if it would have to wait for the thread or for another process.
        """
        tables = self._tables
        if not self._database.immediate or tables is None or not self._free.acquire(blocking=False):
            return False
        try:
            tables.append(*given, patient=False)
        except self._database.errors as error:
            if self._database.is_busy(error):
                return False
            raise self._database.explain(error) from error
        finally:
            self._free.release()
        return True

    async def _do(self, call: Callable[[Tables, Unpack[_Args]], _T], *args: *_Args) -> _T:
        if self._thread is None:
            raise RuntimeError("Enter the store with `async with` first.")
        made = _Call(call, args)
        answer = self._thread.call(partial(self._done, made))
        return await (answer if self._database.immediate else self._answered(made, answer))

    async def _answered(self, call: "_Call", answer: "asyncio.Future[_T]") -> _T:
        """Return a server's answer; raise a passing `StoreError` if none comes in time."""
        answer.add_done_callback(lambda ended: ended.cancelled() or ended.exception())  # perhaps no one waits
        seconds = _SLOW_PATIENCE if call.function in _SLOW else self._patience
        if self._tables is None:
            seconds = max(seconds, self._database.connects_within + _IN_A_HURRY)
        hurry = asyncio.ensure_future(self._hurried.wait())
        try:
            await asyncio.wait([answer, hurry], timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if hurry.done() and not answer.done():
                await asyncio.wait([answer], timeout=_IN_A_HURRY)
        finally:
            hurry.cancel()
        if answer.done():
            self._patience = _PATIENCE
            return answer.result()
        call.abandoned.append(True)
        self._database.interrupt()
        self._patience = min(2 * seconds, _MOST_PATIENCE)
        await asyncio.wait([answer], timeout=_NOTICED_WITHIN)
        if answer.done() and not answer.exception():
            return answer.result()
        raise self._database.silent(seconds)

    def hurry(self) -> None:
        self._hurried.set()

    def _done(self, call: "_Call") -> Any:
        """Make the call, and once more over a new connection if it was lost since the last call."""
        with self._free:
            connected = self._tables is not None
            try:
                try:
                    return self._once(call)
                except self._database.errors as error:
                    if not connected or not self._database.is_lost(error) or call.abandoned:
                        raise
                return self._once(call)
            except self._database.errors as error:
                raise self._database.explain(error) from error

    def _once(self, call: "_Call") -> Any:
        tables = self._tables = self._tables or Tables(self._database)
        if call.abandoned:  # while it waited for its turn, or for the connection
            raise self._database.silent(self._patience)
        try:
            if self._doubt is not None and self._doubt[0] == call:
                doubt = self._doubt[1]
                committed = tables.was_committed(doubt.mark)
                self._doubt = None
                if committed:
                    return doubt.result
            return call.function(tables, *call.args)
        except InDoubtError as doubt:
            self._doubt = (call, doubt)
            self._drop()
            raise doubt.lost from doubt
        except self._database.errors as error:
            if self._database.is_lost(error):
                self._drop()
            raise

    def _drop(self) -> None:
        """Close the connections; the next call opens another one."""
        self._end_watch()
        tables, self._tables = self._tables, None
        if tables:
            tables.connection.close()


class MemoryStore(SqlStore):
    """A store that lasts as long as the object. Runs outlive the `async with`."""

    def __init__(self) -> None:
        super().__init__(SqliteMemory())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None: ...

    async def _moved(self, seen: int) -> int:
        return await Store._moved(self, seen)  # noqa: SLF001 - no other process can write

    async def _do(self, call: Callable[[Tables, Unpack[_Args]], _T], *args: *_Args) -> _T:
        return self._done(_Call(call, args))


class _Thread:
    """A thread that makes calls in their order; the end of the program does not wait for it."""

    def __init__(self) -> None:
        self._calls = SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None]()
        Thread(target=self._work, name="ralph-store", daemon=True).start()

    def call(self, call: Callable[[], _T]) -> "asyncio.Future[_T]":
        """Return the answer to come."""
        answer = Future[_T]()
        self._calls.put((answer, call))
        return asyncio.wrap_future(answer)

    def end(self) -> None:
        """End the thread after the calls so far."""
        self._calls.put(None)

    def _work(self) -> None:
        while made := self._calls.get():
            answer, call = made
            if answer.set_running_or_notify_cancel():
                try:
                    answer.set_result(call())
                except BaseException as error:  # noqa: BLE001 - it is the caller's
                    answer.set_exception(error)
            del made, answer, call


@dataclass(frozen=True)
class _Call:
    """A call of the tables; equal calls are retries of each other. No one waits once `abandoned` is not empty."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    abandoned: list[bool] = field(default_factory=list[bool], compare=False)


@contextmanager
def _telling_that_it_is_unusable() -> Generator[None]:
    """Raise errors from before the run as `StoreUnusableError`, which the user can fix."""
    try:
        yield
    except StoreError as error:
        raise StoreUnusableError(error.problem, error.remedy, passing=error.passing) from error
