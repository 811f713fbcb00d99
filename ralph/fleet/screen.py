"""The fleet in the terminal app: its figures, workers and tasks, live."""

from asyncio import sleep
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Footer, Static

from ralph.fleet.records import Entry, WorkerEntry
from ralph.fleet.view import FleetView
from ralph.system.text import one_line
from ralph.watch.tui.rows import Cell, Column, Rows, time_text
from ralph.watch.tui.runs import sign_of

if TYPE_CHECKING:
    from ralph.watch.tui.app import WatchApp

_EVERY = 1.0
_TONES = {"working": "good", "draining": "warn", "lost": "bad", "stopped": "dim"}
_SIGNS = {"done": "completed", "failed": "crashed", "stopped": "cancelled", "waiting": "paused"}
_QUEUED: Cell = ("·", "dim")

Read = Callable[[], Awaitable[FleetView]]
"""Returns the fleet as it is now."""


class _Worker(NamedTuple):
    entry: WorkerEntry
    seen: float


def _plain(text: str) -> Cell:
    return one_line(text, 400), "plain"


def _sign(task: Entry) -> Cell:
    return _QUEUED if task.state == "queued" else sign_of(_SIGNS.get(task.state, task.state))


def _state(task: Entry) -> Cell:
    state = "blocked" if task.state == "queued" and task.blocked > 0 else task.state.replace("_", " ")
    return state, _sign(task)[1]


_WORKERS: list[Column[_Worker]] = [
    Column[_Worker]("worker", 0, lambda each: _plain(each.entry.name)),
    Column[_Worker]("state", 9, lambda each: (one_line(each.entry.state, 9), _TONES.get(each.entry.state, "plain"))),
    Column[_Worker]("slots", 9, lambda each: (f"{each.entry.running}/{each.entry.slots}", "plain"), right=True),
    Column[_Worker]("load", 6, lambda each: (f"{each.entry.load:.2f}", "plain"), right=True),
    Column[_Worker]("it./min", 8, lambda each: (f"{each.entry.rate:,}", "plain"), right=True),
    Column[_Worker]("seen", 7, lambda each: (time_text(each.seen), "dim"), right=True),
    Column[_Worker]("version", 12, lambda each: (one_line(each.entry.version, 40), "dim"), from_width=80),
    Column[_Worker]("labels", 20, lambda each: _plain(", ".join(each.entry.labels)), from_width=100),
]
_TASKS: list[Column[Entry]] = [
    Column[Entry]("", 1, _sign),
    Column[Entry]("state", 9, _state),
    Column[Entry]("task", 0, lambda each: _plain(FleetView.text(each))),
    Column[Entry]("it.", 5, lambda each: (str(each.iterations), "plain"), right=True),
    Column[Entry]("worker", 16, lambda each: _plain(each.worker), from_width=70),
    Column[Entry]("place", 30, lambda each: (one_line(each.place, 200), "dim"), from_width=110),
    Column[Entry]("why", 30, lambda each: (one_line(each.reason, 200), "dim"), from_width=140),
]


def figures(fleet: FleetView) -> str:
    """Return the fleet's figures in one line."""
    status, budget = fleet.status, fleet.status.limits.cost_per_month
    parts = [
        f"no task starts: {status.halted}" if status.halted else "",
        f"{len(fleet.alive)}/{len(status.workers)} workers",
        f"{fleet.busy}/{fleet.slots} slots",
        *(f"{count:,} {state.replace('_', ' ')}" for state, count in status.tasks.items() if count),
        f"{status.throughput:,} iterations/min",
        f"${status.cost:,.2f}{f' of ${budget:,.2f}' if budget is not None else ''} this month",
    ]
    return " · ".join(filter(None, parts))


class FleetScreen(Screen[None]):
    """The workers and the tasks of the fleet."""

    DEFAULT_CSS = """
    FleetScreen #figures { height: auto; padding: 0 1; background: $surface; }
    FleetScreen Rows { padding: 0 1; }
    FleetScreen #workers { height: 30%; min-height: 4; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "Open"),
        Binding("escape", "dismiss", "Back"),
    ]

    def __init__(self, viewer: "WatchApp", read: Read) -> None:
        super().__init__()
        self.viewer, self._read = viewer, read
        none = "No worker has started yet. `ralph fleet worker` starts one."
        self._workers = Rows(_WORKERS, lambda each: each.entry.name, empty=none, id="workers")
        none = "No task waits or runs. `ralph fleet submit` adds some."
        self._tasks = Rows(_TASKS, lambda each: each.id, empty=none, id="tasks")

    def compose(self) -> ComposeResult:
        yield Static(Content("Reading the fleet …"), id="figures")
        yield self._workers
        yield self._tasks
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self._tasks.focus()
        self._follow()

    @work
    async def _follow(self) -> None:
        await self.viewer.opened_store()
        while True:
            with self.viewer.reporting(self):
                if self.is_current:
                    self._show(await self._read())
            await sleep(_EVERY)

    def _show(self, fleet: FleetView) -> None:
        self.query_one("#figures", Static).update(Content(one_line(figures(fleet), 400)))
        self._workers.show([_Worker(each, fleet.seen(each)) for each in fleet.status.workers])
        self._tasks.show(list(fleet.tasks))

    @on(Rows.Chosen)
    def action_open(self) -> None:
        """Open the run under the cursor, if it has begun."""
        chosen = self._tasks.current
        if chosen is not None and chosen.run_id and chosen.iterations:
            self.viewer.open_run(chosen.run_id)
