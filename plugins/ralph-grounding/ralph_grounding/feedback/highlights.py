"""The response with the supported parts marked."""

from collections.abc import Sequence

from ralph_grounding.feedback.matching import Match, match
from ralph_grounding.ground_truth.pages import GroundTruth
from ralph_grounding.result import GroundTruthSource, Highlight, HighlightFeedback, Segment, TextPosition
from ralph_grounding.similarity.base import SimilarityProvider
from ralph_grounding.text.span import Span

__all__ = ["highlight_feedback", "highlighted"]


async def highlight_feedback(
    response: str, ground_truth: GroundTruth, provider: SimilarityProvider, threshold: float
) -> HighlightFeedback:
    """Find the parts of the response that are in the ground truth: pieces more similar than the threshold.

    Raises:
        ProviderError: the provider does not answer.
    """
    return highlighted(response, await match(response, ground_truth, provider), threshold)


def highlighted(response: str, matches: Sequence[Match], threshold: float) -> HighlightFeedback:
    """Build the same feedback from existing matches."""
    borne_out = [found for found in matches if found.is_borne_out(threshold)]
    others = [found.span for found in matches if not found.is_borne_out(threshold)]
    visible = _visible(response, Span(0, len(response)))
    covered = sum(_visible(response, found.span) for found in borne_out)
    return HighlightFeedback(
        highlights=tuple(_highlight(response, found) for found in borne_out),
        coverage_percent=100 * covered / visible if visible else 0.0,
        unmatched_segments=tuple(
            Segment(text=response[span.start : span.end], position=TextPosition(start=span.start, end=span.end))
            for span in others
        ),
        fallback=any(found.fallback for found in matches),
    )


def _highlight(response: str, found: Match) -> Highlight:
    assert found.source
    return Highlight(
        response_range=TextPosition(start=found.span.start, end=found.span.end),
        response_text=response[found.span.start : found.span.end],
        ground_truth_source=GroundTruthSource(
            chunk_id=found.source.chunk.id, page_url=found.source.page.url, matched_text=found.source.text
        ),
        similarity=found.similarity,
    )


def _visible(text: str, span: Span) -> int:
    """Count the characters that are not white space."""
    return sum(len(word) for word in text[span.start : span.end].split())
