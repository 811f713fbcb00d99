"""The screen of one run: its figures, its iterations, and five views of the iteration that is chosen."""

from asyncio import sleep
from contextlib import aclosing
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.events import Resize
from textual.screen import Screen
from textual.widgets import ContentSwitcher, Footer, Static, Tab, Tabs

from ralph.errors import RalphError, naming_store
from ralph.records.events import Event
from ralph.records.record import IterationRecord
from ralph.system.text import one_line
from ralph.watch.tui.dialogs import Ask, Confirm, Reader
from ralph.watch.tui.reading import Facts, Reading
from ralph.watch.tui.rows import Cell, Column, Rows, time_text, tokens_text
from ralph.watch.tui.texts import MUTED, patch
from ralph.watch.tui.views import (
    breaker_view,
    event_cells,
    event_content,
    header,
    message_view,
    plots_view,
    shown_events,
)

if TYPE_CHECKING:
    from ralph.watch.tui.app import WatchApp
    from ralph.watch.tui.source import Kind

_VIEWS = {"message": "Message", "timeline": "Timeline", "diff": "Diff", "breaker": "Breaker", "plots": "Plots"}
_SIGNS: dict[str, Cell] = {
    "continue": ("→", "dim"),
    "complete": ("✓", "good"),
    "halt": ("✗", "bad"),
    "pause": ("‖", "warn"),
    "running": ("●", "accent"),
}
_STATE_TONES = {"done": "good", "blocked": "bad", "error": "bad", "question": "warn", "limited": "warn"}
_MOST_DIFF = 200_000
_REDRAW = 0.25
_CLOCK = 1.0
_AGAIN = 2.0
"""Seconds after an error of the store, or the end of what is followed."""


def _used(each: Facts) -> str:
    if each.cost is not None:
        return f"${each.cost:,.2f}" if each.cost < 99.995 else f"${each.cost:,.0f}"
    return "" if each.tokens is None else tokens_text(each.tokens)


_COLUMNS: list[Column[Facts]] = [
    Column[Facts]("", 1, lambda each: _SIGNS.get(each.decision, ("?", "dim"))),
    Column[Facts]("it.", 5, lambda each: (str(each.number), "plain"), right=True),
    Column[Facts]("state", 0, lambda each: (each.state or each.decision, _STATE_TONES.get(each.state, "plain"))),
    Column[Facts]("used", 6, lambda each: (_used(each), "dim"), right=True),
    Column(
        "took", 7, lambda each: (time_text(each.duration) if each.duration else "", "dim"), right=True, from_width=34
    ),
]


