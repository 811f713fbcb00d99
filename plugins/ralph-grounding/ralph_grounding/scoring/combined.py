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
    """The mean of the scores that are there, by their weights, 0–100.

    None where none is there, or where those that are weigh nothing.
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
