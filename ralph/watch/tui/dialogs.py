"""The windows over a screen: a question, a line of input, a text to read, the help."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Static

_CSS = """
{0} {{ align: center middle; background: $background 60%; }}
{0} > #box {{ width: 76; max-width: 96%; height: auto; max-height: 90%; padding: 1 2; background: $surface;
    border: round $primary; border-title-style: bold; }}
{0} #keys {{ color: $foreground 55%; margin-top: 1; height: auto; }}
"""


class Confirm(ModalScreen[bool]):
    """A question that is answered by y or n."""

    DEFAULT_CSS = _CSS.format("Confirm") + (
        "Confirm Horizontal { height: auto; margin-top: 1; align-horizontal: right; }Confirm Button { margin-left: 2; }"
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "Yes"),
        Binding("n,escape", "answer(False)", "No"),
    ]

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self._title, self._text = title, text

    def compose(self) -> ComposeResult:
        with Vertical(id="box") as box:
            box.border_title = Content(self._title)
            yield Static(Content(self._text))
            with Horizontal():
                yield Button("Yes (y)", variant="error", id="yes", compact=True)
                yield Button("No (n)", id="no", compact=True)

    def on_mount(self) -> None:
        self.query_one("#no").focus()

    def action_answer(self, answer: bool) -> None:  # noqa: FBT001 - textual's signature of an action
        self.dismiss(answer)

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        self.dismiss(event.button.id == "yes")


class Ask(ModalScreen[str]):
    """A line of input; empty if the user leaves it."""

    DEFAULT_CSS = _CSS.format("Ask") + "Ask Input { margin-top: 1; background: $panel; padding: 0 1; }"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Cancel")]

    def __init__(self, title: str, text: str, *, value: str = "") -> None:
        super().__init__()
        self._title, self._text, self._value = title, text, value

    def compose(self) -> ComposeResult:
        with Vertical(id="box") as box:
            box.border_title = Content(self._title)
            yield Static(Content(self._text))
            yield Input(self._value, max_length=8_000, select_on_focus=False, compact=True)
            yield Static("Enter sends · Esc cancels", id="keys", markup=False)

    @on(Input.Submitted)
    def _given(self, event: Input.Submitted) -> None:
        self.dismiss(event.value.strip())

    def action_leave(self) -> None:
        self.dismiss("")


class Reader(ModalScreen[None]):
    """A long text."""

    DEFAULT_CSS = _CSS.format("Reader") + (
        "Reader > #box { width: 90%; max-width: 120; } Reader VerticalScroll { height: auto; max-height: 100%; }"
    )
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,enter,q,question_mark", "leave", "Close")]

    def __init__(self, title: str, text: Content) -> None:
        super().__init__()
        self._title, self._text = title, text

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="box") as box:
            box.border_title = Content(self._title)
            box.border_subtitle = Content("Esc closes")
            yield Static(self._text)

    def action_leave(self) -> None:
        self.dismiss(None)