class RunScreen(Screen[None]):
    """One run, followed live."""

    DEFAULT_CSS = """
    RunScreen #header { height: auto; max-height: 5; padding: 0 1; background: $surface; }
    RunScreen #body { height: 1fr; }
    RunScreen #iterations { width: 30; padding: 0 1; border-right: vkey $panel; }
    RunScreen.wide #iterations { width: 44; }
    RunScreen #views { width: 1fr; }
    RunScreen Tabs { padding: 0 1; }
    RunScreen ContentSwitcher { height: 1fr; }
    RunScreen VerticalScroll { padding: 0 1; scrollbar-size-vertical: 1; }
    RunScreen #timeline-pane { padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back"),
        Binding("p", "pause", "Pause"),
        Binding("r", "resume", "Resume"),
        Binding("s", "stop", "Stop"),
        Binding("t", "tell", "Tell"),
        Binding("e", "extend", "Extend"),
        Binding("left_square_bracket", "step(1)", "Older", show=False),
        Binding("right_square_bracket", "step(-1)", "Newer", show=False),
        *(Binding(str(n), f"view('{name}')", label, show=False) for n, (name, label) in enumerate(_VIEWS.items(), 1)),
    ]

    def __init__(self, viewer: "WatchApp", run_id: str) -> None:
        super().__init__()
        self.viewer = viewer
        self._run_id = run_id
        self._reading: Reading | None = None
        self._record: IterationRecord | None = None
        self._changed = True
        self.iterations = Rows(_COLUMNS, lambda each: each.number, empty="No iteration yet.", id="iterations")
        event_columns: list[Column[Event]] = [
            Column[Event]("", 5, lambda event: (f"{event.at.astimezone():%H:%M}", "dim"), from_width=60),
            Column[Event]("", 1, lambda event: event_cells(event, self._workspace)[0]),
            Column[Event]("", 0, lambda event: event_cells(event, self._workspace)[1]),
            Column[Event]("", 6, lambda event: event_cells(event, self._workspace)[2], right=True),
        ]
        self.timeline = Rows(event_columns, lambda event: event.seq, empty="Nothing yet.", id="timeline-pane")

    @property
    def _workspace(self) -> str | None:
        return self._reading.run.workspace if self._reading else None

    @property
    def _chosen(self) -> int:
        """The number of the chosen iteration; 0 without any."""
        return self.iterations.current.number if self.iterations.current else 0

    def compose(self) -> ComposeResult:
        yield Static(Content(f"Reading run {one_line(self._run_id, 64)} …"), id="header")
        with Horizontal(id="body"):
            yield self.iterations
            with Vertical(id="views"):
                yield Tabs(*(Tab(label, id=name) for name, label in _VIEWS.items()))
                with ContentSwitcher(initial="message-pane"):
                    for name in _VIEWS:
                        if name == "timeline":
                            yield self.timeline
                        else:
                            yield VerticalScroll(Static(id=name), id=f"{name}-pane")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self.iterations.focus()
        self._read()
        self.set_interval(_REDRAW, self.redraw)
        self.set_interval(_CLOCK, self._show_header)

    def on_resize(self, event: Resize) -> None:
        self.set_class(event.size.width >= 120, "wide")
        self._show_header()
        self.call_after_refresh(self._show_view)

    @work
    async def _read(self) -> None:
        """Read the run: its end first, then older iterations beside what is new."""
        store = await self.viewer.opened_store()
        try:
            reading = Reading(store, await self.viewer.source.find(store, self._run_id))
            await reading.open()
        except RalphError as error:
            self.viewer.leave(error, self)
            return
        self._reading = reading
        with self.viewer.reporting(self):
            self.redraw()
        self._read_older(reading)
        while True:
            with self.viewer.reporting(self):
                async with aclosing(reading.follow()) as news:
                    async for _ in news:
                        self._changed = True
            await sleep(_AGAIN)

    @work
    async def _read_older(self, reading: Reading) -> None:
        with self.viewer.reporting(self):
            async for _ in reading.older():
                self._changed = True

    def redraw(self) -> None:
        """Show what has changed; the newest iteration stays chosen if it was."""
        if self._reading is None or not self._changed or not self.is_attached:
            return
        self._changed = False
        follows = self.iterations.cursor == 0
        self.iterations.show(self._reading.newest_first, stay=not follows)
        self._show_header()
        if follows or self._is_shown("plots", "breaker"):
            self._show_view()

    def _show_header(self) -> None:
        if self._reading is not None and self.is_attached:
            state = self.viewer.source.state_of(self._reading.run)
            text = header(self._reading, state, self.size.width - 2, self.viewer.source.option, self.viewer.now())
            self.query_one("#header", Static).update(text)

    def _is_shown(self, *views: str) -> bool:
        return self.query_one(Tabs).active in views

    @on(Rows.Moved, "#iterations")
    @on(Tabs.TabActivated)
    def _moved(self) -> None:
        name = self.query_one(Tabs).active or "message"
        self.query_one(ContentSwitcher).current = f"{name}-pane"
        self._show_view()

    @work(exclusive=True, group="view")
    async def _show_view(self) -> None:
        reading, name, number = self._reading, self.query_one(Tabs).active, self._chosen
        if reading is None or not self.is_attached:
            return
        room = self.query_one(ContentSwitcher).size
        width = max(20, room.width - 3)
        with self.viewer.reporting(self):
            await self._fill(reading, name, number, width, room.height)

    async def _fill(self, reading: Reading, name: str, number: int, width: int, height: int) -> None:
        if name == "timeline":
            self.timeline.show(shown_events(await reading.events_of(number)))
        elif name == "plots":
            self._update(name, plots_view(reading.oldest_first, width, height))
        elif name == "breaker":
            self._update(name, breaker_view(reading.oldest_first, width))
        elif name == "diff":
            await self._show_diff(reading, number)
        else:
            record = await reading.store.iteration(reading.run.id, number) if number else None
            self._update("message", message_view(reading.view, record, width))

    async def _show_diff(self, reading: Reading, number: int) -> None:
        if reading.facts.get(number) is None or reading.facts[number].decision == "running":
            self._update("diff", Content.styled("The diff is there when the iteration has ended.", MUTED))
            return
        try:
            text = await self.viewer.source.difference(reading.store, reading.run, number, _MOST_DIFF)
        except RalphError as error:
            self._update("diff", Content.styled(one_line(str(error), 600), "$text-warning"))
            return
        self._update("diff", patch(text) if text else Content.styled("It has changed no files.", MUTED))

    def _update(self, name: str, content: Content) -> None:
        self.query_one(f"#{name}", Static).update(content)

    @on(Rows.Chosen, "#iterations")
    def _enter_view(self) -> None:
        self.query_one(f"#{self.query_one(Tabs).active}-pane").focus()

    @on(Rows.Chosen, "#timeline-pane")
    def _read_event(self) -> None:
        event = self.timeline.current
        if event is not None:
            self.viewer.push_screen(Reader(event.type.replace("_", " "), event_content(event, self._workspace)))

    def action_back(self) -> None:
        """Go back to the list."""
        self.dismiss()

    def action_step(self, by: int) -> None:
        """Choose an older or a newer iteration."""
        self.iterations.action_move(by)

    def action_view(self, name: str) -> None:
        """Show one of the views."""
        self.query_one(Tabs).active = name
        if self.focused is not self.iterations:
            self.query_one(f"#{name}-pane").focus()

    def action_pause(self) -> None:
        """Pause the run at the end of the iteration."""
        self._send("pause")

    def action_resume(self) -> None:
        """End the pause of the run."""
        self._send("resume")

    @work
    async def action_stop(self) -> None:
        """Stop the run, after a question."""
        text = "The agent's turn ends at once; what it did so far is kept, and `ralph resume` continues the run."
        if await self.viewer.push_screen_wait(Confirm("Stop the run?", text)):
            self._send("stop")

    def action_tell(self) -> None:
        """Give the agent a message."""
        self._ask("tell", Ask("Tell the agent", "It reads this with its next prompt, and with all later ones."))

    def action_extend(self) -> None:
        """Raise a limit."""
        text = "Which limit, by how much: --max-iterations +10, --max-duration +1h, --max-tokens, --max-cost."
        self._ask("extend", Ask("Extend a limit", text, value="--max-iterations +10"))

    @work
    async def _ask(self, kind: "Kind", dialog: Ask) -> None:
        if text := await self.viewer.push_screen_wait(dialog):
            self._send(kind, text)

    @work(group="ask")
    async def _send(self, kind: "Kind", text: str = "") -> None:
        reading = self._reading
        if reading is None:
            return
        try:
            run = await reading.store.run(reading.run.id) or reading.run
            said = await self.viewer.source.ask(reading.store, run, kind, text)
        except RalphError as error:
            self.notify(naming_store(str(error), self.viewer.source.option), severity="warning")
        else:
            self.notify(naming_store(said, self.viewer.source.option))
            self._changed = True
