"""The templates with their filters: everything is escaped, and an agent's text stays visible text."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache, lru_cache
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from jinja2 import Environment, PackageLoader, StrictUndefined
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup
from starlette.responses import HTMLResponse, JSONResponse, Response

from ralph.records.events import IterationFinished
from ralph.records.projection import changes_text, denials_text, describe, outcome_text
from ralph.system.text import duration, one_line, printable

if TYPE_CHECKING:
    from starlette.requests import Request

    from ralph.analysis.result import Evidence
    from ralph.records.record import IterationRecord

MOST_TEXT = 20_000
"""Characters of one text on a page."""

_MOST_MARKDOWN = 8_000
_LINKED = ("https://", "http://")
_SIGNS = {
    "running": "▶",
    "paused": "❚❚",
    "crashed": "✖",
    "completed": "✓",
    "cancelled": "■",
    "blocked": "?",
    "finished": "■",
}
"""The signs of states; every other stop reason has ✗. Colour never carries a meaning alone."""

_LINES = (("+++", "file"), ("---", "file"), ("diff ", "file"), ("@@", "at"), ("+", "add"), ("-", "del"))


class Piece(NamedTuple):
    """A piece of a text: plain, or a quotation that counts for completion, against it, or for neither."""

    text: str
    kind: str = ""
    why: str = ""


def pieces(text: str, evidence: "Sequence[Evidence]", most: int = MOST_TEXT) -> Iterator[Piece]:
    """Yield a text in pieces, of which those that are evidence are marked; nested evidence counts once."""
    position = 0
    for found in sorted((found for found in evidence if found.end), key=lambda found: (found.start, -found.end)):
        start, end = max(found.start, position), min(found.end, most, len(text))
        if start >= end:
            continue
        if position < start:
            yield Piece(shown(text[position:start]))
        kind = "for" if found.weight > 0 else "against" if found.weight < 0 else "told"
        yield Piece(shown(text[start:end]), kind, f"{found.weight:+g} {found.signal}: {one_line(found.why)}")
        position = end
    yield Piece(shown(text[position:most], most))
    if len(text) > most:
        yield Piece(f"\n… {len(text) - most:,} more characters")


def shown(text: str, most: int = MOST_TEXT) -> str:
    """Return an agent's text without what would hide or reorder it, with a note of the characters left out."""
    visible = printable(text[:most], 2 * most)
    return f"{visible}\n… {len(text) - most:,} more characters" if len(text) > most else visible


@lru_cache(maxsize=256)
def markdown(text: str) -> Markup:
    """Return Markdown as HTML that has none of the text's own HTML, loads nothing, and links only to the web.

    A text too long to be parsed quickly is shown as it is.
    """
    if len(text) > _MOST_MARKDOWN:
        return Markup("<pre>{}</pre>").format(shown(text))
    return Markup(_parser().render(printable(text, 2 * _MOST_MARKDOWN)))  # noqa: S704 - made without HTML


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable("table").disable(["image"])
    parser.add_render_rule("link_open", _link)
    return parser


def _link(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    """Link only to other sites: an agent's link must not lead to a page of this one."""
    token = tokens[index]
    target = str(token.attrGet("href") or "")
    if target.lower().startswith(_LINKED):
        token.attrs = {"href": target, "rel": "noopener noreferrer nofollow", "target": "_blank"}
    else:
        token.attrs = {}
    return renderer.renderToken(tokens, index, options, env)


def number(value: float | None, unit: str = "") -> str:
    """Return a number for people: 1,234, 1.2M; a dash for an unknown one."""
    if value is None:
        return "–"
    if unit == "$":
        return f"${value:,.2f}"
    if unit == "s":
        return duration(value)
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            return f"{value / (1000 if letter == 'k' else size):.3g}{letter}"
    return f"{value:,.10g}"


def moment(at: datetime | None) -> Markup:
    """Return a time in this machine's zone, with the exact one beside it for programs."""
    if at is None:
        return Markup("–")
    try:
        local = at.astimezone()
    except (OverflowError, ValueError):
        local = at
    return Markup('<time datetime="{}">{}</time>').format(at.isoformat(), f"{local:%b %d, %H:%M:%S}")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("ralph.watch.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    cast("dict[str, Any]", environment.filters).update({
        "shown": shown,
        "line": one_line,
        "markdown": markdown,
        "number": number,
        "moment": moment,
        "words": _words,
        "sign": _sign,
        "decision": _decision,
        "number_of": _number_of,
        "changes": changes_text,
        "denials": denials_text,
        "outcome": outcome_text,
        "hunks": hunks,
    })
    cast("dict[str, Any]", environment.globals)["pieces"] = pieces
    return environment


def _decision(iteration: "IterationRecord | IterationFinished") -> str:
    return describe(iteration.decision)


def _number_of(iteration: "IterationRecord | IterationFinished") -> int:
    return iteration.iteration if isinstance(iteration, IterationFinished) else iteration.number


def hunks(diff: str) -> Iterator[tuple[str, str]]:
    """Yield a difference in blocks of lines of one kind, each without its last line end."""
    for kind, lines in groupby(diff.split("\n"), key=_kind):
        yield kind, shown("\n".join(lines), len(diff) + 1)


def _kind(line: str) -> str:
    return next((kind for start, kind in _LINES if line.startswith(start)), "same")


def _words(name: str) -> str:
    return name.replace("_", " ")


def _sign(state: str) -> str:
    return _SIGNS.get(state, "✗")


def html(template: str, **values: Any) -> str:
    """Return a template's HTML."""
    return _environment().get_template(template).render(**values)


def page(request: "Request", template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """Return a page; every template knows the path and what the app's pages have in common."""
    common: Mapping[str, Any] = getattr(request.app.state, "common", {}) if "app" in request.scope else {}
    return HTMLResponse(
        html(template, **{"path": request.url.path, "links": (), "read_only": True, **common, **values}), status
    )


def refusal(request: "Request", status: int, problem: str, remedy: str = "", sign_in: str = "") -> Response:
    """Return a refusal with the remedy: JSON for programs, a page for people; `sign_in` is where that leads to."""
    if request.url.path.startswith("/api/"):
        return JSONResponse({"error": problem, "remedy": remedy}, status)
    return page(request, "message.html", status, problem=problem, remedy=remedy, sign_in=sign_in)
