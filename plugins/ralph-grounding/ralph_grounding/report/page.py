"""Rendering of the HTML page."""

from base64 import b64encode
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING

from ralph_grounding.report.data import ReportData
from ralph_grounding.report.shown import clipped, number, web_address
from ralph_grounding.report.view import view_of

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["render_report"]


def render_report(data: ReportData) -> str:
    """Render the report as one HTML page: no scripts, no external resources, and a policy that forbids both.

    The contents of answers and ground truth stay text. The page can be encoded as UTF-8.
    """
    environment = _environment()
    css, _, _ = environment.loader.get_source(environment, "page.css")  # pyright: ignore[reportOptionalMemberAccess]
    css = css.strip()
    style_hash = b64encode(sha256(css.encode()).digest()).decode()
    return environment.get_template("page.html").render(css=css, style_hash=style_hash, **view_of(data))


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("ralph_grounding.report", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(clip=clipped, number=number, web_address=web_address)
    return environment
