"""Conversion of analyses, runs and queries into table rows, and back.

No text of users or agents may be lost or refused, but neither PostgreSQL nor UTF-8 can hold every text. So JSON escapes
the exceptions, and so do the columns, by `storable`.
"""

import json
import re
import socket
from collections.abc import Callable
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError
from sqlalchemy import Row

from ralph.errors import RecordError
from ralph.loop.ownership import Owner, has_died, is_here
from ralph_grounding.judging.base import Verdict
from ralph_grounding.materials import Query
from ralph_grounding.result import AnalysisResult
from ralph_grounding.store.records import BatchError, GroundingRun, RunStatus, ScoreRow, StoredAnalysis
from ralph_grounding.summary import DomainScoreSummary

__all__ = [
    "analysis_row",
    "as_json",
    "asked_key",
    "failure_row",
    "moment",
    "query_row",
    "read_analysis",
    "read_failure",
    "read_query",
    "read_run",
    "read_scores",
    "read_verdict",
    "restored",
    "run_row",
    "storable",
]

_T = TypeVar("_T")
_M = TypeVar("_M", bound=BaseModel)
_UNSTORABLE = re.compile("[\\\\\0\ud800-\udfff]")
_ESCAPE = re.compile(r"\\(\\|u[0-9a-f]{4})")


def storable(text: str) -> str:
    r"""Return the text as any database accepts it: NUL and lone surrogates as `\uXXXX`, and a doubled backslash."""
    return _UNSTORABLE.sub(lambda found: "\\\\" if found[0] == "\\" else f"\\u{ord(found[0]):04x}", text)


def restored(text: str) -> str:
    """Reverse `storable`."""
    return _ESCAPE.sub(lambda found: "\\" if found[1] == "\\" else chr(int(found[1][1:], 16)), text)


def moment(at: datetime) -> str:
    """Format a moment for the store."""
    return at.astimezone(UTC).isoformat(timespec="microseconds")


def as_json(record: BaseModel) -> str:
    """Encode the record as one line of JSON that any database accepts."""
    try:
        return record.model_dump_json(fallback=str)
    except PydanticSerializationError:  # a lone surrogate
        return json.dumps(record.model_dump(mode="json", fallback=str))


def asked_key(query_id: str, provider: str, model: str, trial: int = 1) -> str:
    """Return the key under which a run has one analysis."""
    named = json.dumps([query_id, provider, model, *([trial] if trial > 1 else [])])
    return sha256(named.encode()).hexdigest()[:32]


def query_row(query_set_id: str, place: int, query: Query) -> dict[str, Any]:
    """Make the row of a query."""
    return {
        "query_set_id": query_set_id,
        "id": storable(query.id),
        "place": place,
        "text": storable(query.text),
        "body": as_json(query),
    }


def run_row(run: GroundingRun, owner: Owner) -> dict[str, Any]:
    """Make the row of a run."""
    return {
        "id": storable(run.id),
        "domain": storable(run.domain),
        "query_set_id": run.query_set_id,
        "status": run.status,
        "total": run.total,
        "succeeded": run.succeeded,
        "failed": run.failed,
        "options": json.dumps(run.options, sort_keys=True, default=str),
        "summary": None if run.summary is None else as_json(run.summary),
        "started_at": moment(run.started_at),
        "completed_at": None if run.completed_at is None else moment(run.completed_at),
        "owner": as_json(owner),
    }


def analysis_row(run_id: str, query_set_id: str, result: AnalysisResult, at: datetime) -> dict[str, Any]:
    """Make the row of an analysis."""
    scores = result.scores
    accuracy, completeness, attribution = scores.accuracy, scores.completeness, scores.attribution
    return {
        "id": storable(result.id),
        "query_id": storable(result.query_id),
        "query_set_id": query_set_id,
        "run_id": storable(run_id),
        "asked": asked_key(result.query_id, result.ai_provider, result.model, result.trial),
        "domain": storable(result.domain),
        "ai_provider": storable(result.ai_provider),
        "model": storable(result.model),
        "accuracy_score": accuracy and accuracy.score,
        "accuracy_tier": accuracy and accuracy.tier,
        "completeness_score": completeness and completeness.score,
        "completeness_tier": completeness and completeness.tier,
        "attribution_score": attribution and attribution.score,
        "attribution_tier": attribution and attribution.tier,
        "combined_score": scores.combined,
        "support_rate": scores.support_rate,
        "contradiction_rate": scores.contradiction_rate,
        "trial": result.trial,
        "flags": "".join(f"\n{storable(flag)}" for flag in result.flags) + "\n",
        "created_at": moment(at),
        "result": as_json(result),
    }


