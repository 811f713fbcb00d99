"""The event log of a run: append, then publish, so that whatever anyone sees of a run is already durable.

Facts (`commit`) are stored before they are published. Messages and tool calls (`note`) are committed in groups, at most
100 ms apart, or with the next fact. Pieces of messages keep their place in the order but are not stored.

While the store cannot be written (a full disk, a lock, a lost connection), nothing is lost and the run waits: commits
block until the store can be written, viewers see a pause, and the user's request to stop ends the waiting.

The dispatcher calls the observers of a run and asks those that may veto; none can break the run. `ralph.hooks` says
what becomes of one that raises or is slow. The log has the traceback of its first failure alone.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from time import monotonic
from typing import Any, NamedTuple, Self, cast

import anyio

from ralph.errors import StoreError
from ralph.hooks import CompletionDue, Hooks, IterationDue, Veto
from ralph.records.events import Diagnosed, Event, MessageStreamed, Paused, Resumed
from ralph.records.record import IterationRecord, RunRecord
from ralph.store.base import Store
from ralph.system.foreign import maker, named, pass_on, show_traceback
from ralph.types import evolve

_GROUP = 0.1  # seconds; a group waits for half of that, since the fact that ends the turn often follows
_TRIES_AGAIN = "The run waits until it can be written again, and tries every few seconds."
_FIRST_RETRY = 0.1
_LONGEST_RETRY = 5.0
_LONGEST_WAIT = 86_400.0


class Clock:
    """The time for a run: passed in, so that a test can have its own (`ralph.testing.FakeClock`)."""

    def now(self) -> datetime:
        """Return the time, in UTC."""
        return datetime.now(UTC)

    async def wait_until(self, moment: datetime) -> None:
        """Return when that time has come, or when as much time has passed as was left, whichever is first.

        So a clock that is set back does not prolong the wait. The clock is read every minute, so that a machine that
        slept through the moment wakes up to it.
        """

        def left() -> float:
            return (moment - self.now()).total_seconds()

        latest = monotonic() + left()
        while (wait := min(left(), latest - monotonic())) > 0:  # noqa: ASYNC110 - there is no event for the time of day
            await anyio.sleep(min(wait, 60.0))


class EventLog:
    """The only writer of a run.

    Args:
        seq: the number of the run's last event.
        hooks: the observers, in the order in which they are called; see `Dispatcher`.
        owner: the token of the run's owner in the store.

    Attributes:
        iteration: that of the last event.
        time_left: returns the seconds that the run still has; None without a limit.
        failed: called when nothing more can be stored; a commit raises the error as well.
        dispatcher: publishes to the observers.
    """

    def __init__(
        self,
        store: Store,
        run_id: str,
        seq: int,
        hooks: Sequence[Hooks],
        *,
        owner: str = "",
        clock: Clock = Clock(),  # noqa: B008 - it has no state
    ) -> None:
        self._store = store
        self.run_id = run_id
        self._clock = clock
        self._owner = owner
        self._seq = seq
        self.iteration = 0
        self.dispatcher = Dispatcher(hooks, self.diagnose)
        self._pending: list[Event] = []
        self._more = anyio.Event()
        self._lock = anyio.Lock(fast_acquire=True)
        self._writers: set[anyio.CancelScope] = set()
        self._waiting = False
        self._hurry = anyio.Event()
        self._flushing = anyio.CancelScope()
        self._flushed_at = 0.0
        self._failure: StoreError | None = None
        self.failed: Callable[[StoreError], None] | None = None
        self.time_left: Callable[[], float | None] = lambda: None

    def note(self, event: Event) -> None:
        """Add an event to the next group."""
        self._pending.append(event)
        self._more.set()

    def diagnose(self, text: str, iteration: int | None = None) -> None:
        """Note a notice for the user, by default of the iteration of the last event."""
        self.note(Diagnosed(**self.stamp(iteration), text=text))

    def stamp(self, iteration: int | None = None) -> dict[str, Any]:
        """Return the fields that every event has: this run, now, and by default the iteration of the last event."""
        at = self._clock.now()
        return {"run_id": self.run_id, "at": at, "iteration": self.iteration if iteration is None else iteration}

    async def commit(
        self, *events: Event, iteration: IterationRecord | None = None, run: RunRecord | None = None
    ) -> None:
        """Store and publish the pending events, and then these facts.

        A cancellation waits until that is done, so that it is never in doubt whether a fact is stored. It does not wait
        for a store that cannot be written; then the facts are not stored, and the pending events stay pending.

        Raises:
            StoreError: the store failed.
        """
        with self._shielded():
            async with self._lock:
                self.check()
                await self._write(events, iteration=iteration, run=run)

    async def publish_unkept(self, event: Event) -> None:
        """Publish the end of a run with a failed store, so that viewers do not wait for it forever."""
        with anyio.CancelScope(shield=True):
            async with self._lock:
                self._seq += 1
                await self.dispatcher.publish(evolve(event, seq=self._seq))

    async def flush_groups(self) -> None:
        """Commit the noted events, at most every 100 ms, until `close` or until the store has failed."""
        with self._flushing:
            while self._failure is None:
                await self._more.wait()
                await anyio.sleep(max(_GROUP / 2, self._flushed_at + _GROUP - monotonic()))
                with self._shielded():
                    async with self._lock:
                        if self._failure is None:
                            await self._write_group()

    def check(self) -> None:
        """Raise the `StoreError` after which nothing more can be stored, if there was one."""
        if self._failure is not None:
            raise self._failure

    def fail(self, error: StoreError) -> None:
        """Store nothing from now on."""
        self._failure = self._failure or error
        self.hurry()

    def hurry(self) -> None:
        """Try a store that cannot be written once more, and then wait no longer."""
        self._store.hurry()
        self._hurry.set()

    def close(self) -> None:
        """End `flush_groups`; events that are still pending are lost, so commit first."""
        self._flushing.cancel()

    @contextmanager
    def _shielded(self) -> Generator[None]:
        """Shield from cancellation, except while waiting for the store."""
        with anyio.CancelScope(shield=not self._waiting) as scope:
            self._writers.add(scope)
            try:
                yield
            finally:
                self._writers.discard(scope)

    async def _write_group(self) -> None:
        try:
            await self._write(())
        except StoreError as error:
            if self.failed is not None:
                self.failed(error)

    async def _write(
        self, facts: Sequence[Event], *, iteration: IterationRecord | None = None, run: RunRecord | None = None
    ) -> None:
        """Store and publish the pending events and the facts; if storing fails, all of them stay pending."""
        taken = len(self._pending)
        numbered = self._numbered((*self._pending[:taken], *facts))
        kept = [event for event in numbered if event.seq]
        if kept or iteration or run:
            try:
                await self._keep(kept, iteration=iteration, run=run)
            except StoreError as error:
                self._failure = self._failure or error
                raise
        del self._pending[:taken]
        if taken and not self._pending:  # else `flush_groups` may be waiting for this very one
            self._more = anyio.Event()
        self._seq += len(kept)
        self._flushed_at = monotonic()
        for event in numbered:
            await self.dispatcher.publish(event)

    async def _keep(self, kept: Sequence[Event], **more: Any) -> None:
        """Append, and try again for as long as the problem may pass by itself and the run has time."""
        try:
            await self._store.append(self.run_id, kept, owner=self._owner, **more)
        except StoreError as error:
            self.check()
            if not error.passing:
                raise
            await self.dispatcher.publish(Paused(**self.stamp(), reason=f"{error.problem} {_TRIES_AGAIN}"))
            left = self.time_left()
            timer = asyncio.get_running_loop().call_later(_LONGEST_WAIT if left is None else left, self.hurry)
            try:
                await self._keep_trying(kept, **more)
            finally:
                timer.cancel()
            await self.dispatcher.publish(Resumed(**self.stamp()))

    async def _keep_trying(self, kept: Sequence[Event], **more: Any) -> None:
        """Append after a failure; raise when there is hurry, or when the problem is one that stays."""
        pause = _FIRST_RETRY
        while True:
            await self._wait(pause)
            try:
                return await self._store.append(self.run_id, kept, owner=self._owner, **more)
            except StoreError as error:
                self.check()
                if not error.passing:
                    raise
                if self._hurry.is_set():
                    raise _not_kept(error, self.run_id, kept, more.get("iteration")) from error
            pause = min(2 * pause, _LONGEST_RETRY)

    async def _wait(self, seconds: float) -> None:
        self._reshield(waiting=True)
        try:
            with anyio.move_on_after(seconds):
                await self._hurry.wait()
        finally:
            self._reshield(waiting=False)

    def _reshield(self, *, waiting: bool) -> None:
        self._waiting = waiting
        for scope in self._writers:
            scope.shield = not waiting

    def _numbered(self, events: Sequence[Event]) -> list[Event]:
        """Return the events with their numbers in the run; pieces of messages have none."""
        numbered: list[Event] = []
        seq = self._seq
        for event in events:
            self.iteration = event.iteration
            if isinstance(event, MessageStreamed):
                numbered.append(event)
            else:
                seq += 1
                numbered.append(evolve(event, seq=seq))
        return numbered


def _not_kept(error: StoreError, run_id: str, events: Sequence[Event], iteration: IterationRecord | None) -> StoreError:
    number = events[-1].iteration if events else 0
    lost = f"the end of iteration {iteration.number}" if iteration else f"{len(events)} events of iteration {number}"
    return StoreError(
        f"{error.problem} Not kept: {lost}.",
        f"{error.remedy} Then `ralph resume {run_id}` continues; what the agent did is in the workspace.".strip(),
    )


_logger = logging.getLogger("ralph.hooks")

_PATIENCE = 10.0
_CHANCES = 3
_NAMED = 20


class Objection(NamedTuple):
    """A veto, with the observer that cast it."""

    observer: str
    reason: str


class Dispatcher:
    """The observers of a run.

    Args:
        hooks: in the order in which they are called.
        complain: called once for each observer's method and problem.

    Attributes:
        complaints: the reports about skipped observers.
        failures: how often each observer raised, took too long or returned nonsense, by its class and method.
        vetoes: how many each observer has cast, by its class.
    """

    def __init__(self, hooks: Sequence[Hooks], complain: Callable[[str], None]) -> None:
        self._hooks = list(hooks)
        self._complain = complain
        self._hanging: dict[int, int] = {}
        self._slow: Counter[int] = Counter()
        self._raised: set[int] = set()
        self.complaints: list[str] = []
        self.failures: Counter[str] = Counter()
        self.vetoes: Counter[str] = Counter()

    def account(self) -> str:
        """Return how often observers failed and vetoed, in a sentence or two; empty if none did."""
        counted = (("Observers that failed", self.failures), ("Vetoes", self.vetoes))
        return " ".join(
            f"{what}: {', '.join(f'{name} {_times(count)}' for name, count in counts.most_common(_NAMED))}."
            for what, counts in counted
            if counts
        )

    async def publish(self, event: Event) -> None:
        """Call every observer with an event; `on_event` comes first."""
        for hooks in tuple(self._hooks):
            for name in ("on_event", f"on_{event.type}"):
                if (method := _own(hooks, name)) is not None:
                    await self._call(hooks, name, method, event, event.iteration)

    async def ask(self, due: IterationDue) -> list[Objection]:
        """Return the vetoes against the next iteration, or against a claim of completion."""
        name = "before_completion" if isinstance(due, CompletionDue) else "before_iteration"
        objections: list[Objection] = []
        for hooks in tuple(self._hooks):
            if (method := _own(hooks, name)) is None:
                continue
            said = await self._call(hooks, name, method, due, due.iteration)
            if isinstance(said, Veto):
                self.vetoes[type(hooks).__name__] += 1
                objections.append(Objection(type(hooks).__name__, said.reason))
            elif said is not None:
                self._failed(hooks, name, f"gave a {type(said).__name__}, which is not a Veto")
        return objections

    async def _call(
        self, hooks: Hooks, name: str, method: Callable[[Any], Awaitable[object]], about: object, iteration: int
    ) -> object:
        """Return the answer of an observer; None if it fails, hangs, or has hung in this iteration."""
        if self._hanging.get(id(hooks)) == iteration:
            return None
        scope = anyio.CancelScope(deadline=anyio.current_time() + _PATIENCE)
        answer: object = None
        try:
            with scope:
                answer = await method(about)
        except BaseException as error:
            pass_on(error)
            if id(hooks) not in self._raised:
                self._raised.add(id(hooks))
                _logger.exception("%s of the observer %s failed; the run continues", name, type(hooks).__name__)
            show_traceback(error)
            self._failed(hooks, name, f"failed ({type(error).__name__})")
        if scope.cancelled_caught:
            self._hung(hooks, name, iteration)
        return answer

    def _hung(self, hooks: Hooks, name: str, iteration: int) -> None:
        self._hanging[id(hooks)] = iteration
        self._slow[id(hooks)] += 1
        what = f"took more than {_PATIENCE:g} seconds"
        _logger.warning("%s of the observer %s %s; the run continues", name, type(hooks).__name__, what)
        self._failed(hooks, name, what)
        if self._slow[id(hooks)] == _CHANCES:
            self._hooks = [each for each in self._hooks if each is not hooks]
            _logger.warning("%s is too slow: it gets no more events", type(hooks).__name__)
            told = f"The observer {type(hooks).__name__} is too slow: it gets no more events."
            self.complaints.append(told)
            self._complain(told)

    def _failed(self, hooks: Hooks, name: str, what: str) -> None:
        called = f"{type(hooks).__name__}.{name}"
        self.failures[called] += 1
        told = f"{named(f'The observer {called}', maker(hooks))} {what}; the run continues without it."
        if told not in self.complaints:
            self.complaints.append(told)
            self._complain(told)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _own(hooks: Hooks, name: str) -> Callable[[Any], Awaitable[object]] | None:
    """Return a method that an observer has overridden; None if it has not."""
    try:
        method = getattr(hooks, name, None)
    except Exception:
        _logger.exception("%s cannot be read", type(hooks).__name__)
        return None
    if method is None or getattr(method, "__func__", None) is getattr(Hooks, name, None):
        return None
    return cast("Callable[[Any], Awaitable[object]]", method)


_FAR_BEHIND = 1_000
"""Unread events from which on pieces of unfinished messages are dropped."""


class EventStream(Hooks):
    """An observer that keeps the events of a run until they are read; it never delays the run."""

    def __init__(self) -> None:
        self._unread = asyncio.Queue[Event | None]()

    async def on_event(self, event: Event) -> None:
        if self._unread.qsize() < _FAR_BEHIND or not isinstance(event, MessageStreamed):
            self._unread.put_nowait(event)

    def end(self) -> None:
        """Let the reader stop after the last unread event."""
        self._unread.put_nowait(None)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        if (event := await self._unread.get()) is None:
            raise StopAsyncIteration
        return event
