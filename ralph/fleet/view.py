"""The fleet as viewers show it: workers, queue, throughput and cost, and its page of the dashboard."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from pydantic import BaseModel

if TYPE_CHECKING:
    from ralph.watch.web import Page, PageRequest

MOST_ROWS = 100
"""Of the tasks that viewers show: those that run, then the next ones."""


class WorkerView(BaseModel, frozen=True):
    """A worker.

    Attributes:
        state: "alive", "draining" or "lost", which is one whose lease has expired.
        busy: of its slots.
        seen: seconds since its last sign of life.
    """

    name: str
    state: str = "alive"
    slots: int = 0
    busy: int = 0
    version: str = ""
    labels: tuple[str, ...] = ()
    seen: float = 0.0


class TaskView(BaseModel, frozen=True):
    """A task of the fleet.

    Attributes:
        id: of its run; empty before it has one.
        why: why it waits or has ended.
    """

    id: str
    name: str = ""
    task: str = ""
    place: str = ""
    state: str = "queued"
    worker: str = ""
    attempt: int = 0
    iterations: int = 0
    why: str = ""


class FleetView(BaseModel, frozen=True):
    """The fleet at one moment.

    Attributes:
        counts: tasks by their state.
        hour: tasks that ended within the last hour.
        cost: of this month, in US dollars.
        budget: for a month; None without one.
        paused: no new run starts.
    """

    workers: tuple[WorkerView, ...] = ()
    counts: dict[str, int] = {}
    hour: int = 0
    cost: float = 0.0
    budget: float | None = None
    paused: bool = False
    tasks: tuple[TaskView, ...] = ()

    @property
    def alive(self) -> int:
        return sum(worker.state != "lost" for worker in self.workers)

    @property
    def slots(self) -> int:
        return sum(worker.slots for worker in self.workers if worker.state != "lost")

    @property
    def busy(self) -> int:
        return sum(worker.busy for worker in self.workers if worker.state != "lost")


Read = Callable[[], Awaitable[FleetView]]
"""Returns the fleet as it is now."""


def fleet_page(read: Read) -> "Page":
    """Return the fleet's page of the dashboard, which the browser keeps up to date."""
    from markupsafe import Markup

    from ralph.watch.web import Page
    from ralph.watch.web.render import html

    async def show(request: "PageRequest") -> str:
        return Markup(html("fleet.html", fleet=await read()))  # noqa: S704 - made by a template that escapes

    return Page("fleet", "Fleet", show)
