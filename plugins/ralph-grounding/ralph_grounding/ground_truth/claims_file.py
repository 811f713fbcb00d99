"""Claims that the user wrote down: YAML or JSON, in one of three forms.

A list, for one answer or for all; an entry is a statement, or an object with its importance:

    - The free plan has three seats.
    - statement: Support answers within a day.
      importance: optional

The same under the name `claims`; or a mapping from the ids or the texts of queries to such lists:

    pricing:
      - The free plan has three seats.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

from pydantic import BaseModel, Field, field_validator

from ralph.errors import UsageError
from ralph_grounding.ground_truth.located import Located, read_located
from ralph_grounding.materials import ExpectedClaim, Importance

__all__ = ["GivenClaims", "claims_at", "read_claims", "read_claims_by_query"]

_FORM = (
    'Write a list of statements, or of {"statement": …, "importance": "required", "expected" or "optional"}; '
    "or a mapping from a query's id to such a list."
)
_MOST = 10_000


class GivenClaims(NamedTuple):
    """Claims by the id or the text of their query, and each query's place in the file: "claims.yaml, line 3"."""

    by_query: Mapping[str, tuple[ExpectedClaim, ...]]
    places: Mapping[str, str]


class _Entry(BaseModel, frozen=True, extra="forbid"):
    statement: str = Field(min_length=1, max_length=10_000)
    importance: Importance = "required"
    source_claim_id: str = ""

    @field_validator("statement")
    @classmethod
    def _says_something(cls, statement: str) -> str:
        if not statement.strip():
            raise ValueError("it is empty")
        return statement.strip()


def read_claims(path: Path | str, query: str = "") -> tuple[ExpectedClaim, ...]:
    """Read the claims of a file, each statement once.

    Args:
        path: the file.
        query: the query to select, if the file has claims by query.

    Raises:
        UsageError: the file cannot be read, is not in one of the forms, or has claims by query and none for this one.
            It names the file, the line or the entry, and the remedy.
    """
    located = read_located(path)
    held, place = _list_of(located)
    if held is not None:
        return claims_at(located, held, *place)
    by_query = _by_query(located).by_query
    if query in by_query:
        return by_query[query]
    if len(by_query) == 1 and not query:
        return next(iter(by_query.values()))
    wanted = f"but none for {query!r}" if query else "but no query is named"
    raise UsageError(f"{located.file}: it has claims by query, {wanted}.", f"It has claims for: {_some(by_query)}.")


def read_claims_by_query(path: Path | str) -> GivenClaims:
    """Read the claims of a file that has them by query. Raises `UsageError` for any other."""
    located = read_located(path)
    if _list_of(located)[0] is not None:
        located.refuse(
            "it has claims, but does not say for which queries.", "Write a mapping from a query's id to its list."
        )
    return _by_query(located)


def claims_at(located: Located, held: object, *place: int | str) -> tuple[ExpectedClaim, ...]:
    """Read the list of claims at a place of a file, each statement once. Raises `UsageError`."""
    if not isinstance(held, list):
        located.refuse(f"claims must be a list, but this is {_kind(held)}.", _FORM, *place)
    entries = cast("list[Any]", held)
    if len(entries) > _MOST:
        located.refuse(f"there are {len(entries)} claims, but at most {_MOST} are read.", "Split the file.", *place)
    claims: dict[str, ExpectedClaim] = {}
    for number, entry in enumerate(entries):
        here = (*place, number)
        if not isinstance(entry, str | dict):
            located.refuse(f"a claim must be a statement or an object, but this is {_kind(entry)}.", _FORM, *here)
        given = {"statement": entry} if isinstance(entry, str) else cast("dict[str, Any]", entry)
        checked = located.check(_Entry, given, _FORM, *here)
        before = claims.setdefault(checked.statement, ExpectedClaim(**checked.model_dump()))
        if before.importance != checked.importance:
            located.refuse(
                f"the claim {checked.statement[:80]!r} is there twice, as {before.importance} and as "
                f"{checked.importance}.", "Remove one of them.", *here,
            )  # fmt: skip
    return tuple(claims.values())


def _list_of(located: Located) -> tuple[Any, tuple[str, ...]]:
    """Return the list that the file is, or has as its only content under `claims`; None if it has claims by query."""
    data = located.data
    if isinstance(data, dict):
        named = cast("dict[str, Any]", data)
        return (named["claims"], ("claims",)) if named.keys() == {"claims"} else (None, ())
    if data is None:
        located.refuse("it is empty.", _FORM)
    if not isinstance(data, list):
        located.refuse(f"claims must be a list or a mapping, but this is {_kind(data)}.", _FORM)
    return cast("list[Any]", data), ()


def _by_query(located: Located) -> GivenClaims:
    named = cast("dict[str, Any]", located.data)
    if not named:
        located.refuse("it is empty.", _FORM)
    return GivenClaims(
        {query: claims_at(located, held, query) for query, held in named.items()},
        {query: located.at(query) for query in named},
    )


def _some(names: Mapping[str, object]) -> str:
    shown = [repr(name[:60]) for name in list(names)[:5]]
    return ", ".join(shown) + (" and others" if len(names) > len(shown) else "")


def _kind(held: object) -> str:
    kinds: dict[type, str] = {
        str: "a text",
        dict: "a mapping",
        list: "a list",
        bool: "a truth value",
        type(None): "nothing",
    }
    return kinds.get(type(held), "a number")
