"""The fleet behind a URL: tasks in, control over them, and what they do, for commands, views and workers."""

import asyncio
import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from time import monotonic, sleep
from typing import Any, Self, TypeVar

from ralph.errors import StoreError, UsageError
from ralph.fleet.records import Entry, FleetLimits, FleetStatus, Occurrence
from ralph.fleet.tables import Tables
from ralph.fleet.task import Task
from ralph.store import database_named, default_path, open_store

_T = TypeVar("_T")

_PATIENCE = 10.0
"""Seconds for which a call is tried again while the database is busy, or its connection is lost."""

_BETWEEN_TRIES = 0.2


class Fleet:
    """The tasks and workers in a database. Use it in `async with`.

    Every method raises `StoreError` if the database fails, and those that name a task raise `UsageError` if there is
    no such task.

    Args:
        url: of the store, as for `ralph run --store`; None for the user's own.
        patience: seconds for which a call is tried again if the database cannot be reached.
    """

    def __init__(self, url: str | None = None, *, patience: float = _PATIENCE) -> None:
        self.url = str(default_path()) if url is None else url
        self._database = database_named(self.url)
        self._patience = patience
        self._tables: Tables | None = None
        self._thread: ThreadPoolExecutor | None = None

    @property
    def place(self) -> str:
        """The database's name for the user, without passwords."""
        return self._database.place

    async def __aenter__(self) -> Self:
        async with open_store(self.url):  # it makes a new database one of Ralph's
            pass
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ralph-fleet")
        try:
            await self.do(Tables.now)
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.submit(self._drop)
            thread.shutdown(wait=False)

    async def submit(self, tasks: Sequence[Task], occurrence: Occurrence | None = None) -> list[str]:
        """Add tasks to the queue, all or none; return their ids.

        Args:
            tasks: at least one.
            occurrence: of a schedule, which advances together with them; no task is added if it has done so already.

        Raises:
            UsageError: an address or a check is wrong, a name is taken, or `after` names an unknown task or a circle.
        """
        from ralph.fleet.mirror import require_startable

        require_startable(tasks)
        _require_order(tasks)
        now = datetime.now(UTC)
        rows = [_row(task, now) for task in tasks]
        needs = [(str(row["id"]), name) for row, task in zip(rows, tasks, strict=True) for name in task.after]
        names = [task.name for task in tasks if task.name]
        added = await self.do(Tables.submit, rows, needs, names, occurrence)
        return [row["id"] for row in rows] if added else []

    async def find(self, name: str) -> Entry:
        """Return a task by its id, the beginning of it, or its name."""
        found = await self.do(Tables.find, name)
        if len(found) == 1:
            return found[0]
        if found:
            alike = ", ".join(entry.id for entry in found)
            raise UsageError(f"Several tasks begin with {name[:80]!r}: {alike} ….", "Give more of the id.")
        raise UsageError(f"There is no task {name[:80]!r} in the fleet.", "`ralph fleet status --all` lists them.")

    async def entries(self, states: Sequence[str] = (), limit: int = 100) -> list[Entry]:
        """Return the tasks in some states, those that run first; by default in any."""
        return await self.do(Tables.entries, tuple(states), limit)

    async def needed(self, task_id: str) -> list[Entry]:
        """Return the tasks that a task still waits for."""
        return await self.do(Tables.needed, task_id)

    async def status(self) -> FleetStatus:
        """Return the fleet at a glance."""
        return await self.do(Tables.status)

    async def limits(self, limits: FleetLimits | None = None) -> FleetLimits:
        """Return the limits of the fleet, after setting them if they are given."""
        return await self.do(Tables.limits, limits)

    async def pause(self, task_id: str) -> Entry:
        """Pause a task: at the end of its iteration, or at once if it is queued. Return it as it was."""
        return await self.do(Tables.want, task_id, "pause")

    async def stop(self, task_id: str) -> Entry:
        """Stop a task: its agent's turn ends at once. Return it as it was."""
        return await self.do(Tables.want, task_id, "stop")

    async def resume(self, task_id: str) -> Entry:
        """Put a task that is paused, stopped or set aside back into the queue, with its run; return it as it was."""
        return await self.do(Tables.requeue, task_id, anew=False)

    async def retry(self, task_id: str) -> Entry:
        """Put a task that has ended back into the queue, for a new run; return it as it was."""
        return await self.do(Tables.requeue, task_id, anew=True)

    async def schedules(self) -> list[dict[str, Any]]:
        """Return the schedules by name."""
        return await self.do(Tables.schedules)

    async def do(self, call: Callable[..., _T], *args: Any, **named: Any) -> _T:
        """Make a call on the tables, in a thread of its own, over a new connection if the last one was lost."""
        if self._thread is None:
            raise RuntimeError("Enter the fleet with `async with` first.")
        made = asyncio.get_running_loop().run_in_executor(self._thread, lambda: self._done(call, args, named))
        made.add_done_callback(lambda done: done.cancelled() or done.exception())  # seen, also if no one waits any more
        return await asyncio.shield(made)

    def _done(self, call: Callable[..., _T], args: Sequence[Any], named: Mapping[str, Any]) -> _T:
        end = monotonic() + self._patience
        while True:
            try:
                tables = self._tables = self._tables or Tables(self._database)
                return call(tables, *args, **named)
            except self._database.errors as error:
                explained = self._database.explain(error)
                if self._database.is_lost(error):
                    self._drop()
                if not explained.passing or monotonic() > end:
                    raise explained from error
            except StoreError as error:
                if not error.passing or monotonic() > end:
                    raise
            sleep(_BETWEEN_TRIES)

    def _drop(self) -> None:
        tables, self._tables = self._tables, None
        if tables is not None:
            with suppress(*self._database.errors):
                tables.close()


def _row(task: Task, now: datetime) -> dict[str, Any]:
    return {
        "id": f"{now:%Y%m%d-%H%M%S}-{secrets.token_hex(4)}",
        "name": task.name,
        "version": task.version,
        "state": "queued",
        "priority": task.priority,
        "place": task.place,
        "labels": json.dumps(sorted(set(task.labels))),
        "body": task.model_dump_json(exclude_defaults=True),
    }


def _require_order(tasks: Sequence[Task]) -> None:
    """Raise `UsageError` if two tasks have one name, or if some wait for each other in a circle."""
    from graphlib import CycleError, TopologicalSorter

    names = [task.name for task in tasks if task.name]
    if twice := next((name for name in names if names.count(name) > 1), None) if len(set(names)) < len(names) else None:
        raise UsageError(f"Two tasks have the name {twice!r}.", "Give each a name of its own.")
    waits = {task.name or f"\0{number}": set(task.after) for number, task in enumerate(tasks) if task.after}
    try:
        TopologicalSorter(waits).prepare()
    except CycleError as error:
        circle = " after ".join(map(str, error.args[1]))
        raise UsageError(f"These tasks wait for each other: {circle}.", "Leave out one `after`.") from None
