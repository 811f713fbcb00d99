"""The fleet as viewers show it: read without changing the store, and its page of the dashboard."""

from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import anyio.to_thread

from ralph.fleet.fleet import Fleet
from ralph.fleet.records import OPEN, Entry, FleetLimits, FleetStatus, WorkerEntry
from ralph.store import database_named, default_path

if TYPE_CHECKING:
    from ralph.watch.web import Page, PageRequest

MOST_TASKS = 100
"""That viewers show: those that run, the last that failed, then the next ones."""
_MOST_FAILED = 10

_PATIENCE = 2.0
_NOTHING = FleetStatus(
    at=0.0, tasks={}, ready=0, workers=(), throughput=0, cost=0.0, iterations=0, limits=FleetLimits()
)


class FleetView(NamedTuple):
    """The fleet at one moment, with the tasks that have not ended and the last that failed."""

    status: FleetStatus = _NOTHING
    tasks: tuple[Entry, ...] = ()

    @property
    def alive(self) -> list[WorkerEntry]:
        """The workers that are alive."""
        return [worker for worker in self.status.workers if worker.state in {"working", "draining"}]

    @property
    def slots(self) -> int:
        return sum(worker.slots for worker in self.alive)

    @property
    def busy(self) -> int:
        return sum(worker.running for worker in self.alive)

    @staticmethod
    def text(task: Entry) -> str:
        """Return a task's text, also of one that a newer worker or command has stored; empty if it has none."""
        return task.text

    def seen(self, worker: WorkerEntry) -> float:
        """Return the seconds since a worker's last sign of life."""
        return max(0.0, self.status.at - worker.seen_at)


class FleetReader:
    """Reads the fleet in a store; one that has none stays without.

    Args:
        url: of the store; None for the user's own.
    """

    def __init__(self, url: str | None) -> None:
        self._url = str(default_path()) if url is None else url
        self._fleet: Fleet | None = None

    async def __call__(self) -> FleetView:
        """Return the fleet as it is now. Raises `StoreError`."""
        if self._fleet is None:
            if not await anyio.to_thread.run_sync(has_fleet, self._url):
                return FleetView()
            self._fleet = await Fleet(self._url, patience=_PATIENCE).__aenter__()
        found = await self._fleet.entries(OPEN, MOST_TASKS)
        found += await self._fleet.entries(("failed",), _MOST_FAILED)
        return FleetView(await self._fleet.status(), tuple(sorted(found, key=lambda each: each.state == "queued")))

    async def aclose(self) -> None:
        """Leave the store."""
        fleet, self._fleet = self._fleet, None
        if fleet is not None:
            await fleet.__aexit__()


def has_fleet(url: str) -> bool:
    """Return whether a store has the tables of a fleet; False if it cannot be reached. Blocks."""
    from sqlalchemy import inspect

    database = database_named(url)
    path = getattr(database, "path", None)
    if path is not None and not path.exists():
        return False
    with suppress(*database.errors):
        connection = database.connect()
        try:
            with connection.begin():
                return inspect(connection).has_table("fleet_tasks")
        finally:
            connection.close()
    return False


def fleet_page(read: FleetReader) -> "Page":
    """Return the fleet's page of the dashboard, which the browser keeps up to date."""
    from markupsafe import Markup

    from ralph.watch.web import Page
    from ralph.watch.web.render import html

    async def show(request: "PageRequest") -> str:
        return Markup(html("fleet.html", fleet=await read()))  # noqa: S704 - made by a template that escapes

    return Page("fleet", "Fleet", show)
