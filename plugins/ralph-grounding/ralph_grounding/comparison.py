"""Comparison of sides on one set of queries: providers, models or runs, by their differences query by query."""

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Literal, Protocol, get_args

from pydantic import BaseModel, Field

from ralph.types import evolve
from ralph_grounding.result import AnalysisResult

__all__ = ["COMPARED", "Compared", "Comparison", "MetricDifference", "PairComparison", "Scored", "Side", "compare"]

Compared = Literal["accuracy", "completeness", "attribution", "combined", "support", "contradiction"]
COMPARED: tuple[Compared, ...] = get_args(Compared)

_STUDENT = (12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281)
"""The bounds of the middle 95 % of Student's t, for 1 to 10 degrees of freedom."""
_NORMAL = 1.959964
_MOST_EXACT = 13
_MOST_FLIPS = 9_999
_MOST_SIGNS = 20_000_000
_TIE = 1e-9


class Scored(Protocol):
    """The part of an analysis that is compared; a row of the store has it, too."""

    @property
    def query_id(self) -> str: ...
    @property
    def query(self) -> str: ...
    @property
    def accuracy(self) -> float | None: ...
    @property
    def completeness(self) -> float | None: ...
    @property
    def attribution(self) -> float | None: ...
    @property
    def combined(self) -> float | None: ...


class Side(BaseModel, frozen=True):
    """One side by itself.

    Attributes:
        queries: number of queries that it answered.
        means: the mean of all its answers, for each measured metric.
    """

    name: str
    queries: int
    means: Mapping[Compared, float]


class MetricDifference(BaseModel, frozen=True):
    """The first side's scores minus the second's, query by query.

    Attributes:
        pairs: the number of queries for which both sides have this score; all other values are about these.
        low, high: the bounds of the 95 % confidence interval of the mean difference, if the differences are about
            normal (Student's t); None for fewer than two pairs.
        wins, losses, ties: of the first side.
        p_value: the two-sided probability that chance alone makes as large a difference. With up to 13 queries that
            differ it is exact: the share of the sign flips of the differences with a mean at least as far from 0. With
            more it is the share of up to 9,999 random flips, always the same ones.
        adjusted_p: the same after Holm's correction for all pairs of sides compared on this metric.
        note: the reason for a missing p value, or for one of 1.
    """

    metric: Compared
    pairs: int = Field(ge=0)
    mean: float | None = None
    median: float | None = None
    low: float | None = None
    high: float | None = None
    wins: int = 0
    losses: int = 0
    ties: int = 0
    p_value: float | None = None
    adjusted_p: float | None = None
    note: str = ""


class PairComparison(BaseModel, frozen=True):
    """Two sides. Queries that only one of them answered are listed by their ids and left out of everything else.

    A different question under the same id is another query.
    """

    first: str
    second: str
    metrics: tuple[MetricDifference, ...]
    only_first: tuple[str, ...] = ()
    only_second: tuple[str, ...] = ()


class Comparison(BaseModel, frozen=True):
    """All sides, and each pair of them in the order in which they were given."""

    sides: tuple[Side, ...]
    pairs: tuple[PairComparison, ...]


_Row = tuple[float | None, ...]
"""One query's scores, in the order of `COMPARED`."""

_Table = Mapping[tuple[str, str], _Row]
"""The rows of a side, each by its query's id and text."""


def compare(sides: Mapping[str, Iterable[AnalysisResult | Scored]]) -> Comparison:
    """Compare the sides, given as each one's analyses by its name.

    Several answers of a side to the same query count by their mean. Memory holds six numbers per query and side.
    """
    tables = {name: _table(analyses) for name, analyses in sides.items()}
    pairs = [_pair(first, second, tables[first], tables[second]) for first, second in combinations(tables, 2)]
    return Comparison(
        sides=tuple(Side(name=name, queries=len(table), means=_means(table)) for name, table in tables.items()),
        pairs=tuple(_corrected(pairs)),
    )


def _table(analyses: Iterable[AnalysisResult | Scored]) -> _Table:
    sums: dict[tuple[str, str], list[tuple[float, int]]] = {}
    for analysis in analyses:
        row = sums.setdefault((analysis.query_id, analysis.query), [(0.0, 0)] * len(COMPARED))
        for place, score in enumerate(_scores(analysis)):
            if score is not None:
                row[place] = (row[place][0] + score, row[place][1] + 1)
    return {query: tuple(sum_ / count if count else None for sum_, count in row) for query, row in sums.items()}


def _scores(analysis: AnalysisResult | Scored) -> _Row:
    if not isinstance(analysis, AnalysisResult):
        rates = getattr(analysis, "support", None), getattr(analysis, "contradiction", None)
        return analysis.accuracy, analysis.completeness, analysis.attribution, analysis.combined, *rates
    scores = analysis.scores
    return (
        scores.accuracy and scores.accuracy.score,
        scores.completeness and scores.completeness.score,
        scores.attribution and scores.attribution.score,
        scores.combined,
        scores.support_rate,
        scores.contradiction_rate,
    )


