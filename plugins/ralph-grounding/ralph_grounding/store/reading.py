"""The reading SQL statements: lists of analyses and scores, runs.

The user's text in a filter is only bound to a statement, never part of it.
"""

import operator
from collections.abc import Callable, Iterable
from typing import Any, Literal

from sqlalchemy import ColumnElement, Select, Table, and_, not_, or_, select, true

from ralph_grounding.filters import Condition
from ralph_grounding.store.rows import storable
from ralph_grounding.store.tables import analyses, queries, runs
from ralph_grounding.summary import APART

__all__ = ["Order", "by_prefix", "condition_of", "newest_runs", "previous_run", "scores", "whole"]

_COLUMNS: dict[str, ColumnElement[Any]] = {
    "accuracy": analyses.c.accuracy_score,
    "completeness": analyses.c.completeness_score,
    "attribution": analyses.c.attribution_score,
    "combined": analyses.c.combined_score,
    "support": analyses.c.support_rate,
    "contradiction": analyses.c.contradiction_rate,
    "accuracy.tier": analyses.c.accuracy_tier,
    "completeness.tier": analyses.c.completeness_tier,
    "attribution.tier": analyses.c.attribution_tier,
    "provider": analyses.c.ai_provider,
    "model": analyses.c.model,
    "domain": analyses.c.domain,
    "query": analyses.c.query_id,
    "run": analyses.c.run_id,
}
_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "!=": operator.ne,
}


def condition_of(filters: Iterable[Condition]) -> ColumnElement[bool]:
    """Return the condition that all filters hold."""
    return and_(true(), *(_one(condition) for condition in filters))


def _one(condition: Condition) -> ColumnElement[bool]:
    field, comparison, value = condition
    if isinstance(value, str):
        value = storable(value)
    if field == "tier":
        tiers = (_COLUMNS[name] == value for name in ("accuracy.tier", "completeness.tier", "attribution.tier"))
        return _unless(or_(*(tier.is_(True) for tier in tiers)), comparison)
    if field == "flag":
        return _unless(analyses.c.flags.contains(f"\n{value}\n", autoescape=True), comparison)
    return _COMPARISONS[comparison](_COLUMNS[field], value)


def _unless(condition: ColumnElement[bool], comparison: str) -> ColumnElement[bool]:
    return not_(condition) if comparison == "!=" else condition


Order = Literal["newest", "oldest", "worst", "best"]

_SCORES: dict[str, ColumnElement[Any]] = {
    "accuracy": analyses.c.accuracy_score,
    "completeness": analyses.c.completeness_score,
    "attribution": analyses.c.attribution_score,
    "combined": analyses.c.combined_score,
    "support": analyses.c.support_rate,
    "contradiction": -analyses.c.contradiction_rate,
}


def whole(filters: Iterable[Condition], order: Order, by: str, limit: int | None) -> Select[*tuple[Any, ...]]:
    """Select analyses with their results."""
    return _ordered(select(analyses).where(condition_of(filters)), order, by).limit(limit)


def scores(filters: Iterable[Condition], order: Order, by: str, limit: int | None) -> Select[*tuple[Any, ...]]:
    """Select the columns of `ScoreRow`."""
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
            it.support_rate.label("support"),
            it.contradiction_rate.label("contradiction"),
            it.trial,
            it.flags,
            it.created_at,
        )
        .select_from(analyses.join(queries))
        .where(condition_of(filters))
    )
    return _ordered(found, order, by).limit(limit)


def newest_runs(domain: str | None, status: str | None, limit: int | None) -> Select[*tuple[Any, ...]]:
    """Select the newest runs, newest first."""
    found = select(runs).order_by(runs.c.started_at.desc(), runs.c.id.desc()).limit(limit)
    if domain is not None:
        found = found.where(runs.c.domain == storable(domain))
    return found if status is None else found.where(runs.c.status == status)


def previous_run(run_id: str, domain: str, query_set_id: str, started_at: str) -> Select[*tuple[Any, ...]]:
    """Select the last completed run of the domain that began before; without a domain, of the same queries."""
    found = newest_runs(domain, "completed", 1).where(runs.c.started_at <= started_at, runs.c.id != storable(run_id))
    return found if domain else found.where(runs.c.query_set_id == query_set_id)


def by_prefix(table: Table, start: str) -> Select[*tuple[Any, ...]]:
    """Select at most two rows with an id that begins so, an exact match first."""
    return select(table).where(table.c.id.startswith(storable(start), autoescape=True)).order_by(table.c.id).limit(2)


def _ordered(found: Select[*tuple[Any, ...]], order: Order, by: str) -> Select[*tuple[Any, ...]]:
    it = analyses.c
    if order == "newest":
        return found.order_by(it.created_at.desc(), it.id.desc())
    if order == "oldest":
        return found.order_by(it.created_at, it.id)
    score = _SCORES[by]
    apart = it.flags.contains(f"\n{APART}\n", autoescape=True)  # another language: neither the worst nor the best
    return found.order_by(apart, (score.asc() if order == "worst" else score.desc()).nulls_last(), it.created_at, it.id)
