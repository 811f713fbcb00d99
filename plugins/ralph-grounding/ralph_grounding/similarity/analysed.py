"""A statement with all that comparisons need: its words, amounts, dates and clauses."""

from functools import lru_cache
from typing import NamedTuple

from ralph_grounding.similarity.amounts import Amount, amounts
from ralph_grounding.similarity.bounds import Bound, bound_of
from ralph_grounding.similarity.clauses import Clause, clauses
from ralph_grounding.similarity.quantities import Date, dates
from ralph_grounding.similarity.statement import Statement, statement

__all__ = ["Analysed", "analysed", "spelt_alike"]


class Analysed(NamedTuple):
    """An analysed statement.

    Attributes:
        amounts: those that are not parts of dates.
        measured: the places of the words of amounts and dates, and of their bounds.
        bounds: for the start of an amount or date the bound that it is, as in "at most 12".
    """

    said: Statement
    amounts: tuple[Amount, ...]
    dates: tuple[Date, ...]
    clauses: tuple[Clause, ...]
    measured: frozenset[int]
    bounds: dict[int, Bound]


@lru_cache(maxsize=1024)
def analysed(text: str, language: str) -> Analysed:
    """Analyse a text; the last thousand are cached."""
    said = statement(text, language)
    found = tuple(dates(said))
    counted = tuple(a for a in amounts(said) if not any(d.start <= a.start < d.end for d in found))
    measured = {place for amount in counted for place in range(amount.first, amount.last + 1)}
    split = clauses(said, measured)
    measured |= {place for place, word in enumerate(said.words) if any(d.start <= word.start < d.end for d in found)}
    bounds = {each.start: bound for each in (*counted, *found) if (bound := bound_of(said, each.start, each.end))}
    measured.update(place for bound in bounds.values() for place in bound.places)
    return Analysed(said, counted, found, split, frozenset(measured), bounds)


@lru_cache(maxsize=32_768)
def spelt_alike(one: str, other: str) -> bool:
    """Return True if two stems begin with the same letters, most of the longer one."""
    longest = max(len(one), len(other))
    shared = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return shared >= 4 and shared >= 0.6 * longest
