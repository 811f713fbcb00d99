"""The pages of the runs: each reads a bounded part of the store, and fills a template."""

import json
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast, get_args
from urllib.parse import parse_qsl, quote, urlencode

from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse

from ralph.decision.outcomes import StopReason
from ralph.errors import UsageError
from ralph.plugins.discovery import failure
from ralph.records.record import RunRecord
from ralph.watch.web import Page, PageRequest
from ralph.watch.web.feed import Feed
from ralph.watch.web.library import Library, NoSuchThingError
from ralph.watch.web.plots import Plot, Span, bars, breaker_band, plots_of
from ralph.watch.web.render import number, page, refusal
from ralph.watch.web.rows import LARGEST, RunQuery, RunRow
from ralph.watch.web.timeline import entries
from ralph.watch.web.totals import Totals

_ITERATIONS = 20
_ENTRIES = 60
_EVENTS = 200
_MOST_BODY = 65_536
_MOST_FIELDS = 10
_NOTICES = 100
_MOST_SETTINGS = 40


class EventQuery(BaseModel, frozen=True, extra="forbid"):
    """A page of events: those after a `seq`, or from the start of an iteration on."""

    after: int = Field(0, ge=0, le=LARGEST)
    iteration: int = Field(0, ge=0, le=LARGEST)


class IterationQuery(BaseModel, frozen=True, extra="forbid"):
    """A page of iterations: those before a number."""

    before: int = Field(LARGEST, ge=1, le=LARGEST)


class TotalsQuery(BaseModel, frozen=True, extra="forbid"):
    """The days that count, today included."""

    days: int = Field(30, ge=1, le=366)


class CompareQuery(BaseModel, frozen=True, extra="forbid"):
    """Two runs, by their ids or the beginnings of these; an empty one is still to be chosen."""

    a: str = Field("", max_length=200)
    b: str = Field("", max_length=200)


class Compared(NamedTuple):
    """One of the runs beside each other."""

    row: RunRow
    executors: str
    plots: list[Plot]
    band: list[Span]
    points: int
    step: int


class Pages:
    """The handlers of the pages; the path names the run and the iteration."""

    def __init__(self, library: Library, extra: Sequence[Page] = ()) -> None:
        self._library = library
        self._extra = {each.name: each for each in extra}
        self._feed = Feed(library)
        self._notices: OrderedDict[str, str] = OrderedDict()

    async def runs(self, request: Request) -> Response:
        """Show the list of runs."""
        given = {name: value for name, value in request.query_params.items() if value}
        query = RunQuery.model_validate(given)
        found = await self._library.runs(query)

        def at(offset: int) -> str:
            return urlencode({**given, "offset": str(max(0, offset))})

        newer, older = at(query.offset - query.limit), at(found.next or 0)
        reasons = get_args(StopReason)
        return page(request, "runs.html", query=query, found=found, reasons=reasons, newer=newer, older=older)

    async def run(self, request: Request) -> Response:
        """Show the present state of a run, its last iterations and its last events."""
        found = await self._library.overview(request.path_params["run_id"])
        latest = await self._library.iterations(found.run, before=found.row.iterations + 1, limit=_ITERATIONS)
        return page(
            request,
            "run.html",
            run=found,
            live=found.row.state in {"running", "paused"},
            seq=found.events[-1].seq if found.events else 0,
            iterations=latest,
            entries=entries(found.events, found.run.workspace)[: -_ENTRIES - 1 : -1],
            notice=self._notices.pop(found.run.id, ""),
        )

    async def live(self, request: Request) -> Response:
        """Send what happens in a run from an event on, as it happens."""
        query = EventQuery.model_validate(dict(request.query_params))
        seen = request.headers.get("last-event-id", "")
        after = min(int(seen), LARGEST) if seen.isascii() and seen.isdecimal() and len(seen) < 12 else query.after
        run = await self._library.run(request.path_params["run_id"])
        if self._feed.is_full:
            return refusal(request, 503, "Too many pages are open.", "Close some of them.")
        return StreamingResponse(self._feed.stream(run.id, after), media_type="text/event-stream")

    async def plots(self, request: Request) -> Response:
        """Show the figures of all iterations; with the query `part`, only what the page of the run takes in."""
        run = await self._library.run(request.path_params["run_id"])
        points, step = await self._library.series(run)
        template = "plots.html" if "part" in request.query_params else "figures.html"
        band = breaker_band(points)
        drawn = plots_of(points)
        return page(request, template, run=run, plots=drawn, band=band, points=len(points), step=step)

    async def totals(self, request: Request) -> Response:
        """Show the totals of the runs of the last days."""
        query = TotalsQuery.model_validate(dict(request.query_params))
        found = await self._library.totals(query.days)
        return page(request, "totals.html", days=query.days, totals=found, plots=_plots_of_days(found))

    async def compare(self, request: Request) -> Response:
        """Show two runs beside each other."""
        query = CompareQuery.model_validate(dict(request.query_params))
        known = (await self._library.runs(RunQuery.model_validate({}))).runs
        runs = [await self._library.run(name) for name in (query.a, query.b)] if query.a and query.b else []
        both = [await self._compared(run) for run in runs]
        different = differing(*runs) if runs else []
        return page(request, "compare.html", query=query, known=known, both=both, different=different)

    async def _compared(self, run: RunRecord) -> Compared:
        points, step = await self._library.series(run)
        by = ", ".join(f"{name} {count}" for name, count in sorted(run.executors.items()))
        return Compared(await self._library.row(run), by, plots_of(points), breaker_band(points), len(points), step)

    async def timeline(self, request: Request) -> Response:
        """Show the events of a run, oldest first."""
        query = EventQuery.model_validate(dict(request.query_params))
        run = await self._library.run(request.path_params["run_id"])
        after = query.after or (await self._library.first_event(run, query.iteration) if query.iteration else 0)
        events = await self._library.events(run, after=after, limit=_EVENTS + 1)
        later = events[_EVENTS - 1].seq if len(events) > _EVENTS else 0
        return page(
            request, "events.html", run=run, entries=entries(events[:_EVENTS], run.workspace), after=after, later=later
        )

    async def iterations(self, request: Request) -> Response:
        """Show earlier iterations."""
        query = IterationQuery.model_validate(dict(request.query_params))
        run = await self._library.run(request.path_params["run_id"])
        before = min(query.before, await self._library.store.last_iteration(run.id) + 1)
        found = await self._library.iterations(run, before=before, limit=_ITERATIONS)
        return page(request, "earlier.html", run=run, iterations=found, id=run.id)

    async def iteration(self, request: Request) -> Response:
        """Show one iteration: the reply with its evidence, the chain to the decision, the verifiers, the events."""
        run = await self._library.run(request.path_params["run_id"])
        number = request.path_params["number"]
        found = await self._library.iteration(run, number)
        before = await self._library.store.iteration(run.id, number - 1) if number > 1 else None
        after = await self._library.first_event(run, number)
        events = await self._library.events(run, after=after, limit=_EVENTS)
        own = [event for event in events if event.iteration == number]
        return page(
            request,
            "iteration.html",
            run=run,
            each=found,
            chain=self._library.commands.chain(run, before, found),
            entries=entries(own, run.workspace),
            later=own[-1].seq if len(own) == _EVENTS else 0,
            last=await self._library.store.last_iteration(run.id),
        )

    async def extra(self, request: Request) -> Response:
        """Show a page of a plug-in; one that fails is said to."""
        asked = self._extra.get(request.path_params["name"])
        if asked is None:
            raise NoSuchThingError("No plug-in has this page.", "`ralph plugins` lists what plug-ins add.")
        try:
            content = await asked.show(PageRequest(self._library.store, dict(request.query_params)))
        except Exception as error:  # noqa: BLE001 - anything may come from foreign code
            return refusal(request, 500, f"The page {asked.title!r} failed.", f"Fix the plug-in: {failure(error)}.")
        return page(request, "extra.html", title=asked.title, content=content)

    async def diff(self, request: Request) -> Response:
        """Show what a run or an iteration has changed."""
        run = await self._library.run(request.path_params["run_id"])
        number = request.path_params.get("number")
        if number is not None:
            await self._library.iteration(run, number)
        changes = await self._library.commands.difference(self._library.store, run, number)
        return page(request, "diff.html", run=run, number=number, changes=changes)

    async def control(self, request: Request) -> Response:
        """Send a request to a run, and show its page with the answer."""
        run = await self._library.run(request.path_params["run_id"])
        given = await form_of(request)
        said = await self._library.commands.ask(self._library.store, run, request.path_params["control"], given)
        self._notices[run.id] = said
        while len(self._notices) > _NOTICES:
            self._notices.popitem(last=False)
        return RedirectResponse(f"/runs/{quote(run.id, safe='')}", status_code=303)


