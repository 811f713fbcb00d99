"""Queries that the user wrote down: a list in YAML or JSON, the same under the name `queries`, or JSON lines.

A query is a question, or an object: `text` (or `query`, `question`) and optionally `id`, `expected` (or `reference`),
`claims`, `domain`, `kind`, `topic`, `variations`, `difficulty`, `priority`, `source_urls`. The expected answer is a
text, or an object of `text` and `claims`.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from pydantic import AliasChoices, BaseModel, Field, field_validator

from ralph.errors import UsageError
from ralph.types import evolve
from ralph_grounding.ground_truth.claims_file import GivenClaims, claims_at
from ralph_grounding.ground_truth.located import Located, read_located
from ralph_grounding.materials import ExpectedAnswer, ExpectedClaim, Query, QueryKind
from ralph_grounding.queries.wordings import query_id

__all__ = ["read_queries", "with_claims"]

_FORM = (
    'Write a list of questions, or of objects such as {"id": "pricing", "text": "What does it cost?", '
    '"expected": "It costs 9 euros.", "claims": ["It costs 9 euros."]}.'
)
_MOST = 100_000


class _Entry(BaseModel, frozen=True, extra="forbid", coerce_numbers_to_str=True):
    id: str = Field(default="", max_length=200)
    text: str = Field(min_length=1, max_length=20_000, validation_alias=AliasChoices("text", "query", "question"))
    domain: str = ""
    kind: QueryKind = "informational"
    topic: str = ""
    variations: tuple[str, ...] = ()
    difficulty: float = Field(default=0.5, ge=0, le=1)
    priority: float = Field(default=0.0, allow_inf_nan=False)
    source_urls: tuple[str, ...] = ()
    ground_truth_version: str = ""

    @field_validator("text")
    @classmethod
    def _asks(cls, text: str) -> str:
        if not text.strip():
            raise ValueError("it is empty")
        return text.strip()


def read_queries(path: Path | str) -> tuple[Query, ...]:
    """Read the queries of a file, in its order.

    Raises:
        UsageError: the file cannot be read or has no queries; an entry is not in one of the forms; two have the same
            id. It names the file, the line or the entry, and the remedy.
    """
    located = read_located(path)
    entries, place = _entries(located)
    queries: dict[str, Query] = {}
    where: dict[str, str] = {}
    for number, entry in enumerate(entries):
        query = _query(located, entry, *place, number)
        if query.id in queries:
            located.refuse(
                f"the query {query.id[:80]!r} is there twice; the first one is in {where[query.id]}.",
                "Remove one, or give it another id.",
                *place,
                number,
            )
        queries[query.id], where[query.id] = query, located.at(*place, number)
    return tuple(queries.values())


def with_claims(queries: Sequence[Query], given: GivenClaims) -> tuple[Query, ...]:
    """Replace the queries' claims by those of another file, found by a query's id or its text.

    Raises:
        UsageError: there are claims for an unknown query; it names the place.
    """
    names = {name for query in queries for name in (query.id, query.text)}
    if orphans := [name for name in given.by_query if name not in names]:
        raise UsageError(
            f"{given.places[orphans[0]]}: it has claims for {orphans[0][:80]!r}, but no query has this id or text"
            f"{f'; the same goes for {len(orphans) - 1} others' if orphans[1:] else ''}.",
            "Use the id or the text of a query, or remove the claims.",
        )
    return tuple(_claimed(query, given) for query in queries)


def _claimed(query: Query, given: GivenClaims) -> Query:
    claims = given.by_query.get(query.id, given.by_query.get(query.text))
    if claims is None:
        return query
    return evolve(query, expected=evolve(query.expected, claims=claims))


def _entries(located: Located) -> tuple[list[Any], tuple[str, ...]]:
    data, place = located.data, ()
    if isinstance(data, dict):
        named = cast("dict[str, Any]", data)
        if named.keys() != {"queries"}:
            located.refuse("an object must have a list named queries, and nothing else.", _FORM)
        data, place = named["queries"], ("queries",)
    if not isinstance(data, list) or not data:
        located.refuse("it has no queries.", _FORM, *place)
    entries = cast("list[Any]", data)
    if len(entries) > _MOST:
        located.refuse(f"it has {len(entries)} queries, but at most {_MOST} are read.", "Split the file.", *place)
    return entries, place


def _query(located: Located, entry: object, *place: int | str) -> Query:
    if not isinstance(entry, str | dict):
        located.refuse("a query must be a question or an object.", _FORM, *place)
    held: dict[str, Any] = {"text": entry} if isinstance(entry, str) else dict(cast("dict[str, Any]", entry))
    expected = _expected(located, held, *place)
    checked = located.check(_Entry, held, _FORM, *place)
    said = {**checked.model_dump(), "id": checked.id or query_id(checked.text), "expected": expected}
    return Query.model_validate(said)


def _expected(located: Located, held: dict[str, Any], *place: int | str) -> ExpectedAnswer:
    """Take the expected answer out of an entry."""
    name = "expected" if "expected" in held else "reference"
    said: Any = held.pop(name, None)
    claims: tuple[ExpectedClaim, ...] | None = None
    if isinstance(said, dict):
        inner = cast("dict[str, Any]", said)
        if not inner.keys() <= {"text", "claims"}:
            located.refuse(f"{name} may only have text and claims.", _FORM, *place, name)
        if inner.get("claims") is not None:
            claims = claims_at(located, inner["claims"], *place, name, "claims")
        said = inner.get("text")
    if not isinstance(said, str | None):
        located.refuse(f"{name} must be a text, or an object with text and claims.", _FORM, *place, name)
    own: Any = held.pop("claims", None)
    if own is not None:
        if claims is not None:
            located.refuse(f"it has claims twice: its own, and those in {name}.", "Remove one.", *place)
        claims = claims_at(located, own, *place, "claims")
    return ExpectedAnswer(text=said or "", claims=claims)
