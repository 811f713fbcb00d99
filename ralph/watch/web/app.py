"""The application: the routes to the pages, and what is answered where one fails."""

import logging
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from ralph.errors import RalphError, UsageError, plainly
from ralph.watch.web import Page
from ralph.watch.web.api import Api
from ralph.watch.web.guard import Access, Guard
from ralph.watch.web.library import Library, NoSuchThingError
from ralph.watch.web.pages import Pages
from ralph.watch.web.render import refusal

_STATIC = Path(__file__).parent / "static"
_logger = logging.getLogger("ralph.web")


def build_app(library: Library, access: Access, extra: Sequence[Page] = ()) -> ASGIApp:
    """Return the application, behind its guard; `extra` are the pages of plug-ins."""
    pages = Pages(library, extra)
    app = Starlette(
        routes=[
            Route("/", pages.runs),
            Route("/pages/{name}", pages.extra),
            Route("/totals", pages.totals),
            Route("/compare", pages.compare),
            Route("/runs/{run_id}", pages.run),
            Route("/runs/{run_id}/timeline", pages.timeline),
            Route("/runs/{run_id}/live", pages.live),
            Route("/runs/{run_id}/plots", pages.plots),
            Route("/runs/{run_id}/iterations", pages.iterations),
            Route("/runs/{run_id}/iterations/{number:int}", pages.iteration),
            Route("/runs/{run_id}/iterations/{number:int}/diff", pages.diff),
            Route("/runs/{run_id}/diff", pages.diff),
            Route("/runs/{run_id}/{control}", pages.control, methods=["POST"]),
            *Api(library).routes(),
            Mount("/static", StaticFiles(directory=_STATIC)),
        ],
        exception_handlers={
            ClientDisconnect: _gone,
            HTTPException: _unrouted,
            RalphError: _failed,
            ValidationError: _invalid,
            Exception: _faulty,
        },
    )
    links = [(f"/pages/{quote(each.name, safe='')}", each.title) for each in extra]
    app.state.common = {"read_only": access.read_only, "links": links}
    return Guard(app, access)


def _gone(request: Request, error: Exception) -> Response:
    return Response(status_code=400)  # nobody reads it


def _unrouted(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 404
    return refusal(request, status, "There is no such page.", "The list of runs is at /.")


def _failed(request: Request, error: Exception) -> Response:
    """Answer with the problem of an error that the user can fix."""
    assert isinstance(error, RalphError)
    status = 404 if isinstance(error, NoSuchThingError) else 409 if isinstance(error, UsageError) else 503
    return refusal(request, status, error.problem, error.remedy)


def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, ValidationError)
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"]))
    return refusal(request, 400, f"{place[:100]} is not valid.", f"{plainly(first['msg'])}.")


def _faulty(request: Request, error: Exception) -> Response:
    _logger.error("a page failed", exc_info=error)
    return refusal(request, 500, "This page failed.", "The output of `ralph serve` says why.")
