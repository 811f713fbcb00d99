import io

from rich.segment import Segment, Segments
from rich.style import Style
from rich.text import Text

from ralph.watch.console import VisibleConsole


def test_no_renderable_brings_more_than_text_and_colours() -> None:
    out = io.StringIO()
    console = VisibleConsole(file=out, force_terminal=True, color_system="standard")
    console.print(Text.from_ansi("\x1b]8;;https://evil.example\x1b\\a \x1b[31mlink\x1b[0m"))
    console.print(Segments([Segment("b\r\x1b[2J\u202ec\n"), Segment("d", Style(link="https://evil.example"))]))

    assert out.getvalue() == "a \x1b[31mlink\x1b[0m\nbc\nd"