def differing(first: RunRecord, second: RunRecord) -> list[tuple[str, tuple[str, str]]]:
    """Return the settings in which two runs differ, by their keys."""
    ours, theirs = dict(_flat(first.settings)), dict(_flat(second.settings))
    keys = sorted(ours.keys() | theirs.keys())
    pairs = ((key, (ours.get(key, "–"), theirs.get(key, "–"))) for key in keys)
    return [(key, values) for key, values in pairs if values[0] != values[1]][:_MOST_SETTINGS]


def _flat(settings: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    for key, value in settings.items():
        if isinstance(value, dict):
            yield from _flat(cast("dict[str, Any]", value), f"{before}{key}.")
        else:
            yield f"{before}{key}", json.dumps(value)


def _plots_of_days(totals: Totals) -> list[tuple[str, str, str, str]]:
    """Return the plots of totals: name, unit, path and the greatest value in words."""
    quantities: list[tuple[str, str, list[float | None]]] = [
        ("Runs", "", [float(day.runs) for day in totals.days]),
        ("Completed", "", [float(day.completed) for day in totals.days]),
        ("Cost", "$", [day.cost for day in totals.days]),
        ("Time", "s", [day.duration for day in totals.days]),
    ]
    found: list[tuple[str, str, str, str]] = []
    for name, unit, values in quantities:
        most = max((value for value in values if value is not None), default=None)
        if most:
            found.append((name, unit, bars(values, most), f"at most {number(most, unit)} a day"))
    return found


async def form_of(request: Request) -> Mapping[str, str]:
    """Return the fields of a form. Raises `UsageError` for a body that is too long or is no form."""
    body = await body_of(request)
    try:
        return dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS))
    except ValueError as error:
        raise UsageError("The form cannot be read.", "Send it from the page of the run.") from error


async def body_of(request: Request) -> bytes:
    """Return the body of a request. Raises `UsageError` if it is too long."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > _MOST_BODY:
            raise UsageError(f"The request is longer than {_MOST_BODY:,} bytes.", "Send less.")
    return bytes(body)
