"""Providers against each other, on worked numbers."""

import statistics
import warnings
from datetime import UTC, datetime
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ralph_grounding.comparison import COMPARED, Comparison, MetricDifference, compare
from ralph_grounding.result import AccuracyResult, AnalysisResult, AttributionResult, CompletenessResult, Scores


class _Analysed(NamedTuple):
    query_id: str
    query: str
    accuracy: float | None = None
    completeness: float | None = None
    attribution: float | None = None
    combined: float | None = None


def _analysed(query: str, accuracy: float | None, completeness: float | None = None) -> _Analysed:
    return _Analysed(query, f"what is {query}?", accuracy, completeness)


def _side(*scores: float | None) -> list[_Analysed]:
    return [_analysed(f"q{place}", score) for place, score in enumerate(scores)]


def _accuracy(comparison: Comparison, pair: int = 0) -> MetricDifference:
    return comparison.pairs[pair].metrics[COMPARED.index("accuracy")]


# covers: S3-181
def test_two_sides_are_compared_query_by_query() -> None:
    found = _accuracy(compare({"a": _side(80, 70, 60, 50, 90), "b": _side(79, 68, 57, 46, 85)}))
    # Differences 1 to 5: mean 3, deviation √2.5, t₀.₉₇₅ with 4 degrees 2.7764; two of the 32 sign patterns are as far.
    assert (found.pairs, found.mean, found.median) == (5, 3, 3)
    assert (found.low, found.high) == (pytest.approx(3 - 1.9632, abs=1e-4), pytest.approx(3 + 1.9632, abs=1e-4))
    assert (found.wins, found.losses, found.ties) == (5, 0, 0)
    assert found.p_value == pytest.approx(2 / 32)
    assert found.adjusted_p == found.p_value


@pytest.mark.parametrize(("queries", "quantile"), [(3, 4.3027), (12, 2.2010), (31, 2.0423), (121, 1.9799)])
def test_the_interval_is_students(queries: int, quantile: float) -> None:
    found = _accuracy(
        compare({"a": _side(*(50 + (-1) ** place for place in range(queries))), "b": _side(*[50] * queries)})
    )
    assert found.mean is not None
    assert found.high is not None
    deviation = statistics.stdev([(-1) ** place for place in range(queries)])
    assert found.high - found.mean == pytest.approx(quantile * deviation / queries**0.5, rel=1e-4)


def test_the_test_counts_the_sign_patterns_that_are_as_far() -> None:
    # Differences 4, -1, 3, 2: the mean is 2; of 16 patterns those of sum ≥ 8 are + + + + and the one with -1.
    found = _accuracy(compare({"a": _side(54, 49, 53, 52), "b": _side(50, 50, 50, 50)}))
    assert (found.wins, found.losses, found.ties) == (3, 1, 0)
    assert found.p_value == pytest.approx(4 / 16)
    # A tie is one more pair that says nothing: the share of patterns stays.
    found = _accuracy(compare({"a": _side(54, 49, 53, 52, 50), "b": _side(50, 50, 50, 50, 50)}))
    assert (found.wins, found.losses, found.ties) == (3, 1, 1)
    assert found.p_value == pytest.approx(4 / 16)


def test_swapping_the_sides_turns_the_signs() -> None:
    one, other = _side(80, 70, 61), _side(79, 75, 40)
    there, back = _accuracy(compare({"a": one, "b": other})), _accuracy(compare({"b": other, "a": one}))
    assert back.mean == pytest.approx(-(there.mean or 0))
    assert (back.wins, back.losses, back.p_value) == (there.losses, there.wins, there.p_value)
    assert back.low == pytest.approx(-(there.high or 0))


def test_many_queries_are_tested_on_a_sample_of_sign_patterns() -> None:
    # Fourteen differences of one sign: 2 of the 2¹⁴ sign patterns are as far, so 1 to 4 of 10,000 samples.
    sides = {"a": _side(*(50.0 + place for place in range(1, 15))), "b": _side(*[50.0] * 14)}
    found = _accuracy(compare(sides))
    assert found.p_value is not None
    assert 0.0001 <= found.p_value <= 0.0006
    assert _accuracy(compare(sides)) == found
    found = _accuracy(compare({"a": _side(*([60, 50] * 20)), "b": _side(*([50, 50] * 20))}))
    assert found.p_value is not None
    assert found.p_value < 0.001
    even = _accuracy(compare({"a": _side(*([60, 50] * 20)), "b": _side(*([50, 60] * 20))}))
    assert even.p_value == pytest.approx(1)


def test_one_query_that_differs_shows_nothing() -> None:
    found = _accuracy(compare({"a": _side(50, 60, 90), "b": _side(50, 60, 70)}))
    assert (found.p_value, found.ties) == (1, 2)
    assert "only one query" in found.note


def test_no_difference_is_p_1_with_a_reason() -> None:
    found = _accuracy(compare({"a": _side(50, 60, 0.1 + 0.2), "b": _side(50, 60, 0.3)}))
    assert (found.mean, found.low, found.high, found.p_value, found.ties) == (0, 0, 0, 1, 3)
    assert "same score in every query" in found.note