def failure_row(run_id: str, failure_id: str, error: BatchError, at: datetime) -> dict[str, Any]:
    """Make the row of a failure."""
    texts = {name: storable(getattr(error, name)) for name in ("query_id", "error", "provider", "model")}
    return {"id": failure_id, "run_id": storable(run_id), "created_at": moment(at), **texts}


def read_query(row: Row[*tuple[Any, ...]]) -> Query:
    """Read a query from its row."""
    return _read(Query, row.body, f"The query {row.id[:80]!a}")


def read_run(row: Row[*tuple[Any, ...]]) -> GroundingRun:
    """Read a run from its row, with its present status."""
    name = f"The record of run {row.id[:80]!a}"
    summary = None if row.summary is None else _read(DomainScoreSummary, row.summary, name)
    return _checked(
        lambda: GroundingRun(
            id=restored(row.id),
            domain=restored(row.domain),
            query_set_id=row.query_set_id,
            status=_status(row.status, row.owner),
            total=row.total,
            succeeded=row.succeeded,
            failed=row.failed,
            options=json.loads(row.options),
            summary=summary,
            started_at=datetime.fromisoformat(row.started_at),
            completed_at=row.completed_at and datetime.fromisoformat(row.completed_at),
        ),
        name,
    )


def _status(kept: RunStatus, owner: str | None) -> RunStatus:
    """Return the run's present status: a "running" one may have lost its process.

    A run on another machine is believed. One on an earlier boot of this machine is interrupted.
    """
    if kept != "running" or owner is None:
        return kept
    process = Owner.model_validate_json(owner)
    gone = has_died(process) if is_here(process) else process.host == socket.gethostname()
    return "interrupted" if gone else "running"


def read_analysis(row: Row[*tuple[Any, ...]]) -> StoredAnalysis:
    """Read an analysis from its row."""
    name = f"The analysis {row.id[:80]!a}"
    result = _read(AnalysisResult, row.result, name)
    return _checked(
        lambda: StoredAnalysis(
            id=restored(row.id),
            query_id=restored(row.query_id),
            query_set_id=row.query_set_id,
            run_id=restored(row.run_id),
            result=result,
            domain=restored(row.domain),
            ai_provider=restored(row.ai_provider),
            model=restored(row.model),
            accuracy_score=row.accuracy_score,
            completeness_score=row.completeness_score,
            attribution_score=row.attribution_score,
            created_at=datetime.fromisoformat(row.created_at),
        ),
        name,
    )


def read_scores(row: Row[*tuple[Any, ...]]) -> ScoreRow:
    """Read a row of the columns of `ScoreRow`, in their order."""
    identity, run_id, query_id, query, *names, support, contradiction, trial, flags, created_at = row
    domain, provider, model, *scores = names
    texts = map(restored, (identity, run_id, query_id, query, domain, provider, model))
    kept = tuple(restored(flag) for flag in flags.split("\n") if flag)
    values: list[Any] = [*texts, *scores, kept, datetime.fromisoformat(created_at), support, contradiction, trial or 1]
    return ScoreRow(*values)


def read_failure(row: Row[*tuple[Any, ...]]) -> BatchError:
    """Read a failure from its row."""
    return BatchError(
        query_id=restored(row.query_id),
        error=restored(row.error),
        provider=restored(row.provider),
        model=restored(row.model),
    )


def read_verdict(row: Row[*tuple[Any, ...]]) -> Verdict | None:
    """Read the verdict of a judge; None if it is damaged: the judge is asked again."""
    try:
        return _read(Verdict, row.body, "A verdict")
    except RecordError:
        return None


def _read(model: type[_M], text: str, name: str) -> _M:
    try:
        return model.model_validate_json(text)
    except ValidationError:  # pydantic's own reader refuses the escape of a lone surrogate
        return _checked(lambda: model.model_validate(json.loads(text)), name)


def _checked(read: Callable[[], _T], name: str) -> _T:
    try:
        return read()
    except (ValueError, TypeError, RecursionError) as error:
        problem = "is damaged, or another version wrote it" if isinstance(error, ValidationError) else "is damaged"
        raise RecordError(f"{name} cannot be read back: it {problem}.", "Leave it out with a filter.") from error
