"""A list of any length of which only the visible rows are drawn: runs, iterations, a timeline."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.events import Click, Resize
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

T = TypeVar("T")

Cell = tuple[str, str]
"""A text in one line, and one of `TONES`."""

TONES = ("plain", "dim", "good", "bad", "warn", "accent")


@dataclass(frozen=True)
class Column(Generic[T]):
    """A column of a list.

    Attributes:
        width: in cells; the columns with 0 share what is left.
        cell: returns a row's text, without control characters.
        right: the text is aligned to the right.
        from_width: the list's width from which the column is shown.
    """

    title: str
    width: int
    cell: Callable[[T], Cell]
    right: bool = False
    from_width: int = 0


def fitted(text: str, width: int, *, right: bool = False) -> str:
    """Return a text in exactly that many cells, with an ellipsis if it was cut."""
    length = cell_len(text)
    if length > width:
        return set_cell_size(text, width - 1) + "…" if width > 1 else set_cell_size(text, width)
    return " " * (width - length) + text if right else text + " " * (width - length)


def tokens_text(count: float) -> str:
    """Return a number of tokens in at most five characters: 950, 12k, 3.4M."""
    for unit, size in (("", 1), ("k", 1_000), ("M", 1_000_000)):
        if count < 999.5 * size:
            return f"{count / size:.1f}{unit}" if unit == "M" and count < 9.95 * size else f"{count / size:.0f}{unit}"
    return f"{count / 1e9:.1f}G"


def time_text(seconds: float) -> str:
    """Return a duration in at most six characters: 8.1s, 4m10s, 2h05m, 12d4h."""
    if not seconds < 1e8:  # an imported run may hold anything
        return "long"
    if seconds < 59.95:
        return f"{seconds:.1f}s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes}m{rest:02}s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h{minutes:02}m" if hours < 100 else f"{hours // 24}d{hours % 24}h"


class Rows(ScrollView, Generic[T], can_focus=True):
    """A list with columns, a heading, and a cursor."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"rows--heading", "rows--cursor", *(f"rows--{tone}" for tone in TONES)}
    DEFAULT_CSS = """
    Rows { height: 1fr; overflow-x: hidden; scrollbar-size-vertical: 1; }
    Rows > .rows--heading { color: $foreground 55%; text-style: bold; }
    Rows > .rows--cursor { background: $surface-lighten-1; }
    Rows:focus > .rows--cursor { background: $primary-muted; text-style: bold; }
    Rows > .rows--plain { color: $foreground; }
    Rows > .rows--dim { color: $foreground 55%; }
    Rows > .rows--good { color: $text-success; }
    Rows > .rows--bad { color: $text-error; }
    Rows > .rows--warn { color: $text-warning; }
    Rows > .rows--accent { color: $text-primary; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
        Binding("home,g", "edge(0)", "First", show=False),
        Binding("end,G", "edge(-1)", "Last", show=False),
        Binding("enter", "choose", "Open", show=False),
    ]

    class Moved(Message):
        """The cursor is on another row."""

        def __init__(self, rows: "Rows[T]") -> None:
            super().__init__()
            self.rows = rows

        @property
        def control(self) -> "Rows[T]":
            """The list."""
            return self.rows

    class Chosen(Moved):
        """A row was chosen, by Enter or by a second click."""

    def __init__(
        self,
        columns: Sequence[Column[T]],
        key: Callable[[T], object],
        *,
        empty: str = "",
        id: str | None = None,  # noqa: A002 - as textual calls it
    ) -> None:
        super().__init__(id=id)
        self.items: Sequence[T] = ()
        self.cursor = 0
        self.empty = empty
        self._columns, self._key = columns, key
        self._heading = int(any(column.title for column in columns))

    @property
    def current(self) -> T | None:
        """The item under the cursor."""
        return self.items[self.cursor] if self.cursor < len(self.items) else None

    def show(self, items: Sequence[T], *, stay: bool = True) -> None:
        """Show other items; the cursor stays on its item if it is still there and `stay` is set."""
        before = self.current
        shift = self.cursor - self.scroll_offset.y
        self.items = items
        cursor = min(self.cursor, max(0, len(items) - 1)) if stay else 0
        if before is not None and stay and not self._is_same(cursor, before):
            key = self._key(before)
            cursor = next((place for place, item in enumerate(items) if self._key(item) == key), cursor)
        self.virtual_size = Size(1, len(items) + self._heading)
        if cursor != self.cursor:
            self.cursor = cursor
            self.scroll_to(y=max(0, cursor - shift), animate=False, immediate=True)
        self.refresh()
        if self.current is not None and (before is None or self._key(self.current) != self._key(before)):
            self.post_message(self.Moved(self))

    def _is_same(self, cursor: int, item: T) -> bool:
        return cursor < len(self.items) and self._key(self.items[cursor]) == self._key(item)

    def move_to(self, index: int) -> None:
        """Put the cursor on a row, and scroll it into view."""
        index = max(0, min(index, len(self.items) - 1))
        if not self.items or index == self.cursor:
            return
        self.cursor = index
        visible = Region(0, index, self.size.width, 1 + self._heading)  # the heading covers the first visible row
        self.scroll_to_region(visible, animate=False, immediate=True)
        self.refresh()
        self.post_message(self.Moved(self))

    def action_move(self, by: int) -> None:
        self.move_to(self.cursor + by)

    def action_page(self, by: int) -> None:
        self.move_to(self.cursor + by * max(1, self.size.height - self._heading - 1))

    def action_edge(self, index: int) -> None:
        self.move_to(index % len(self.items) if self.items else 0)

    def action_choose(self) -> None:
        if self.current is not None:
            self.post_message(self.Chosen(self))

    def on_click(self, event: Click) -> None:
        place = event.get_content_offset(self)
        index = (place.y if place else 0) - self._heading + self.scroll_offset.y
        if place is None or place.y < self._heading or index >= len(self.items):
            return
        self.move_to(index)
        if event.chain > 1:
            self.action_choose()

    def on_resize(self, _: Resize) -> None:
        self.virtual_size = Size(1, len(self.items) + self._heading)

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        base = self.rich_style
        if y < self._heading:
            style = base + self.get_component_rich_style("rows--heading", partial=True)
            cells = [fitted(column.title, size, right=column.right) for column, size in self._sizes(width)]
            return Strip([Segment("  ".join(cells).ljust(width), style)]).crop(0, width)
        index = y - self._heading + self.scroll_offset.y
        if index >= len(self.items):
            said = self.empty if not self.items and y == self._heading else ""
            style = base + self.get_component_rich_style("rows--dim", partial=True)
            return Strip([Segment(fitted(said, width), style)], width)
        item = self.items[index]
        if index == self.cursor:
            base += self.get_component_rich_style("rows--cursor", partial=True)
        segments: list[Segment] = []
        for column, size in self._sizes(width):
            text, tone = column.cell(item)
            style = base + self.get_component_rich_style(f"rows--{tone}", partial=True)
            segments += [Segment(fitted(text, size, right=column.right), style), Segment("  ", base)]
        return Strip([*segments[:-1], Segment(" " * width, base)]).crop(0, width)

    def _sizes(self, width: int) -> list[tuple[Column[T], int]]:
        shown = [column for column in self._columns if width >= column.from_width]
        fluid = [column for column in shown if not column.width]
        left = width - sum(column.width for column in shown) - 2 * (len(shown) - 1)
        return [(column, column.width or max(4, left // max(1, len(fluid)))) for column in shown]