def _means(table: _Table) -> dict[Compared, float]:
    means: dict[Compared, float] = {}
    for place, metric in enumerate(COMPARED):
        measured = [score for row in table.values() if (score := row[place]) is not None]
        if measured:
            means[metric] = math.fsum(measured) / len(measured)
    return means


def _pair(first: str, second: str, one: _Table, other: _Table) -> PairComparison:
    both = [query for query in one if query in other]
    return PairComparison(
        first=first,
        second=second,
        metrics=tuple(
            _difference(metric, [(one[query][place], other[query][place]) for query in both])
            for place, metric in enumerate(COMPARED)
        ),
        only_first=tuple(query[0] for query in one if query not in other),
        only_second=tuple(query[0] for query in other if query not in one),
    )


def _difference(metric: Compared, scores: Sequence[tuple[float | None, float | None]]) -> MetricDifference:
    exact = [one - other for one, other in scores if one is not None and other is not None]
    differences = [0.0 if abs(difference) <= _TIE else difference for difference in exact]
    if not differences:
        return MetricDifference(metric=metric, pairs=0, note="no query has this score on both sides")
    low, high = _interval(differences)
    p_value, note = _significance(differences)
    return MetricDifference(
        metric=metric,
        pairs=len(differences),
        mean=math.fsum(differences) / len(differences),
        median=statistics.median(differences),
        low=low,
        high=high,
        wins=sum(difference > 0 for difference in differences),
        losses=sum(difference < 0 for difference in differences),
        ties=sum(difference == 0 for difference in differences),
        p_value=p_value,
        note=note,
    )


def _interval(differences: Sequence[float]) -> tuple[float | None, float | None]:
    if len(differences) < 2:
        return None, None
    mean, deviation = statistics.fmean(differences), statistics.stdev(differences)
    reach = _student(len(differences) - 1) * deviation / math.sqrt(len(differences))
    return max(-100.0, mean - reach), min(100.0, mean + reach)


def _student(degrees: int) -> float:
    """Return the bound of the middle 95 % of Student's t, from the expansion around the normal distribution's."""
    if degrees <= len(_STUDENT):
        return _STUDENT[degrees - 1]
    return _NORMAL + 2.37227 / degrees + 2.82250 / degrees**2 + 2.55585 / degrees**3


def _significance(differences: Sequence[float]) -> tuple[float | None, str]:
    """Compute the p value and the note about it. Ties do not change it."""
    if len(differences) < 2:
        return None, "a single query says nothing about others"
    differing = [difference for difference in differences if difference]
    if not differing:
        return 1.0, "both sides have the same score in every query"
    if len(differing) == 1:
        return 1.0, "only one query has different scores"
    return (_exact(differing) if len(differing) <= _MOST_EXACT else _sampled(differing)), ""


def _exact(differences: Sequence[float]) -> float:
    """Return the share of all sign flips with a sum at least as far from 0."""
    sums = [0.0]
    for difference in differences:
        sums = [total + signed for total in sums for signed in (difference, -difference)]
    least = abs(math.fsum(differences)) - _TIE
    return sum(abs(total) >= least for total in sums) / len(sums)


def _sampled(differences: Sequence[float]) -> float:
    """Return the share of random sign flips with a sum at least as far from 0, the given signs among them."""
    import numpy as np

    values = np.array(differences)
    least = abs(values.sum()) - _TIE
    flips = max(999, min(_MOST_FLIPS, _MOST_SIGNS // len(values)))
    random = np.random.default_rng(0)
    signs = (random.integers(0, 2, len(values), dtype=np.int8) * 2 - 1 for _ in range(flips))
    return (1 + sum(abs(float(values @ each)) >= least for each in signs)) / (1 + flips)


def _corrected(pairs: Sequence[PairComparison]) -> list[PairComparison]:
    by_metric = zip(
        *(_holm([pair.metrics[place].p_value for pair in pairs]) for place in range(len(COMPARED))), strict=True
    )
    return [
        evolve(
            pair,
            metrics=tuple(
                evolve(difference, adjusted_p=adjusted) for difference, adjusted in zip(pair.metrics, row, strict=True)
            ),
        )
        for pair, row in zip(pairs, by_metric, strict=True)
    ]


def _holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Apply Holm's correction: the smallest p times the number of tests, the next times one less, never descending."""
    adjusted: list[float | None] = [None] * len(p_values)
    tested = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    highest = 0.0
    for rank, (p, place) in enumerate(tested):
        highest = max(highest, min(1.0, p * (len(tested) - rank)))
        adjusted[place] = highest
    return adjusted
