"""The stored records: query sets, runs, analyses and failures; and views of them."""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from hashlib import sha256
from typing import Any, Literal, NamedTuple, Self

from pydantic import BaseModel, Field

from ralph.errors import UsageError
from ralph_grounding.materials import Query
from ralph_grounding.result import AnalysisResult, Tier
from ralph_grounding.summary import DomainScoreSummary, Point

__all__ = [
    "BatchError",
    "GroundingRun",
    "QuerySet",
    "RunStatus",
    "ScoreRow",
    "StoredAnalysis",
]

RunStatus = Literal["running", "interrupted", "completed", "failed", "cancelled"]
"""No run is stored as "interrupted": it is stored as "running", and its process is gone."""

_LONGEST_ID = 400


class BatchError(BaseModel, frozen=True):
    """A response that was not analysed, and the reason."""

    query_id: str
    error: str
    provider: str = ""
    model: str = ""
    trial: int = 1


class QuerySet(BaseModel, frozen=True):
    """Queries that belong together.

    Attributes:
        id: a hash of them: the same for the same queries in any order.
    """

    id: str
    queries: tuple[Query, ...]

    @classmethod
    def of(cls, queries: Iterable[Query]) -> Self:
        """Make the set of these queries.

        Raises:
            UsageError: two have the same id, or an id is too long.
        """
        given = tuple(queries)
        seen: set[str] = set()
        for query in given:
            if query.id in seen:
                raise UsageError(f"Two queries have the id {query.id[:80]!r}.", "Give each query an id of its own.")
            if len(query.id) > _LONGEST_ID:
                raise UsageError(
                    f"The id {query.id[:40]!r}… of a query has {len(query.id)} characters.",
                    f"Give queries ids of at most {_LONGEST_ID}.",
                )
            seen.add(query.id)
        digest = sha256()
        for query in sorted(given, key=lambda query: query.id):
            said = query.model_dump(mode="json", exclude_defaults=True)
            digest.update(json.dumps(said, sort_keys=True).encode() + b"\n")
        return cls(id=digest.hexdigest()[:16], queries=given)


class GroundingRun(BaseModel, frozen=True):
    """A batch, as the store knows it.

    Attributes:
        status: a killed run is "interrupted" as soon as this process can see it; like a cancelled one it can be
            continued.
        total: the number of responses, as far as known; never less than `progress`.
        options: the options that it was begun with; continuing it with others is refused.
    """

    id: str
    domain: str = ""
    query_set_id: str
    status: RunStatus = "running"
    total: int = Field(default=0, ge=0)
    succeeded: int = Field(default=0, ge=0)
    failed: int = Field(default=0, ge=0)
    options: Mapping[str, Any] = {}
    summary: DomainScoreSummary | None = None
    started_at: datetime
    completed_at: datetime | None = None

    @property
    def progress(self) -> int:
        """The finished part of `total`."""
        return self.succeeded + self.failed


class StoredAnalysis(BaseModel, frozen=True):
    """An analysis with its keys; the scores and names are those within `result`."""

    id: str
    query_id: str
    query_set_id: str
    run_id: str
    result: AnalysisResult
    domain: str = ""
    ai_provider: str = ""
    model: str = ""
    accuracy_score: float | None = None
    completeness_score: float | None = None
    attribution_score: float | None = None
    created_at: datetime


class ScoreRow(NamedTuple):
    """An analysis without its evidence, for lists, histories and tables of scores."""

    id: str
    run_id: str
    query_id: str
    query: str
    domain: str
    ai_provider: str
    model: str
    accuracy: float | None
    accuracy_tier: Tier | None
    completeness: float | None
    completeness_tier: Tier | None
    attribution: float | None
    attribution_tier: Tier | None
    combined: float | None
    flags: tuple[str, ...]
    created_at: datetime
    support: float | None = None
    contradiction: float | None = None
    trial: int = 1

    @property
    def rates(self) -> tuple[float | None, float | None]:
        """The rates of support and contradiction."""
        return self.support, self.contradiction

    @property
    def points(self) -> tuple[Point | None, Point | None, Point | None]:
        """The three scores, in the form for summaries."""
        return (
            _point(self.accuracy, self.accuracy_tier),
            _point(self.completeness, self.completeness_tier),
            _point(self.attribution, self.attribution_tier),
        )


def _point(score: float | None, tier: Tier | None) -> Point | None:
    return None if score is None or tier is None else Point(score, tier)
