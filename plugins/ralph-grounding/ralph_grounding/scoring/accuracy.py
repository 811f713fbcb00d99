"""Accuracy: the similarity between a response and the expected answer."""

from collections.abc import Sequence

from ralph_grounding.ground_truth.pages import GroundTruth
from ralph_grounding.result import AccuracyResult, ChunkMatch, TextPosition
from ralph_grounding.scoring.tiers import tier_of
from ralph_grounding.settings import AccuracySettings, TierSettings
from ralph_grounding.similarity.base import NO_SIMILARITY, Similarity, SimilarityProvider, check
from ralph_grounding.text import Span, paragraphs, sentences, trimmed

__all__ = ["AccuracyScorer"]

_MOST_PIECES = 32
"""Beyond so many pieces neighbours are joined: each piece costs a call to the provider."""


class AccuracyScorer:
    """Scorer that compares a response with the expected answer, piece by piece, and finds evidence in the ground truth.

    A response of several pieces has the similarity of its best piece, or of the whole if that is higher ("max", the
    default): many right answers state the fact in one place and continue. The mean of the pieces, weighted by their
    lengths ("mean"), counts everything else against an answer; it separated right from wrong answers a little less
    well. The result has both, and the settings choose which one makes the score.

    Args:
        provider: measures the similarity; entered by the caller.
    """

    def __init__(
        self,
        provider: SimilarityProvider,
        settings: AccuracySettings | None = None,
        tiers: TierSettings | None = None,
    ) -> None:
        self._provider = provider
        self._settings = settings or AccuracySettings()
        self._tiers = tiers or TierSettings()

    async def score(
        self, response: str, reference: str, ground_truth: GroundTruth, question: str = ""
    ) -> AccuracyResult:
        """Return the score, 0–100: a hundred times the calibrated similarity. A higher similarity never scores lower.

        A blank response or reference scores 0. The ground truth's passages do not change the score.

        Raises:
            ProviderError: the provider fails.
        """
        pieces = _pieces(response, self._settings.chunking_strategy)
        texts = [response[piece.start : piece.end] for piece in pieces]
        matched = await self._matched_chunks(response, pieces, ground_truth)  # first: a model embeds all pieces at once
        alike = [await self._provider.agreement(reference, text, question) for text in texts]
        whole = [await self._provider.agreement(reference, response, question)] if len(texts) > 1 else []
        check(self._provider, [*alike, *whole])
        mean = _mean(alike, [len(text) for text in texts])
        alike += whole
        highest = max(alike, default=NO_SIMILARITY)
        chosen = highest if self._settings.aggregation == "max" else mean
        score = 100 * chosen.value
        return AccuracyResult(
            score=score,
            tier=tier_of(score, self._tiers),
            similarity=chosen.raw,
            calibrated=chosen.value,
            aggregations={"max": highest.value, "mean": mean.value},
            matched_chunks=matched,
            fallback=any(similarity.fallback for similarity in alike),
        )

    async def _matched_chunks(
        self, response: str, pieces: Sequence[Span], ground_truth: GroundTruth
    ) -> tuple[ChunkMatch, ...]:
        """Find the most similar passage for each piece; none for a piece without a similar one."""
        chunks = ground_truth.chunks
        if not chunks or not pieces:
            return ()
        segments = [response[piece.start : piece.end] for piece in pieces]
        nearest = await self._provider.nearest(segments, [chunk.text for chunk, _ in chunks])
        check(self._provider, (near.similarity for near in nearest))
        return tuple(
            ChunkMatch(
                response_segment=segment,
                position=TextPosition(start=piece.start, end=piece.end),
                ground_truth_chunk_id=chunks[near.passage][0].id,
                similarity=near.similarity.value,
                raw=near.similarity.raw,
            )
            for piece, segment, near in zip(pieces, segments, nearest, strict=True)
            if near.passage >= 0
        )


def _mean(alike: Sequence[Similarity], weights: Sequence[int]) -> Similarity:
    total = sum(weights)
    if not total:
        return NO_SIMILARITY
    weighed = list(zip(alike, weights, strict=True))
    return Similarity(
        min(1.0, sum(similarity.value * weight for similarity, weight in weighed) / total),
        min(1.0, sum(similarity.raw * weight for similarity, weight in weighed) / total),
    )


def _pieces(response: str, strategy: str) -> list[Span]:
    """Cut the response into pieces without white space around them; a blank one has none."""
    match strategy:
        case "paragraphs":
            spans = paragraphs(response)
        case "sentences":
            spans = sentences(response)
        case _:
            spans = [Span(0, len(response))]
    each = -(-len(spans) // _MOST_PIECES)
    joined = [
        Span(spans[first].start, spans[min(first + each, len(spans)) - 1].end)
        for first in range(0, len(spans), max(each, 1))
    ]
    return [piece for span in joined if (piece := trimmed(response, span)).start < piece.end]
