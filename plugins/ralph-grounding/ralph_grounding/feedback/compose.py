"""The feedback: the claims as a checklist, and the response with the supported parts marked."""

from bisect import bisect_left
from collections.abc import Sequence

from ralph_grounding.feedback.matching import Match, is_statement, match
from ralph_grounding.ground_truth.pages import GroundTruth
from ralph_grounding.result import (
    ClaimEvidence,
    ClaimFeedback,
    ClaimJudgement,
    CompletenessResult,
    Contradiction,
    Feedback,
    GroundTruthSource,
    Highlight,
    HighlightFeedback,
    MissingClaim,
    Segment,
    TextPosition,
)
from ralph_grounding.similarity.base import SimilarityProvider
from ralph_grounding.text.sentences import Span

__all__ = ["check_list", "claim_feedback", "give_feedback", "highlight_feedback", "highlighted"]


async def claim_feedback(
    completeness: CompletenessResult | None,
    response: str,
    ground_truth: GroundTruth,
    provider: SimilarityProvider,
    threshold: float,
) -> ClaimFeedback:
    """Report what became of the claims, of all levels of importance, and of the response's own statements.

    Args:
        completeness: None if no claims were expected.
        response: the response's text.
        ground_truth: the pages to look statements up in.
        provider: measures similarity.
        threshold: a statement with a higher similarity to a passage is in the ground truth.

    Raises:
        ProviderError: the provider does not answer.
    """
    matches = await match(response, ground_truth, provider)
    return check_list(completeness, response, matches if ground_truth.chunks else (), threshold)


def check_list(
    completeness: CompletenessResult | None, response: str, matches: Sequence[Match], threshold: float
) -> ClaimFeedback:
    """Build the same feedback from existing matches.

    A statement that may contradict something is not listed as unknown.

    Args:
        completeness: None if no claims were expected.
        response: the response's text.
        matches: empty without ground truth: no statement can be known or unknown then.
        threshold: see `claim_feedback`.
    """
    judgements = completeness.matches if completeness else ()
    contradicted = [_against_claim(judged) for judged in judgements if judged.conflicts]
    told = sorted(conflict.position.start for one in contradicted for conflict in one.conflicts)
    others = [found for found in matches if not _has_any(found.span, told)]
    contradicted += [_against_source(response, found) for found in others if found.conflicts]
    unknown = [
        found.stated
        for found in others
        if not found.conflicts
        and not found.is_supported(threshold)
        and is_statement(response[found.stated.start : found.stated.end])
    ]
    return ClaimFeedback(
        found=tuple(
            ClaimEvidence(claim=judged.claim, evidence=judged.matched_text, confidence=judged.similarity)
            for judged in judgements
            if judged.found
        ),
        missing=tuple(
            MissingClaim(claim=judged.claim, importance=judged.importance) for judged in judgements if not judged.found
        ),
        contradicts=tuple(sorted(contradicted, key=lambda one: one.position.start)),
        not_in_ground_truth=tuple(
            Segment(text=response[stated.start : stated.end], position=_position(stated)) for stated in unknown
        ),
    )


def _against_claim(judged: ClaimJudgement) -> Contradiction:
    return Contradiction(
        claim=judged.claim, statement=judged.matched_text, position=judged.position, conflicts=judged.conflicts
    )


def _against_source(response: str, found: Match) -> Contradiction:
    assert found.source
    return Contradiction(
        claim=found.source.text,
        statement=response[found.stated.start : found.stated.end],
        position=_position(found.stated),
        conflicts=found.conflicts,
        source=found.source.chunk.id,
    )


def _has_any(span: Span, starts: Sequence[int]) -> bool:
    """Return True if a conflict begins in the piece: a conflict with an expected claim is reported once."""
    place = bisect_left(starts, span.start)
    return place < len(starts) and starts[place] < span.end


def _position(span: Span) -> TextPosition:
    return TextPosition(start=span.start, end=span.end)


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
    supported = [found for found in matches if found.is_supported(threshold)]
    others = [found.span for found in matches if not found.is_supported(threshold)]
    visible = _visible(response, Span(0, len(response)))
    covered = sum(_visible(response, found.span) for found in supported)
    return HighlightFeedback(
        highlights=tuple(_highlight(response, found) for found in supported),
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