def test_one_query_has_no_p_value_but_a_reason() -> None:
    found = _accuracy(compare({"a": _side(50), "b": _side(60)}))
    assert (found.pairs, found.mean, found.low, found.p_value, found.adjusted_p) == (1, -10, None, None, None)
    assert "a single query" in found.note


def test_queries_that_only_one_side_answered_are_listed_and_left_out() -> None:
    comparison = compare({
        "a": [_analysed("x", 50), _analysed("both", 80), _analysed("y", 50)],
        "b": [_analysed("both", 70), _analysed("z", 0)],
    })
    (pair,) = comparison.pairs
    assert (pair.only_first, pair.only_second) == (("x", "y"), ("z",))
    assert (_accuracy(comparison).pairs, _accuracy(comparison).mean) == (1, 10)
    assert [(side.name, side.queries) for side in comparison.sides] == [("a", 3), ("b", 2)]
    assert comparison.sides[0].means == {"accuracy": 60}


def test_an_id_under_which_something_else_was_asked_is_another_query() -> None:
    one, other = _analysed("q", 80), _analysed("q", 20)._replace(query="something else")
    comparison = compare({"a": [one, _analysed("r", 60)], "b": [other, _analysed("r", 50)]})
    (pair,) = comparison.pairs
    assert (pair.only_first, pair.only_second) == (("q",), ("q",))
    assert (_accuracy(comparison).pairs, _accuracy(comparison).mean) == (1, 10)


def test_what_one_side_was_not_measured_for_counts_nowhere() -> None:
    comparison = compare({
        "a": [_analysed("q", 80, 50), _analysed("r", 60, 70)],
        "b": [_analysed("q", 70, None), _analysed("r", None, 90)],
    })
    by_name = {found.metric: found for found in comparison.pairs[0].metrics}
    assert (by_name["accuracy"].pairs, by_name["accuracy"].mean) == (1, 10)
    assert (by_name["completeness"].pairs, by_name["completeness"].mean) == (1, -20)
    assert (by_name["attribution"].pairs, by_name["attribution"].p_value) == (0, None)
    assert by_name["attribution"].note


def test_all_four_scores_of_a_result_are_compared() -> None:
    def analysed(score: float) -> AnalysisResult:
        return AnalysisResult(
            id="1",
            query_id="q",
            response="",
            scores=Scores(
                accuracy=AccuracyResult(score=score, tier="poor", similarity=0, calibrated=0),
                completeness=CompletenessResult(score=score + 1, tier="poor", total_required=0, total_found=0),
                attribution=AttributionResult(score=score + 2, tier="poor"),
                combined=score + 3,
                support_rate=score + 4,
                contradiction_rate=score + 5,
            ),
            analyzed_at=datetime(2026, 1, 1, tzinfo=UTC),
            analyzer_version="1",
        )

    comparison = compare({"a": [analysed(60)], "b": [analysed(40)]})
    assert {found.metric: found.mean for found in comparison.pairs[0].metrics} == dict.fromkeys(COMPARED, 20)
    assert comparison.sides[1].means == dict(zip(COMPARED, range(40, 46), strict=True))


def test_several_answers_to_a_query_count_as_their_mean() -> None:
    found = _accuracy(compare({"a": [*_side(90), *_side(70)], "b": _side(60)}))
    assert (found.pairs, found.mean) == (1, 20)


def test_more_pairs_of_sides_are_corrected_for() -> None:
    base = [50.0] * 6
    sides = {
        "a": _side(*base),
        "b": _side(*(s + 10 for s in base)),
        "c": _side(*(s + 1 - i for i, s in enumerate(base))),
    }
    comparison = compare(sides)
    assert [(pair.first, pair.second) for pair in comparison.pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    raw = [_accuracy(comparison, pair).p_value for pair in range(3)]
    adjusted = [_accuracy(comparison, pair).adjusted_p for pair in range(3)]
    # The smallest two are 2/64 each, times 3 and then times 2, but never less than the one before; the last times 1.
    assert (raw[0], raw[2]) == (2 / 64, 2 / 64)
    assert adjusted[0] == pytest.approx(6 / 64)
    assert adjusted[2] == pytest.approx(6 / 64)
    assert adjusted[1] == pytest.approx(max(6 / 64, raw[1] or 0))


@pytest.mark.parametrize("sides", [{}, {"a": []}, {"a": [], "b": []}, {"a": [], "b": _side(50)}])
def test_nothing_to_compare_is_no_error(sides: dict[str, list[_Analysed]]) -> None:
    comparison = compare(sides)
    assert len(comparison.sides) == len(sides)
    assert all(found.p_value is None for pair in comparison.pairs for found in pair.metrics)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from([0.0, 25, 50, 75, 100]), st.floats(0, 100)), max_size=24))
def test_any_scores_compare_without_a_warning(scores: list[tuple[float, float]]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = _accuracy(compare({"a": _side(*(a for a, _ in scores)), "b": _side(*(b for _, b in scores))}))
    assert found.wins + found.losses + found.ties == found.pairs == len(scores)
    if found.p_value is not None:
        assert 0 < found.p_value <= 1
    if found.low is not None and found.high is not None:
        assert -100 <= found.low <= found.high <= 100
