"""Both kinds of feedback for the price of one."""

from ralph_grounding.feedback.claims import check_list
from ralph_grounding.feedback.highlights import highlighted
from ralph_grounding.feedback.matching import match
from ralph_grounding.ground_truth.pages import GroundTruth
from ralph_grounding.result import CompletenessResult, Feedback
from ralph_grounding.similarity.base import SimilarityProvider

__all__ = ["give_feedback"]


async def give_feedback(
    completeness: CompletenessResult | None,
    response: str,
    ground_truth: GroundTruth,
    provider: SimilarityProvider,
    threshold: float,
) -> Feedback:
    """Build `claim_feedback` and `highlight_feedback`, with each piece of the response looked up only once.

    Raises:
        ProviderError: the provider does not answer.
    """
    matches = await match(response, ground_truth, provider)
    return Feedback(
        claims=check_list(completeness, response, matches if ground_truth.chunks else (), threshold),
        highlights=highlighted(response, matches, threshold),
    )
