"""Filters as SQL conditions; the user's text is only bound to a statement, never part of it."""

import operator
from collections.abc import Callable, Iterable
from typing import Any

from sqlalchemy import ColumnElement, and_, not_, or_, true

from ralph_grounding.filters import Condition
from ralph_grounding.store.rows import storable
from ralph_grounding.store.tables import analyses

__all__ = ["condition_of"]

_COLUMNS: dict[str, ColumnElement[Any]] = {
    "accuracy": analyses.c.accuracy_score,
    "completeness": analyses.c.completeness_score,
    "attribution": analyses.c.attribution_score,
    "combined": analyses.c.combined_score,
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
