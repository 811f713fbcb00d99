"""One score for an answer, from those that were measured."""

from ralph_grounding.result import AccuracyResult, AttributionResult, CompletenessResult
from ralph_grounding.settings import WeightSettings

__all__ = ["combined_score"]


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
