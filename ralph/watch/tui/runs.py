"""The first screen: all runs of the store, with a filter by state and a search."""

from asyncio import sleep, to_thread
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Footer, Input, Static, Tab, Tabs

from ralph.decision.backing import short_grade
from ralph.system.text import one_line
from ralph.watch.tui.rows import Cell, Column, Rows, time_text, tokens_text

if TYPE_CHECKING:
    from ralph.records.record import RunRecord
    from ralph.store import Store
    from ralph.store.run_list import ListedRun
    from ralph.watch.tui.app import WatchApp

_FIRST = 200
"""Runs that are read before the first picture, and again every few seconds."""
_ALL = 1_000_000
_EVERY = 2.0
_NONE_LEFT = "No run matches the filter and the search; Esc clears them."
_LONG_AGO = datetime.min.replace(tzinfo=UTC)
_MOST_UNFINISHED = 500

_GROUPS = {"all": "All", "active": "Active", "completed": "Completed", "stopped": "Stopped", "crashed": "Crashed"}
_SIGNS: Mapping[str, Cell] = {
    "running": ("●", "accent"),
    "paused": ("‖", "warn"),
    "completed": ("✓", "good"),
    "cancelled": ("■", "dim"),
    "crashed": ("✗", "bad"),
}


def sign_of(state: str, *, verified: bool = True) -> Cell:
    """Return the sign of a run's state, and its tone; a completion that nothing proves is a warning."""
    return ("✓", "warn") if state == "completed" and not verified else _SIGNS.get(state, ("✗", "warn"))


def _word(run: "RunRecord | ListedRun", state: str) -> str:
    """Return a state, or the grade of a completion, in at most 12 characters."""
    graded = short_grade(verified=run.verified, already_green=run.already_green)
    return graded if state == "completed" else state.replace("_", " ")[:12]


class Shown(NamedTuple):
    """A run in the list; its texts are harmless.

    Attributes:
        searched: the lower-case text that a search looks in.
    """

    id: str
    state: str
    shown_state: Cell
    task: str
    folder: str
    started_at: datetime
    iterations: int
    duration: float
    cost: float | None
    tokens: int | None
    searched: str

    @classmethod
    def of(cls, run: "RunRecord | ListedRun", state: str, iterations: int) -> "Shown":
        usage: Any = getattr(run, "usage", run)
        task, folder = one_line(run.task, 400), one_line(run.workspace or "", 400)
        searched = f"{task}\n{run.id}\n{folder}".lower()
        shown_state = (_word(run, state), sign_of(state, verified=run.verified)[1])
        facts = (one_line(run.id, 64), state, shown_state, task, folder, run.started_at, iterations)
        return cls(*facts, run.duration if run.finished_at else 0.0, usage.cost, usage.tokens, searched)

    @property
    def group(self) -> str:
        """The filter that shows it."""
        active = self.state in {"running", "paused"}
        return "active" if active else self.state if self.state in _GROUPS else "stopped"


def _since(run: Shown) -> str:
    """Return when a run started: the time today, else the date."""
    local = run.started_at.astimezone()
    return f"{local:%H:%M}" if local.date() == datetime.now(UTC).astimezone().date() else f"{local:%Y-%m-%d}"


def _used(run: Shown) -> str:
    if run.cost is not None:
        return f"${run.cost:,.2f}"
    return "" if run.tokens is None else tokens_text(run.tokens)


def _short(folder: str) -> str:
    return f"…{folder[-29:]}" if len(folder) > 30 else folder


_COLUMNS: list[Column[Shown]] = [
    Column[Shown]("", 1, lambda run: (sign_of(run.state)[0], run.shown_state[1])),
    Column[Shown]("state", 12, lambda run: run.shown_state),
    Column[Shown]("task", 0, lambda run: (run.task, "plain")),
    Column[Shown]("folder", 30, lambda run: (_short(run.folder), "dim"), from_width=130),
    Column[Shown]("it.", 5, lambda run: (str(run.iterations), "plain"), right=True),
    Column[Shown]("used", 9, lambda run: (_used(run), "plain"), right=True, from_width=70),
    Column[Shown](
        "took", 6, lambda run: (time_text(run.duration) if run.duration else "", "dim"), right=True, from_width=90
    ),
    Column[Shown]("started", 10, lambda run: (_since(run), "dim"), right=True),
    Column[Shown]("run", 20, lambda run: (run.id, "dim"), from_width=150),
]


