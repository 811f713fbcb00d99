"""The JSON API: the same facts as the pages, with an OpenAPI document that is made of the operations themselves."""

import json
from collections.abc import Awaitable, Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple, cast

from pydantic import BaseModel, Field, JsonValue
from pydantic.json_schema import models_json_schema
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ralph.errors import UsageError
from ralph.records.events import Event
from ralph.records.record import IterationRecord, RunRecord
from ralph.watch.web.library import Difference, Library
from ralph.watch.web.pages import CompareQuery, TotalsQuery, body_of
from ralph.watch.web.rows import LARGEST, RunPage, RunQuery, RunRow
from ralph.watch.web.totals import Totals

_REFERENCE = "#/components/schemas/{model}"
_MOST_TEXT = 200_000


class EventsQuery(BaseModel, frozen=True, extra="forbid"):
    """A page of events: those with a greater `seq`."""

    after: int = Field(0, ge=0, le=LARGEST)
    limit: int = Field(100, ge=1, le=500)


class IterationsQuery(BaseModel, frozen=True, extra="forbid"):
    """A page of iterations: those with a lower number, the last one first."""

    before: int = Field(LARGEST, ge=1, le=LARGEST)
    limit: int = Field(20, ge=1, le=100)


class NoQuery(BaseModel, frozen=True, extra="forbid"):
    """No query."""


class RunAnswer(BaseModel, frozen=True):
    """A run: the row of the list, and its whole record without the plan."""

    row: RunRow
    record: RunRecord


class IterationAnswer(BaseModel, frozen=True):
    """An iteration with the stages from the signals of its reply to the decision."""

    record: IterationRecord
    chain: list[JsonValue]


class IterationsAnswer(BaseModel, frozen=True):
    """A page of iterations; `next` is the `before` of the next page, None for the last."""

    iterations: list[IterationRecord]
    next: int | None


class EventsAnswer(BaseModel, frozen=True):
    """A page of events; `next` is the `after` of the next page, None for the last."""

    events: list[Event]
    next: int | None


class FiguresAnswer(BaseModel, frozen=True):
    """The figures of every `step`-th iteration, as rows under the names of the columns."""

    step: int
    columns: tuple[str, ...]
    rows: list[tuple[JsonValue, ...]]


class CompareAnswer(BaseModel, frozen=True):
    """Two runs."""

    a: RunRow
    b: RunRow


class ControlBody(BaseModel, frozen=True, extra="forbid"):
    """The message for tell, and the amounts for extend, such as "+10" or "1h"."""

    text: str = ""
    iterations: str = ""
    duration: str = ""
    tokens: str = ""
    requests: str = ""
    cost: str = ""


class ControlAnswer(BaseModel, frozen=True):
    """A sentence on what happens next."""

    text: str


class ErrorAnswer(BaseModel, frozen=True):
    """A refusal with its remedy."""

    error: str
    remedy: str


class Operation(NamedTuple):
    """One operation of the API."""

    path: str
    summary: str
    query: type[BaseModel]
    answer: type[BaseModel]
    function: Callable[[Request, Any], Awaitable[BaseModel]]
    body: type[BaseModel] | None = None


