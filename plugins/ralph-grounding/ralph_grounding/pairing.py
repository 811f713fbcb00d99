"""Pairing of responses with queries, and the errors for responses that have none."""

from collections.abc import Iterator
from typing import NamedTuple

from ralph_grounding.materials import AIResponse, Query
from ralph_grounding.store.records import BatchError, QuerySet

__all__ = ["Pair", "Pairing"]


class Pair(NamedTuple):
    """A response, and the query that it answers."""

    response: AIResponse
    query: Query


class Pairing:
    """Matcher of responses to queries by the query's id. Each query has one response per provider and model."""

    def __init__(self, queries: QuerySet) -> None:
        self._queries = {query.id: query for query in queries.queries}
        self._kept = _Answered()
        self._seen = _Answered()

    def pass_over(self, query_id: str, provider: str, model: str) -> None:
        """Skip that response: an earlier attempt analysed it."""
        self._kept.add(query_id, provider, model)

    def pair(self, given: AIResponse | BatchError) -> Pair | BatchError | None:
        """Return the pair, or the error if there is none, or None for a response that was analysed before."""
        query = self._queries.get(given.query_id)
        if query is None:
            return _wrong(given, "No query has this id.")
        asked = (query.id, given.provider, given.model)
        if asked in self._seen:
            return _wrong(given, "This provider and model answered this query more than once.")
        self._seen.add(*asked)
        if asked in self._kept:
            return None
        return given if isinstance(given, BatchError) else Pair(given, query)

    def unanswered(self) -> Iterator[BatchError]:
        """Yield an error for each query without an answer."""
        answered = self._seen.queries | self._kept.queries
        for query_id in self._queries:
            if query_id not in answered:
                yield BatchError(query_id=query_id, error="This query has no response.")


class _Answered:
    """The set of answered queries per provider and model, in little memory."""

    def __init__(self) -> None:
        self._of: dict[tuple[str, str], set[str]] = {}

    @property
    def queries(self) -> set[str]:
        return set[str]().union(*self._of.values())

    def add(self, query_id: str, provider: str, model: str) -> None:
        self._of.setdefault((provider, model), set()).add(query_id)

    def __contains__(self, asked: tuple[str, str, str]) -> bool:
        query_id, provider, model = asked
        return query_id in self._of.get((provider, model), ())


def _wrong(given: AIResponse | BatchError, problem: str) -> BatchError:
    said = given.error if isinstance(given, BatchError) else problem
    return BatchError(query_id=given.query_id, provider=given.provider, model=given.model, error=said)
