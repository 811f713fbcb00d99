"""Draw what a terminal showed as an SVG: one screen, or several after one another.

The file has no script and loads nothing. A row that several frames share is in it once. Where animation is off, or not
supported, the last frame stands.
"""

from collections.abc import Iterator, Sequence
from html import escape
from typing import NamedTuple

from rich.ansi import AnsiDecoder
from rich.cells import cell_len
from rich.color import blend_rgb
from rich.color_triplet import ColorTriplet
from rich.console import Console
from rich.style import Style
from rich.terminal_theme import SVG_EXPORT_THEME as THEME
from rich.text import Text

_WIDTH, _HEIGHT, _SIZE = 8.4, 18, 14
_MARGIN, _BAR = 12, 34
_FONT = "ui-monospace,SFMono-Regular,Menlo,'DejaVu Sans Mono',Consolas,monospace"


class Frame(NamedTuple):
    """A screen of a terminal as text with ANSI colours, and the seconds that it stands."""

    text: str
    seconds: float = 1.0


def drawn(frames: Sequence[Frame], columns: int, rows: int, title: str) -> str:
    """Return an SVG of the frames, one after the other without end; of one frame, a still picture."""
    known: dict[str, int] = {}
    screens = [_screen(frame.text, rows, known) for frame in frames]
    width, height = columns * _WIDTH + 2 * _MARGIN, rows * _HEIGHT + _BAR + _MARGIN
    defined = "".join(f'<g id="r{number}">{row}</g>' for row, number in known.items())
    shown = "".join(f'<g class="f" id="f{index}">{screen}</g>' for index, screen in enumerate(screens))
    lights = "".join(
        f'<circle cx="{18 + 18 * index}" cy="17" r="5.5" fill="{colour}"/>'
        for index, colour in enumerate(("#ff5f57", "#febc2e", "#28c840"))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" role="img">'
        f"<title>{escape(title)}</title><style>text{{font:{_SIZE}px {_FONT};white-space:pre}}{_motion(frames)}</style>"
        f'<rect width="{width:g}" height="{height:g}" rx="8" fill="{THEME.background_color.hex}"/>{lights}'
        f'<text x="{width / 2:g}" y="22" text-anchor="middle" fill="#8b8f98">{escape(title)}</text>'
        f'<defs>{defined}</defs><g transform="translate({_MARGIN} {_BAR})">{shown}</g></svg>\n'
    )


def _motion(frames: Sequence[Frame]) -> str:
    """Return the style that shows each frame in its time."""
    whole, began = sum(frame.seconds for frame in frames), 0.0
    last = len(frames) - 1
    still, moving = f".f{{visibility:hidden}}#f{last}{{visibility:visible}}", ""
    for index, frame in enumerate(frames if last else ()):
        start, end = 100 * began / whole, 100 * (began + frame.seconds) / whole
        began += frame.seconds
        before = "" if index == 0 else "0%{visibility:hidden}"
        after = "" if index == last else f"{end:.2f}%,to{{visibility:hidden}}"
        moving += f"@keyframes k{index}{{{before}{start:.2f}%{{visibility:visible}}{after}}}"
        moving += f"#f{index}{{animation:k{index} {whole:.1f}s step-end infinite}}"
    return f"{still}@media (prefers-reduced-motion:no-preference){{{moving}}}" if moving else ".f{visibility:visible}"


def _screen(text: str, rows: int, known: dict[str, int]) -> str:
    """Return the rows of a screen, by their numbers among those that are known."""
    lines = list(AnsiDecoder().decode(text))[:rows]
    drawn_rows = ((index, "".join(_row(line))) for index, line in enumerate(lines))
    return "".join(
        f'<use href="#r{known.setdefault(row, len(known))}" y="{index * _HEIGHT}"/>' for index, row in drawn_rows if row
    )


def _row(line: Text) -> Iterator[str]:
    """Yield the shapes of a row: the ground where it has a colour, and each piece of text at its column."""
    column = 0
    for piece, given, _ in line.render(Console(color_system="truecolor", width=1_000)):
        text, style = piece.rstrip("\n"), given or Style()
        x, wide = column * _WIDTH, cell_len(text) * _WIDTH
        column += cell_len(text)
        front, ground = _colours(style)
        if ground is not None:
            yield f'<rect x="{x:g}" width="{wide:g}" height="{_HEIGHT}" fill="{ground.hex}"/>'
        if stripped := text.strip():
            x += (len(text) - len(text.lstrip())) * _WIDTH
            bold = ' font-weight="bold"' if style.bold else ""
            length = f'textLength="{cell_len(stripped) * _WIDTH:g}"'
            said = escape(stripped, quote=False)
            yield f'<text x="{x:g}" y="{_HEIGHT - 5}" {length} fill="{front.hex}"{bold}>{said}</text>'


def _colours(style: Style) -> tuple[ColorTriplet, ColorTriplet | None]:
    """Return the colour of the text, and that of the ground if it is not the terminal's."""
    front = style.color.get_truecolor(THEME) if style.color and not style.color.is_default else THEME.foreground_color
    back = style.bgcolor.get_truecolor(THEME) if style.bgcolor and not style.bgcolor.is_default else None
    if style.reverse:
        front, back = back or THEME.background_color, front
    return (blend_rgb(front, back or THEME.background_color, 0.4) if style.dim else front), back