class Api:
    """The operations on the runs of a library."""

    def __init__(self, library: Library) -> None:
        self._library = library
        run = "/api/runs/{run_id}"
        self.operations: Sequence[Operation] = (
            Operation("/api/runs", "List runs, newest first.", RunQuery, RunPage, self._runs),
            Operation("/api/totals", "Return totals over time.", TotalsQuery, Totals, self._totals),
            Operation("/api/compare", "Return two runs.", CompareQuery, CompareAnswer, self._compare),
            Operation(run, "Return a run.", NoQuery, RunAnswer, self._run),
            Operation(f"{run}/iterations", "List iterations.", IterationsQuery, IterationsAnswer, self._iterations),
            Operation(f"{run}/iterations/{{number}}", "Return one.", NoQuery, IterationAnswer, self._iteration),
            Operation(f"{run}/iterations/{{number}}/diff", "Return its changes.", NoQuery, Difference, self._diff),
            Operation(f"{run}/diff", "Return the changes of the run.", NoQuery, Difference, self._diff),
            Operation(f"{run}/events", "List events, oldest first.", EventsQuery, EventsAnswer, self._events),
            Operation(f"{run}/figures", "Return tokens, cost, time …", NoQuery, FiguresAnswer, self._figures),
            Operation(f"{run}/{{control}}", "Ask a run.", NoQuery, ControlAnswer, self._control, ControlBody),
        )

    def routes(self) -> list[Route]:
        """Return the routes of all operations and of their description."""
        own = [Route(each.path, _endpoint(each), methods=["POST" if each.body else "GET"]) for each in self.operations]
        return [Route("/api/openapi.json", self._describe), *own]

    async def _describe(self, request: Request) -> Response:
        return JSONResponse(self.document)

    @cached_property
    def document(self) -> dict[str, Any]:
        return openapi(self.operations)

    async def _runs(self, request: Request, query: RunQuery) -> RunPage:
        return await self._library.runs(query)

    async def _totals(self, request: Request, query: TotalsQuery) -> Totals:
        return await self._library.totals(query.days)

    async def _compare(self, request: Request, query: CompareQuery) -> CompareAnswer:
        first, second = [await self._library.run(name) for name in (query.a, query.b)]
        return CompareAnswer(a=await self._library.row(first), b=await self._library.row(second))

    async def _run(self, request: Request, query: NoQuery) -> RunAnswer:
        run = await self._library.run(request.path_params["run_id"])
        return RunAnswer(row=await self._library.row(run), record=run.model_copy(update={"plan": None}))

    async def _iterations(self, request: Request, query: IterationsQuery) -> IterationsAnswer:
        run = await self._library.run(request.path_params["run_id"])
        before = min(query.before, await self._library.store.last_iteration(run.id) + 1)
        found = await self._library.iterations(run, before=before, limit=query.limit)
        bounded = [each.model_copy(update={"text": each.text[:_MOST_TEXT]}) for each in found]
        more = found[-1].number if found and found[-1].number > 1 else None
        return IterationsAnswer(iterations=bounded, next=more)

    async def _iteration(self, request: Request, query: NoQuery) -> IterationAnswer:
        run, number = await self._numbered(request)
        record = await self._library.iteration(run, number)
        before = await self._library.store.iteration(run.id, number - 1) if number > 1 else None
        chain = self._library.commands.chain(run, before, record)
        return IterationAnswer(record=record, chain=[stage.model_dump(mode="json") for stage in chain])

    async def _numbered(self, request: Request) -> tuple[RunRecord, int]:
        """Return the run and the number in the path; 0, which no iteration has, for what is no number."""
        run = await self._library.run(request.path_params["run_id"])
        given = request.path_params["number"]
        return run, int(given) if given.isascii() and given.isdecimal() and len(given) < 11 else 0

    async def _diff(self, request: Request, query: NoQuery) -> Difference:
        if "number" not in request.path_params:
            run, number = await self._library.run(request.path_params["run_id"]), None
        else:
            run, number = await self._numbered(request)
            await self._library.iteration(run, number)
        return await self._library.commands.difference(self._library.store, run, number)

    async def _events(self, request: Request, query: EventsQuery) -> EventsAnswer:
        run = await self._library.run(request.path_params["run_id"])
        found = await self._library.events(run, after=query.after, limit=query.limit)
        return EventsAnswer(events=found, next=found[-1].seq if len(found) == query.limit else None)

    async def _figures(self, request: Request, query: NoQuery) -> FiguresAnswer:
        run = await self._library.run(request.path_params["run_id"])
        points, step = await self._library.series(run)
        columns = ("number", "tokens", "cost", "duration", "score", "breaker", "decision")
        return FiguresAnswer(step=step, columns=columns, rows=[tuple(point) for point in points])

    async def _control(self, request: Request, query: NoQuery) -> ControlAnswer:
        run = await self._library.run(request.path_params["run_id"])
        body = await body_of(request)
        given = ControlBody.model_validate_json(body or b"{}")
        control = request.path_params["control"]
        said = await self._library.commands.ask(self._library.store, run, control, given.model_dump())
        return ControlAnswer(text=said)


def _endpoint(operation: Operation) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        if operation.body and request.headers.get("content-type", "").partition(";")[0] != "application/json":
            raise UsageError("The body is not JSON.", "Send it with Content-Type: application/json.")
        query = operation.query.model_validate(dict(request.query_params))
        found = await operation.function(request, query)
        return Response(found.model_dump_json(), media_type="application/json")

    return answer


def openapi(operations: Sequence[Operation]) -> dict[str, Any]:
    """Return the OpenAPI document of operations."""
    from ralph import __version__

    models = {each.answer for each in operations} | {ErrorAnswer} | {each.body for each in operations if each.body}
    ordered = sorted(models, key=lambda model: model.__name__)
    found, whole = models_json_schema([(model, "serialization") for model in ordered], ref_template=_REFERENCE)
    named = {model: found[model, "serialization"] for model in ordered}
    paths = {each.path: {"post" if each.body else "get": _operation(each, named)} for each in operations}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Ralph", "version": __version__, "description": "The runs of a store."},
        "paths": paths,
        "components": {
            "schemas": whole.get("$defs", {}),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


def _operation(operation: Operation, named: dict[type[BaseModel], Any]) -> dict[str, Any]:
    refused = {"description": "A refusal.", "content": _content(named[ErrorAnswer])}
    codes = ("400", "401", "403", "404", "405", "409", "421", "429", "503")
    return {
        "summary": operation.summary,
        "parameters": [*_in_path(operation.path), *_in_query(operation.query)],
        "responses": {
            "200": {"description": "The answer.", "content": _content(named[operation.answer])},
            **dict.fromkeys(codes, refused),
        },
        **({"requestBody": {"content": _content(named[operation.body])}} if operation.body else {}),
    }


def _content(schema: Any) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _in_path(path: str) -> list[dict[str, Any]]:
    controls = {"type": "string", "enum": ["pause", "resume", "stop", "tell", "extend"]}
    schemas: dict[str, Any] = {
        "run_id": {"type": "string", "minLength": 1},
        "number": {"type": "integer", "minimum": 1, "maximum": LARGEST},
        "control": controls,
    }
    return [
        {"name": name, "in": "path", "required": True, "schema": schema}
        for name, schema in schemas.items()
        if f"{{{name}}}" in path
    ]


def _in_query(model: type[BaseModel]) -> list[dict[str, Any]]:
    fields = cast("dict[str, Any]", json.loads(json.dumps(model.model_json_schema()))).get("properties", {})
    return [{"name": name, "in": "query", "required": False, "schema": schema} for name, schema in fields.items()]
