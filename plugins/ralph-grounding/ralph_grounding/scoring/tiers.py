"""The meaning of scores: the threshold, the tiers, and the combined score of an answer."""

from ralph_grounding.result import AccuracyResult, AttributionResult, CompletenessResult, Tier
from ralph_grounding.settings import TierSettings, WeightSettings

__all__ = ["combined_score", "is_above", "tier_of"]

_DIGITS = 6


def is_above(similarity: float, threshold: float) -> bool:
    """Return True if a calibrated similarity is above the threshold; both are rounded to six decimals first."""
    return round(similarity, _DIGITS) > round(threshold, _DIGITS)


def tier_of(score: float, tiers: TierSettings) -> Tier:
    """Return the highest tier with a minimum that the score reaches: 84.9 is good, 85 is excellent."""
    if score >= tiers.excellent:
        return "excellent"
    if score >= tiers.good:
        return "good"
    if score >= tiers.fair:
        return "fair"
    return "poor"


def combined_score(
    accuracy: AccuracyResult | None,
    completeness: CompletenessResult | None,
    attribution: AttributionResult | None,
    weights: WeightSettings,
) -> float | None:
    """Return the mean of the existing scores by their weights, 0–100.

    None if there are no scores, or if their weights are 0.
    """
    weighed = [
        (result.score, weight)
        for result, weight in (
            (accuracy, weights.accuracy),
            (completeness, weights.completeness),
            (attribution, weights.attribution),
        )
        if result is not None
    ]
    total = sum(weight for _, weight in weighed)
    if not total:
        return None
    return min(100.0, sum(score * weight for score, weight in weighed) / total)
