"""The fleet in the terminal app: its figures, workers and tasks, live."""

from asyncio import sleep
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Footer, Static

from ralph.fleet.view import FleetView, Read, TaskView, WorkerView
from ralph.system.text import one_line
from ralph.watch.tui.rows import Cell, Column, Rows, time_text
from ralph.watch.tui.runs import sign_of

if TYPE_CHECKING:
    from ralph.watch.tui.app import WatchApp

_EVERY = 1.0
_TONES = {"alive": "good", "draining": "warn", "lost": "bad"}


def _plain(text: str) -> Cell:
    return one_line(text, 400), "plain"


_WORKERS: list[Column[WorkerView]] = [
    Column[WorkerView]("worker", 0, lambda each: _plain(each.name)),
    Column[WorkerView]("state", 9, lambda each: (one_line(each.state, 9), _TONES.get(each.state, "plain"))),
    Column[WorkerView]("busy", 9, lambda each: (f"{each.busy}/{each.slots}", "plain"), right=True),
    Column[WorkerView]("seen", 7, lambda each: (time_text(each.seen), "dim"), right=True),
    Column[WorkerView]("version", 12, lambda each: (one_line(each.version, 40), "dim"), from_width=70),
    Column[WorkerView]("labels", 20, lambda each: _plain(", ".join(each.labels)), from_width=90),
]
_TASKS: list[Column[TaskView]] = [
    Column[TaskView]("", 1, lambda each: sign_of(each.state)),
    Column[TaskView]("state", 11, lambda each: (one_line(each.state.replace("_", " "), 11), sign_of(each.state)[1])),
    Column[TaskView]("task", 0, lambda each: _plain(each.task)),
    Column[TaskView]("it.", 5, lambda each: (str(each.iterations), "plain"), right=True),
    Column[TaskView]("try", 4, lambda each: (str(each.attempt), "dim"), right=True),
    Column[TaskView]("worker", 20, lambda each: _plain(each.worker), from_width=80),
    Column[TaskView]("place", 30, lambda each: (one_line(each.place, 200), "dim"), from_width=120),
    Column[TaskView]("why", 30, lambda each: (one_line(each.why, 200), "dim"), from_width=150),
]


def figures(fleet: FleetView) -> str:
    """Return the fleet's figures in one line."""
    counts = [f"{count:,} {state.replace('_', ' ')}" for state, count in fleet.counts.items() if count]
    budget = f" of ${fleet.budget:,.2f}" if fleet.budget is not None else ""
    parts = [
        "paused" if fleet.paused else "",
        f"{fleet.alive}/{len(fleet.workers)} workers",
        f"{fleet.busy}/{fleet.slots} slots",
        *counts,
        f"{fleet.hour:,} ended in the last hour",
        f"${fleet.cost:,.2f}{budget} this month",
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
        self._workers = Rows(_WORKERS, lambda each: each.name, empty=none, id="workers")
        none = "No task waits or runs. `ralph fleet submit` adds some."
        self._tasks = Rows(_TASKS, lambda each: each.id or each.name, empty=none, id="tasks")

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
        self._workers.show(list(fleet.workers))
        self._tasks.show(list(fleet.tasks))

    @on(Rows.Chosen)
    def action_open(self) -> None:
        """Open the run under the cursor, if it has begun."""
        chosen = self._tasks.current
        if chosen is not None and chosen.id and chosen.iterations:
            self.viewer.open_run(chosen.id)