class RunsScreen(Screen[None]):
    """All runs of the store, the newest first."""

    DEFAULT_CSS = """
    RunsScreen #bar { height: 1; padding: 0 1; background: $surface; }
    RunsScreen #title { width: 13; }
    RunsScreen #place { width: auto; max-width: 45%; color: $foreground 55%; }
    RunsScreen #search { width: 1fr; margin-right: 2; height: 1; background: $panel; padding: 0 1; }
    RunsScreen Tabs { padding: 0 1; }
    RunsScreen Rows { padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "Open", show=True),
        Binding("slash", "search", "Search", key_display="/"),
        Binding("f", "filter", "Filter"),
        Binding("escape", "clear", "Clear", show=False),
    ]

    def __init__(self, viewer: "WatchApp") -> None:
        super().__init__()
        self.viewer = viewer
        self._runs: dict[str, Shown] = {}
        self._none_yet = f"No run yet. `ralph run{viewer.source.option}` makes one."
        empty = self._none_yet if viewer.source.missing() else "Reading the store …"
        self.list = Rows(_COLUMNS, lambda run: run.id, empty=empty, id="runs")

    def compose(self) -> ComposeResult:
        with Horizontal(id="bar"):
            yield Static(Content.styled("ralph watch", "bold"), id="title")
            yield Input(placeholder="/ search task, run or folder", id="search", compact=True)
            yield Static(Content(one_line(self.viewer.source.place, 200)), id="place")
        yield Tabs(*(Tab(label, id=name) for name, label in _GROUPS.items()))
        yield self.list
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        found = self.viewer.source.quick(_FIRST) or ()
        self._add(Shown.of(run, run.stop_reason or run.state, run.iterations) for run in found)
        self.list.focus()
        self.call_after_refresh(self._read_all)

    @work
    async def _read_all(self) -> None:
        """Read the runs that are not shown yet, then look for new ones every few seconds."""
        rest = await to_thread(self.viewer.source.quick, _ALL) if len(self._runs) >= _FIRST else []
        with self.viewer.reporting(self):
            if rest:
                self._add(Shown.of(run, run.stop_reason or run.state, run.iterations) for run in rest[_FIRST:])
        store = await self.viewer.opened_store()
        most = _FIRST if rest and self._runs else _ALL
        while True:
            with self.viewer.reporting(self):
                if self.is_current:
                    await self._refresh(store, most)
                    await self._look_at_unfinished(store)
                    most = _FIRST
                    self.list.empty = _NONE_LEFT if self._runs else self._none_yet
            await sleep(_EVERY)

    async def _refresh(self, store: "Store", most: int) -> None:
        """Show the newest runs as they are now; those among them that were removed disappear."""
        found = await store.runs(limit=most)
        oldest = found[-1].started_at if len(found) == most else _LONG_AGO
        ids = {run.id for run in found}
        self._runs = {key: run for key, run in self._runs.items() if key in ids or run.started_at < oldest}
        await self._show_runs(store, found)

    async def _look_at_unfinished(self, store: "Store") -> None:
        """Read the older runs again that may still be running."""
        old = [run.id for run in self._sorted()[_FIRST:] if run.group == "active"][:_MOST_UNFINISHED]
        await self._show_runs(store, [run for each in old if (run := await store.run(each))])

    async def _show_runs(self, store: "Store", runs: "Iterable[RunRecord]") -> None:
        rows: list[Shown] = []
        for run in runs:
            number = run.iterations if run.finished_at else await store.last_iteration(run.id)
            rows.append(Shown.of(run, self.viewer.source.state_of(run), number))
        self._add(rows)

    def _add(self, runs: Iterable[Shown]) -> None:
        self._runs |= {run.id: run for run in runs}
        self._show()

    def _sorted(self) -> list[Shown]:
        return sorted(self._runs.values(), key=lambda run: (run.started_at, run.id), reverse=True)

    def _show(self) -> None:
        """Show the runs that the filter and the search leave."""
        words = self.query_one("#search", Input).value.lower().split()
        tabs = self.query_one(Tabs)
        found = [run for run in self._sorted() if all(word in run.searched for word in words)]
        counts = {name: sum(run.group == name for run in found) for name in _GROUPS} | {"all": len(found)}
        for name, label in _GROUPS.items():
            tabs.query_one(f"#{name}", Tab).label = Content(f"{label} {counts[name]:,}")
        group = tabs.active or "all"
        shown = found if group == "all" else [run for run in found if run.group == group]
        self.list.show(shown)

    @on(Input.Changed)
    @on(Tabs.TabActivated)
    def _changed(self) -> None:
        self._show()

    @on(Input.Submitted)
    def action_leave(self) -> None:
        """Go from the search to the list."""
        self.list.focus()

    @on(Rows.Chosen)
    def action_open(self) -> None:
        """Open the run under the cursor."""
        if self.list.current is not None:
            self.viewer.open_run(self.list.current.id)

    def action_search(self) -> None:
        """Go to the search."""
        self.query_one(Input).focus()

    def action_filter(self) -> None:
        """Show the next group of runs."""
        self.query_one(Tabs).action_next_tab()

    def action_clear(self) -> None:
        """Clear the search, then the filter."""
        search, tabs = self.query_one(Input), self.query_one(Tabs)
        if search.value:
            search.value = ""
        else:
            tabs.active = "all"
        self.list.focus()
