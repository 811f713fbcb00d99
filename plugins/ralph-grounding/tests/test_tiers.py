"""What scores are called, and what they come to together."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from ralph_grounding.result import AccuracyResult, AttributionResult, CompletenessResult, Tier
from ralph_grounding.scoring.tiers import combined_score, tier_of
from ralph_grounding.settings import TierSettings, WeightSettings


# covers: S3-73, S3-74, S3-75, S3-76, S3-77, S3-78, K3-9
@pytest.mark.parametrize(
    ("score", "tier"),
    [
        (100, "excellent"),
        (85, "excellent"),
        (84.999, "good"),
        (84.5, "good"),
        (84, "good"),
        (70, "good"),
        (69.5, "fair"),
        (69, "fair"),
        (50, "fair"),
        (49.999, "poor"),
        (49, "poor"),
        (0, "poor"),
    ],
)
def test_a_score_has_the_highest_tier_that_it_reaches(score: float, tier: Tier) -> None:
    assert tier_of(score, TierSettings()) == tier


# covers: S3-143, S3-144, S3-145
def test_the_tiers_are_the_configured_ones() -> None:
    tiers = TierSettings(excellent=95, good=60, fair=10)
    assert [tier_of(score, tiers) for score in (95, 94.9, 60, 59.9, 10, 9.9)] == [
        "excellent",
        "good",
        "good",
        "fair",
        "fair",
        "poor",
    ]


# covers: K3-9
@pytest.mark.parametrize("tiers", [{"good": 85}, {"fair": 70}, {"excellent": 60}, {"good": 40}])
def test_tiers_that_do_not_descend_are_refused(tiers: dict[str, float]) -> None:
    with pytest.raises(ValidationError, match="must descend"):
        TierSettings(**tiers)


@given(st.floats(0, 100), st.floats(0, 100))
def test_a_higher_score_never_has_a_lower_tier(one: float, other: float) -> None:
    order = ("poor", "fair", "good", "excellent")
    low, high = sorted((one, other))
    assert order.index(tier_of(low, TierSettings())) <= order.index(tier_of(high, TierSettings()))


def _accuracy(score: float) -> AccuracyResult:
    return AccuracyResult(score=score, tier="poor", similarity=0, calibrated=0)


def _completeness(score: float) -> CompletenessResult:
    return CompletenessResult(score=score, tier="poor", total_required=0, total_found=0)


def _attribution(score: float) -> AttributionResult:
    return AttributionResult(score=score, tier="poor")


# covers: S3-178
def test_the_combined_score_weighs_each_metric() -> None:
    scores = (_accuracy(90), _completeness(60), _attribution(25))
    assert combined_score(*scores, WeightSettings()) == pytest.approx(0.4 * 90 + 0.4 * 60 + 0.2 * 25)
    assert combined_score(*scores, WeightSettings(accuracy=0, completeness=1, attribution=3)) == pytest.approx(33.75)


def test_the_best_of_all_scores_is_a_hundred_whatever_the_weights() -> None:
    weights = WeightSettings(accuracy=0.7, completeness=0.2, attribution=0.9)  # whose mean, in floating point, is more
    assert combined_score(_accuracy(100), _completeness(100), _attribution(100), weights) == 100


def test_what_was_not_measured_weighs_nothing() -> None:
    assert combined_score(_accuracy(90), None, _attribution(30), WeightSettings()) == pytest.approx(70)
    assert combined_score(None, _completeness(61), None, WeightSettings()) == pytest.approx(61)
    assert combined_score(None, None, None, WeightSettings()) is None
    only = WeightSettings(accuracy=0, completeness=0, attribution=1)
    assert combined_score(_accuracy(90), None, None, only) is None


@given(*[st.floats(0, 100)] * 3, *[st.floats(0, 100)] * 2)
def test_the_combined_score_lies_among_those_it_is_of(a: float, c: float, t: float, wa: float, wc: float) -> None:
    weights = WeightSettings(accuracy=wa, completeness=wc, attribution=1)
    combined = combined_score(_accuracy(a), _completeness(c), _attribution(t), weights)
    assert combined is not None
    assert min(a, c, t) - 1e-9 <= combined <= max(a, c, t) + 1e-9
