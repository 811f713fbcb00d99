"""The app: its screens, its store, its keys and its theme."""

from asyncio import Event, sleep, to_thread
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from textual import work
from textual.app import App
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.css.query import NoMatches
from textual.screen import Screen

from ralph.errors import RalphError
from ralph.system.text import one_line
from ralph.watch.tui.dialogs import Reader
from ralph.watch.tui.runs import RunsScreen
from ralph.watch.tui.source import Source

if TYPE_CHECKING:
    from ralph.store import Store

THEME = "textual-dark"
_LOOK = 0.5
"""Seconds between two looks for a store that does not exist yet."""

_KEYS = (
    ("Everywhere", (("?", "this help"), ("T", "choose a theme"), ("^p", "all commands"), ("q", "leave; runs go on"))),
    (
        "List of runs",
        (
            ("↑ ↓ PgUp PgDn", "move; also Home, End and the wheel"),
            ("Enter, double click", "open a run"),
            ("/", "search task, run and folder"),
            ("f", "next filter"),
            ("F", "the fleet: workers and tasks"),
            ("Esc", "clear search and filter"),
        ),
    ),
    (
        "A run",
        (
            ("1 2 3 4 5", "message, timeline, diff, breaker, plots"),
            ("[ ]", "older, newer iteration; the newest is followed"),
            ("Tab", "iterations, view"),
            ("Enter", "in the timeline: read all of an event"),
            ("p r s", "pause, resume, stop (asks first)"),
            ("t e", "tell the agent something, extend a limit"),
            ("Esc", "back to the list"),
        ),
    ),
)


def help_text() -> Content:
    """Return the keys, by screen."""
    parts: list[Content | tuple[str, str]] = []
    for title, keys in _KEYS:
        parts.append((f"{title}\n", "bold $text-primary"))
        for key, does in keys:
            parts += [(f"  {key:<22}", "bold"), (f"{does}\n", "")]
        parts.append(("\n", ""))
    return Content.assemble(*parts).rstrip()


class WatchApp(App[None]):
    """All runs of a store, and one run in detail.

    Args:
        source: the store, and what may be asked of a run.
        run: the run to open first; empty for the list.
        theme: one of textual's.
    """

    TITLE = "ralph watch"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark", "help", "Help", key_display="?"),
        Binding("T", "change_theme", "Theme", show=False),
        Binding("F", "fleet", "Fleet", show=False),
        Binding("q,ctrl+c", "quit", "Quit"),
    ]
    CSS = """
    * { scrollbar-color: $surface-lighten-2; scrollbar-color-hover: $primary; scrollbar-color-active: $primary;
        scrollbar-background: $background; scrollbar-background-hover: $background; }
    """

    def __init__(self, source: Source, *, run: str = "", theme: str = THEME) -> None:
        super().__init__()
        self.source = source
        self.problem: RalphError | None = None
        self._first, self._wanted = run, theme
        self._store: Store | None = None
        self._reported = ""
        self._is_open, self._ends = Event(), Event()

    def get_default_screen(self) -> RunsScreen:
        return RunsScreen(self)

    def on_mount(self) -> None:
        self.theme = self._wanted

    def on_ready(self) -> None:
        """Start what takes longer than the first picture."""
        self._hold_store()
        if self._first:
            self.open_run(self._first)

    @work
    async def _hold_store(self) -> None:
        """Keep the store open until the app ends."""
        try:
            while self.source.missing() and not self._first:  # noqa: ASYNC110 - another process makes it
                await sleep(_LOOK)
            await to_thread(import_module, "ralph.store.sql")  # half a second, in which keys work
            async with self.source.opened() as self._store:
                self._is_open.set()
                await self._ends.wait()
        except RalphError as error:
            self.problem = error
            self.exit(return_code=error.exit_code)

    async def opened_store(self) -> "Store":
        await self._is_open.wait()
        assert self._store is not None
        return self._store

    async def on_unmount(self) -> None:
        self._ends.set()

    def open_run(self, run_id: str) -> None:
        from ralph.watch.tui.run import RunScreen

        self.push_screen(RunScreen(self, run_id))

    @contextmanager
    def reporting(self, screen: Screen[Any]) -> Generator[None]:
        """Show an error of the store once, instead of ending; what a screen that was left would show is dropped."""
        try:
            yield
            self._reported = ""
        except NoMatches:
            if self.is_running and screen in self.screen_stack:
                raise
        except RalphError as error:
            if str(error) != self._reported:
                self._reported = str(error)
                self.notify(self._reported, severity="error")

    def leave(self, error: RalphError, screen: Screen[None]) -> None:
        """Leave a screen that cannot be shown, for the list; the app itself if the user asked for nothing else."""
        if self._first and screen in self.screen_stack and len(self.screen_stack) == 2:
            self.problem = error
            self.exit(return_code=error.exit_code)
            return
        self.notify(str(error), severity="error")
        screen.dismiss()

    def now(self) -> datetime:
        """Return the time that figures refer to."""
        return datetime.now(UTC)

    def notify(self, message: str, **options: Any) -> None:
        """Show a message for some seconds, as a harmless line."""
        options["markup"] = False
        super().notify(one_line(message, 400), **options)

    def action_fleet(self) -> None:
        """Show the fleet."""
        if self.source.fleet is None:
            self.notify("This store has no fleet. `ralph fleet submit` begins one.", severity="warning")
        elif len(self.screen_stack) == 1:
            self.push_screen(self.source.fleet(self))

    def action_help(self) -> None:
        """Show the keys."""
        self.push_screen(Reader("Keys", help_text()))
