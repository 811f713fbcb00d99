"""What the scores of a run come to."""

import json
import math
import statistics
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_grounding.result import AccuracyResult, Scores
from ralph_grounding.summary import METRICS, Point, ScoreTally, points_of

T0 = datetime(2026, 3, 1, tzinfo=UTC)
TIERS = {"excellent", "good", "fair", "poor"}


def tier(score):
    return "excellent" if score >= 85 else "good" if score >= 70 else "fair" if score >= 50 else "poor"


def summary(*rows, run_id="run", failed=0):
    """Of rows of three scores, None for what was not measured."""
    tally = ScoreTally()
    for row in rows:
        tally.add(*(None if score is None else Point(score, tier(score)) for score in row))
    return tally.summary(domain="example.com", run_id=run_id, run_at=T0, failed=failed)


# covers: S3-126, S3-127, S3-128, S3-129, S3-130
def test_each_metric_has_its_five_numbers():
    found = summary((90, 50, 0), (70, 60, 100), (50, None, 75), failed=2)
    assert (found.domain, found.run_id, found.run_at) == ("example.com", "run", T0)
    assert (found.query_count, found.failed_count) == (3, 2)
    accuracy = found.accuracy
    assert (accuracy.mean, accuracy.median, accuracy.min, accuracy.max) == (70, 70, 50, 90)
    assert accuracy.distribution == {"excellent": 1, "good": 1, "fair": 1, "poor": 0}
    completeness = found.completeness
    assert (completeness.mean, completeness.median, completeness.measured) == (55, 55, 2)
    assert found.attribution.distribution == {"excellent": 1, "good": 1, "fair": 0, "poor": 1}
    assert found.attribution.median == 75


# covers: S3-131
@given(st.lists(st.tuples(*[st.none() | st.floats(0, 100)] * 3), max_size=50))
def test_a_distribution_has_all_tiers_and_sums_to_what_was_measured(rows):
    found = summary(*rows)
    assert found.query_count == len(rows)
    for place, name in enumerate(METRICS):
        scores = [row[place] for row in rows if row[place] is not None]
        metric = found.metric(name)
        assert set(metric.distribution) == TIERS
        assert sum(metric.distribution.values()) == metric.measured == len(scores)
        if scores:
            assert metric.median == statistics.median(scores)
            assert metric.mean == pytest.approx(statistics.fmean(scores))
            assert metric.min is not None
            assert metric.mean is not None
            assert metric.max is not None
            assert metric.min <= metric.mean <= metric.max


# covers: K3-14
def test_of_nothing_there_is_no_mean_and_json_says_null():
    found = summary()
    assert (found.accuracy.mean, found.accuracy.median, found.accuracy.min, found.accuracy.max) == (None,) * 4
    told = json.loads(found.model_dump_json())
    assert told["accuracy"]["mean"] is None
    assert "NaN" not in found.model_dump_json()
    assert found.against(summary(), same_queries=True).trend is not None


# covers: S3-132, S3-133
def test_a_trend_is_the_difference_to_the_run_before():
    assert summary((1, 1, 1)).trend is None
    before = summary((80, 50, None), run_id="before")
    found = summary((90, 40, 10)).against(before, same_queries=True)
    assert found.trend is not None
    assert (found.trend.previous_run_id, found.trend.note) == ("before", "")
    assert (found.trend.accuracy_delta, found.trend.completeness_delta) == (10, -10)
    assert found.trend.attribution_delta is None


# covers: K3-14
def test_that_the_queries_were_others_is_noted():
    found = summary((90, 40, 10)).against(summary((80, 50, 10)), same_queries=False)
    assert found.trend is not None
    assert "another set of queries" in found.trend.note
    assert not found.trend.same_queries


@pytest.mark.parametrize(
    ("before", "now", "alerts"),
    [(80, 72, 0), (80, 71.9, 1), (80, 80, 0), (10, 8.9, 1), (0, 0, 0), (50, 90, 0), (None, 5, 0), (90, None, 0)],
)
def test_a_fall_by_more_than_a_tenth_is_told_of(before, now, alerts):
    found = summary((now, 50, 50)).against(summary((before, 50, 50)), same_queries=True)
    assert len(found.alerts) == alerts
    if alerts:
        assert found.alerts[0].metric == "accuracy"
        assert str(found.alerts[0]).startswith("accuracy fell by 1")


def test_the_points_of_an_analysis_are_its_scores():
    scores = Scores(accuracy=AccuracyResult(score=88, tier="excellent", similarity=0.9, calibrated=0.88))
    assert points_of(scores) == (Point(88, "excellent"), None, None)


def test_a_hundred_thousand_scores_are_exact():
    tally = ScoreTally()
    for number in range(100_001):
        tally.add(Point(number % 101, "poor"), None, None)
    found = tally.summary(domain="", run_id="", run_at=T0).accuracy
    scores = [number % 101 for number in range(100_001)]
    assert found.mean == math.fsum(scores) / len(scores)
    assert found.median == statistics.median(scores)


def test_the_rates_are_means_over_the_analyses_that_have_them() -> None:
    tally = ScoreTally()
    for rates in ((50.0, 0.0), (100.0, 20.0), (None, 10.0)):
        tally.add(None, None, None, rates=rates)
    summary = tally.summary(domain="", run_id="r", run_at=datetime(2026, 1, 1, tzinfo=UTC))
    assert (summary.support_rate, summary.contradiction_rate) == (75, 10)


def test_answers_in_another_language_are_counted_apart() -> None:
    tally = ScoreTally()
    tally.add(Point(80, "good"), None, None)
    tally.add_apart()
    summary = tally.summary(domain="", run_id="r", run_at=T0)
    assert (summary.query_count, summary.other_language, summary.accuracy.mean) == (2, 1, 80)
