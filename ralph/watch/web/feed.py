"""Live pages: each run that is watched is followed once, whoever many watch it, and sent as server-sent events.

What is sent is rendered once for all viewers. A viewer that does not read is dropped after some messages, and its
browser comes back and catches up; the run itself does not notice any of them.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from ralph.errors import RalphError
from ralph.records.events import Event, IterationFinished
from ralph.watch.web.library import TAIL, Library, Overview, changes_run
from ralph.watch.web.render import html
from ralph.watch.web.timeline import entries

MOST_VIEWERS = 300
_TOGETHER = 0.15
"""Seconds in which events are sent together."""

_QUIET = 5.0
"""Seconds without an event after which the state is looked at: a process that dies stores none."""

_UNREAD = 100
_MOST_ROWS = 20


class Sent(NamedTuple):
    """A message to viewers, with the `seq` that it ends at."""

    seq: int
    data: bytes


_END = Sent(0, b"event: end\ndata: end\n\n")
_AGAIN = Sent(0, b"event: again\ndata: again\n\n")
_ALIVE = b": alive\n\n"
Viewer = asyncio.Queue[Sent]


@dataclass
class Channel:
    """One run that is watched."""

    run: Overview
    seq: int
    viewers: set[Viewer] = field(default_factory=set[Viewer])
    task: "asyncio.Task[None] | None" = None
    shown: str = ""

    def send(self, message: Sent) -> None:
        """Give every viewer the message; those with many unread ones are dropped."""
        for viewer in list(self.viewers):
            if viewer.qsize() >= _UNREAD:
                self.viewers.discard(viewer)
                while not viewer.empty():
                    viewer.get_nowait()
                viewer.put_nowait(_AGAIN)
            else:
                viewer.put_nowait(message)


class Feed:
    """The channels of all runs that are watched."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._channels: dict[str, Channel] = {}
        self._count = 0

    @property
    def is_full(self) -> bool:
        """True if no further viewer is accepted."""
        return self._count >= MOST_VIEWERS

    async def stream(self, run_id: str, after: int) -> AsyncGenerator[bytes]:
        """Yield the messages of a run from an event on, until it ends."""
        self._count += 1
        viewer: Viewer = asyncio.Queue()
        channel: Channel | None = None
        try:
            channel = await self._channel(run_id)
            channel.viewers.add(viewer)
            missed = await self._missed(channel, after)
            yield missed.data
            while missed is not _AGAIN:
                try:
                    message = await asyncio.wait_for(viewer.get(), _QUIET * 3)
                except TimeoutError:
                    yield _ALIVE
                    continue
                yield message.data
                if message is _END or message is _AGAIN:
                    return
        finally:
            self._count -= 1
            if channel is not None:
                self._leave(run_id, channel, viewer)

    async def _channel(self, run_id: str) -> Channel:
        """Return the channel of a run, which is followed from now on."""
        if run_id not in self._channels:
            run = await self._library.overview(run_id)
            if run_id not in self._channels:  # another viewer may have come meanwhile
                channel = self._channels[run_id] = Channel(run, run.events[-1].seq if run.events else 0)
                channel.task = asyncio.create_task(self._follow(run_id, channel))
        return self._channels[run_id]

    def _leave(self, run_id: str, channel: Channel, viewer: Viewer) -> None:
        channel.viewers.discard(viewer)
        if not channel.viewers:
            if channel.task is not None:
                channel.task.cancel()
            if self._channels.get(run_id) is channel:
                del self._channels[run_id]

    async def _missed(self, channel: Channel, after: int) -> Sent:
        """Return what a viewer has missed since it saw its page; of very much, that it should open it again."""
        until = channel.seq
        if until - after > TAIL:
            return _AGAIN
        events = await self._library.events(channel.run.run, after=after) if after < until else []
        return self._message(channel.run, [event for event in events if event.seq <= until], until)

    async def _follow(self, run_id: str, channel: Channel) -> None:
        """Send the events of a run to its viewers, together with those that come at about the same time."""
        last = _AGAIN
        try:
            async with aclosing(_batches(self._library.store.follow(run_id, after=channel.seq))) as batches:
                async for batch in batches:
                    await self._take(channel, batch)
            last = _END
        except RalphError:  # of the store: the browser comes back, and its page says so
            pass
        finally:
            channel.send(last)
            if self._channels.get(run_id) is channel:
                del self._channels[run_id]

    async def _take(self, channel: Channel, batch: list[Event]) -> None:
        run = channel.run
        view = run.view
        for event in batch:
            view = view.after(event)
        if not batch or any(map(changes_run, batch)):
            fresh = await self._library.run(run.run.id)
            row = await self._library.row(fresh)
            last = await self._library.store.iteration(fresh.id, row.iterations) if row.iterations else None
            run = run._replace(run=fresh, row=row, last=last)
        channel.run = run._replace(view=view, events=[])
        channel.seq = batch[-1].seq if batch else channel.seq
        message = self._message(channel.run, batch, channel.seq)
        if batch or message.data != channel.shown.encode():
            channel.shown = "" if batch else message.data.decode()
            channel.send(message)

    @staticmethod
    def _message(run: Overview, events: list[Event], seq: int) -> Sent:
        """Return the message that brings a page up to date: the state, new entries and new iterations."""
        finished = [event for event in events if isinstance(event, IterationFinished)][-_MOST_ROWS:]
        parts = {
            "status": html("status.html", run=run),
            "entries": html("timeline.html", entries=entries(events, run.row.workspace)[::-1], id=run.row.id),
            "rows": html("iterations.html", iterations=finished[::-1], id=run.row.id),
        }
        return Sent(seq, f"id: {seq}\ndata: {json.dumps(parts)}\n\n".encode())


async def _batches(events: AsyncGenerator[Event]) -> AsyncGenerator[list[Event]]:
    """Yield events in groups of those that come within a moment; an empty group after a while without any."""
    waiting: asyncio.Queue[Event | Exception | None] = asyncio.Queue(TAIL)
    reading = asyncio.create_task(_read(events, waiting))
    try:
        while True:
            try:
                batch = [await asyncio.wait_for(waiting.get(), _QUIET)]
            except TimeoutError:
                yield []
                continue
            await asyncio.sleep(_TOGETHER)
            while not waiting.empty():
                batch.append(waiting.get_nowait())
            if found := [event for event in batch if event is not None and not isinstance(event, Exception)]:
                yield found
            for failure in (event for event in batch if isinstance(event, Exception)):
                raise failure
            if None in batch:
                return
    finally:
        reading.cancel()
        with suppress(asyncio.CancelledError):
            await reading


async def _read(events: AsyncIterator[Event], into: "asyncio.Queue[Event | Exception | None]") -> None:
    try:
        async for event in events:
            await into.put(event)
    except RalphError as error:
        await into.put(error)
    else:
        await into.put(None)
