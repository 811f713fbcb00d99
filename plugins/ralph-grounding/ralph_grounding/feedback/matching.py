"""Each piece of a response with the most similar passage of the ground truth."""

from typing import NamedTuple

from ralph_grounding.feedback.evidence import evidence
from ralph_grounding.feedback.pieces import pieces
from ralph_grounding.ground_truth.pages import Chunk, GroundTruth, Page
from ralph_grounding.result import Conflict
from ralph_grounding.scoring.threshold import is_above
from ralph_grounding.similarity.base import Nearest, SimilarityProvider, check
from ralph_grounding.similarity.conflicts import find_conflicts
from ralph_grounding.text.span import Span, trimmed

__all__ = ["Match", "Source", "match"]

_RELATED = 0.5
"""The lowest calibrated similarity and share of common words at which a statement counts as being on the same subject.
"""


class Source(NamedTuple):
    """The counterpart of a piece in the ground truth. `text` is the sentence that it has most in common with."""

    chunk: Chunk
    page: Page
    text: str


class Match(NamedTuple):
    """The counterpart found for a piece.

    Attributes:
        span: the piece; the spans of all matches together cover the response.
        stated: the same without white space at its ends.
        source: None if nothing is similar.
        similarity: calibrated.
        conflicts: the differences between the piece and its source, with positions in the response.
        fallback: measured by words, because the similarity provider did not answer.
    """

    span: Span
    stated: Span
    source: Source | None = None
    similarity: float = 0.0
    conflicts: tuple[Conflict, ...] = ()
    fallback: bool = False

    def is_borne_out(self, threshold: float) -> bool:
        """Return True if the ground truth supports the piece: it is similar enough, without a conflict."""
        return self.source is not None and is_above(self.similarity, threshold) and not self.conflicts


async def match(response: str, ground_truth: GroundTruth, provider: SimilarityProvider) -> list[Match]:
    """Return the pieces in order, each with its source.

    Raises:
        ProviderError: the provider does not answer.
    """
    cut = [(piece, trimmed(response, piece)) for piece in pieces(response)]
    chunks = ground_truth.chunks
    said = [stated for _, stated in cut if stated.start < stated.end]
    if not chunks or not said:
        return [Match(*spans) for spans in cut]
    segments = [response[stated.start : stated.end] for stated in said]
    nearest = await provider.nearest(segments, [chunk.text for chunk, _ in chunks])
    check(provider, (near.similarity for near in nearest))
    found = dict(zip(said, nearest, strict=True))
    return [
        _matched(response, piece, stated, found[stated], chunks) if stated in found else Match(piece, stated)
        for piece, stated in cut
    ]


def _matched(
    response: str, piece: Span, stated: Span, nearest: Nearest, chunks: tuple[tuple[Chunk, Page], ...]
) -> Match:
    if nearest.passage < 0:
        return Match(piece, stated, fallback=nearest.similarity.fallback)
    chunk, page = chunks[nearest.passage]
    text = response[stated.start : stated.end]
    found = evidence(chunk.text, text)
    related = nearest.similarity.value >= _RELATED and found.shared >= _RELATED
    conflicts = find_conflicts(found.text, text, stated.start) if related else ()
    source = Source(chunk, page, found.text)
    return Match(piece, stated, source, nearest.similarity.value, conflicts, nearest.similarity.fallback)
