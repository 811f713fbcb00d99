"""The statements that read: lists of analyses and scores, histories, runs."""

from collections.abc import Iterable
from typing import Any, Literal

from sqlalchemy import ColumnElement, Select, Table, func, select

from ralph_grounding.filters import Condition
from ralph_grounding.store.conditions import condition_of
from ralph_grounding.store.rows import storable
from ralph_grounding.store.tables import analyses, queries, runs
from ralph_grounding.summary import Metric

__all__ = ["Order", "by_prefix", "history", "newest_runs", "previous_run", "query_scores", "scores", "whole"]

Order = Literal["newest", "oldest", "worst", "best"]

_MEANS = {
    "accuracy": func.avg(analyses.c.accuracy_score),
    "completeness": func.avg(analyses.c.completeness_score),
    "attribution": func.avg(analyses.c.attribution_score),
    "combined": func.avg(analyses.c.combined_score),
}
_SCORES: dict[str, ColumnElement[Any]] = {
    "accuracy": analyses.c.accuracy_score,
    "completeness": analyses.c.completeness_score,
    "attribution": analyses.c.attribution_score,
    "combined": analyses.c.combined_score,
}


def whole(filters: Iterable[Condition], order: Order, by: str, limit: int | None) -> Select[Any]:
    """Analyses with their results."""
    return _ordered(select(analyses).where(condition_of(filters)), order, by).limit(limit)


def scores(filters: Iterable[Condition], order: Order, by: str, limit: int | None) -> Select[Any]:
    """The columns of `ScoreRow`."""
    it = analyses.c
    found = (
        select(
            it.id,
            it.run_id,
            it.query_id,
            queries.c.text.label("query"),
            it.domain,
            it.ai_provider,
            it.model,
            it.accuracy_score.label("accuracy"),
            it.accuracy_tier,
            it.completeness_score.label("completeness"),
            it.completeness_tier,
            it.attribution_score.label("attribution"),
            it.attribution_tier,
            it.combined_score.label("combined"),
            it.flags,
            it.created_at,
        )
        .select_from(analyses.join(queries))
        .where(condition_of(filters))
    )
    return _ordered(found, order, by).limit(limit)


def history(filters: Iterable[Condition], limit: int | None) -> Select[Any]:
    """The columns of `HistoryPoint`: the newest, oldest first."""
    it = analyses.c
    parts = (it.run_id, it.domain, it.ai_provider, it.model)
    newest = (
        select(
            it.run_id,
            runs.c.started_at.label("run_at"),
            *parts[1:],
            func.count().label("analyses"),
            *(mean.label(name) for name, mean in _MEANS.items()),
        )
        .select_from(analyses.join(runs, runs.c.id == it.run_id))
        .where(condition_of(filters))
        .group_by(runs.c.started_at, *parts)
        .order_by(runs.c.started_at.desc(), *(part.desc() for part in parts))
        .limit(limit)
        .subquery()
    )
    of = newest.c
    return select(newest).order_by(of.run_at, of.run_id, of.domain, of.ai_provider, of.model)


def query_scores(filters: Iterable[Condition], by: Metric | Literal["combined"], limit: int) -> Select[Any]:
    """The columns of `QueryScores`, the lowest mean first; those without one come last."""
    it = analyses.c
    mean = _MEANS[by]
    return (
        select(
            it.query_id,
            func.max(queries.c.text).label("query"),
            func.count().label("analyses"),
            *(each.label(name) for name, each in _MEANS.items()),
        )
        .select_from(analyses.join(queries))
        .where(condition_of(filters))
        .group_by(it.query_id)
        .order_by(mean.asc().nulls_last(), it.query_id)
        .limit(limit)
    )


def newest_runs(domain: str | None, status: str | None, limit: int) -> Select[Any]:
    found = select(runs).order_by(runs.c.started_at.desc(), runs.c.id.desc()).limit(limit)
    if domain is not None:
        found = found.where(runs.c.domain == storable(domain))
    return found if status is None else found.where(runs.c.status == status)


def previous_run(run_id: str, domain: str, query_set_id: str, started_at: str) -> Select[Any]:
    """The last run of the domain that was completed and began before; without a domain, of the same queries."""
    found = newest_runs(domain, "completed", 1).where(runs.c.started_at <= started_at, runs.c.id != storable(run_id))
    return found if domain else found.where(runs.c.query_set_id == query_set_id)


def by_prefix(table: Table, start: str) -> Select[Any]:
    """At most two rows whose id begins so, the one that is exactly so first."""
    return select(table).where(table.c.id.startswith(storable(start), autoescape=True)).order_by(table.c.id).limit(2)


def _ordered(found: Select[Any], order: Order, by: str) -> Select[Any]:
    it = analyses.c
    if order == "newest":
        return found.order_by(it.created_at.desc(), it.id.desc())
    if order == "oldest":
        return found.order_by(it.created_at, it.id)
    score = _SCORES[by]
    return found.order_by((score.asc() if order == "worst" else score.desc()).nulls_last(), it.created_at, it.id)
