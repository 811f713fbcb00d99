"""Conversion between records and rows of the tables."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC
from typing import Any, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from ralph.errors import RecordError, plainly
from ralph.records.events import Event, parse_event
from ralph.records.record import IterationRecord, RunRecord, Trace
from ralph.types.requests import Request

__all__ = [
    "as_json",
    "clean",
    "event_rows",
    "iteration_row",
    "read_event",
    "read_iteration",
    "read_request",
    "read_run",
    "read_traces",
    "request_row",
    "run_row",
    "trace_row",
]

_R = TypeVar("_R")
_TRACES = TypeAdapter(list[Trace])
_NOWHERE_KEPT = re.compile("[\0\ud800-\udfff]")


def run_row(run: RunRecord) -> dict[str, Any]:
    """Return a run's row."""
    return {
        "id": run.id,
        "workspace": None if run.workspace is None else clean(run.workspace),
        "started_at": run.started_at.astimezone(UTC).isoformat(timespec="microseconds"),
        "state": run.state,
        "record": as_json(run),
    }


def iteration_row(run_id: str, iteration: IterationRecord) -> dict[str, Any]:
    """Return an iteration's row."""
    return {"run_id": run_id, "number": iteration.number, "record": as_json(iteration)}


def trace_row(run_id: str, trace: Trace) -> dict[str, Any]:
    """Return a trace's row."""
    return {"run_id": run_id, "number": trace.number, "body": as_json(trace, exclude_defaults=True)}


def event_rows(run_id: str, events: Iterable[Event]) -> list[dict[str, Any]]:
    """Return a row for each event with a `seq`; others are not stored."""
    return [
        {"run_id": run_id, "seq": event.seq, "type": event.type, "iteration": event.iteration, "body": as_json(event)}
        for event in events
        if event.seq
    ]


def request_row(run_id: str, request: Request) -> dict[str, Any]:
    """Return a request's row."""
    return {"run_id": run_id, "seq": request.seq, "body": as_json(request)}


def read_run(run_id: str, record: str) -> RunRecord:
    """Parse a run's record."""
    return _read(RunRecord.model_validate_json, record, f"The record of run {run_id}")


def read_iteration(run_id: str, number: int, record: str) -> IterationRecord:
    """Parse an iteration's record."""
    return _read(IterationRecord.model_validate_json, record, f"The record of iteration {number} of run {run_id}")


def read_traces(bodies: Sequence[str]) -> list[Trace] | None:
    """Parse traces; None if one of them does not have this version's form."""
    try:
        return _TRACES.validate_json(f"[{','.join(bodies)}]")
    except ValidationError:
        return None


def read_event(run_id: str, seq: int, body: str) -> Event | None:
    """Parse an event; None for a type that this version does not know."""
    return _read(_known_event, body, f"Event {seq} of run {run_id}")


def read_request(run_id: str, seq: int, body: str) -> Request:
    """Parse a request."""
    return _read(Request.model_validate_json, body, f"Request {seq} of run {run_id}")


def clean(text: str) -> str:
    """Return the text without lone surrogates and NUL, which some databases cannot store."""
    return _NOWHERE_KEPT.sub("\ufffd", text)


def as_json(record: BaseModel, *, exclude_defaults: bool = False) -> str:
    """Return the record as one line of JSON."""
    try:
        return record.model_dump_json(exclude_defaults=exclude_defaults)
    except PydanticSerializationError:
        kept = record.model_dump(mode="json", exclude_defaults=exclude_defaults)
        return clean(json.dumps(kept, ensure_ascii=False))


def _known_event(body: str) -> Event | None:
    try:
        return parse_event(body)
    except ValidationError as error:
        if error.errors(include_url=False)[0]["type"] == "union_tag_invalid":
            return None
        raise


def _read(parse: Callable[[str], _R], text: str, name: str) -> _R:
    try:
        return parse(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise RecordError(
            f"{name} cannot be read back: {f'{where}: ' if where else ''}{plainly(first['msg'])}.",
            "It is damaged, or another version of Ralph wrote it: then read it with that version.",
        ) from error
