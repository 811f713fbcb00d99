"""Similarity by a model that turns texts into vectors, anywhere it runs."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import anyio

from ralph_grounding.errors import ProviderError
from ralph_grounding.similarity.base import NO_SIMILARITY, Nearest, Similarity, SimilarityProvider, Support
from ralph_grounding.similarity.calibration import calibrated
from ralph_grounding.similarity.conflicts import find_conflicts
from ralph_grounding.similarity.decision_points import DecisionPoints
from ralph_grounding.similarity.portions import portions, windows
from ralph_grounding.similarity.vectors import Vector, VectorCache, common_length, cosines, most_alike, unit_vectors
from ralph_grounding.text.span import Span

if TYPE_CHECKING:
    from ralph_grounding.similarity.vectors import Matrix

__all__ = ["EmbeddingProvider"]

_LISTS = 3
_SHORT_LIST = 64


class _Listed(NamedTuple):
    """The vectors of a list of passages, in its order and by their texts."""

    vectors: "Matrix"
    by_text: "Mapping[str, Matrix]"


class EmbeddingProvider(SimilarityProvider):
    """Provider that measures similarity by the cosine of vectors. Subclass it, give it a name, and implement `embed`.

    A claim is compared with each sentence of the response and each two neighbouring ones. A text longer than the
    model's input is embedded in pieces, with their vectors joined by their lengths. No text is embedded twice in one
    call, nor again while its vector is cached.

    A model hardly sees numbers and negation, so the selected sentence is checked for conflicts with the claim. With
    one, the raw similarity is reduced below the decision point, in proportion.

    Args:
        name: see `SimilarityProvider`.
        points: the decision points of this model.
        tokens: the maximum length of a text for `embed`, in estimated tokens.
        batch: the maximum number of texts for one call of `embed`.
        kept: the number of cached vectors, besides those of the last few lists of passages.
    """

    def __init__(
        self, name: str, points: DecisionPoints, *, tokens: int = 500, batch: int = 64, kept: int = 4096
    ) -> None:
        self.name = name
        self._points = points
        self._tokens = tokens
        self._batch = batch
        self._kept = VectorCache(kept)
        self._lists: dict[tuple[str, ...], _Listed] = {}
        self._one_at_a_time = anyio.Lock()

    async def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Return the vectors of the texts, in their order, all of one length. No text is blank.

        Raises:
            ProviderError: the vectors are not available.
        """
        raise NotImplementedError

    async def supports(self, claims: Sequence[str], response: str) -> list[Support]:
        spans = list(windows(response, self._tokens))
        said = [response[span.start : span.end] for span in spans]
        if not said or not claims:
            return [Support(NO_SIMILARITY, 0, 0) for _ in claims]
        vectors = await self._vectors([*claims, *said])
        found = most_alike(vectors[: len(claims)], vectors[len(claims) :])
        return [
            self._support(claim, response, spans[place], raw) for claim, (place, raw) in zip(claims, found, strict=True)
        ]

    async def agreement(self, reference: str, response: str, question: str = "") -> Similarity:
        """Compare both as wholes. The question is ignored: it would make every answer to it more similar."""
        if not reference.strip() or not response.strip():
            return NO_SIMILARITY
        vectors = await self._vectors([reference, response])
        raw = float(cosines(vectors[:1], vectors[1:])[0, 0])
        return _similarity(raw, self._points.agreement)

    async def nearest(self, segments: Sequence[str], passages: Sequence[str]) -> list[Nearest]:
        if not segments or not passages:
            return [Nearest(-1, NO_SIMILARITY) for _ in segments]
        known = await self._of_passages(tuple(passages))
        vectors = await self._vectors(segments)
        if not known.size or not vectors.size:
            return [Nearest(-1, NO_SIMILARITY) for _ in segments]
        common_length([known[0], vectors[0]])
        return [self._nearest(place, raw) for place, raw in most_alike(vectors, known)]

    def _support(self, claim: str, response: str, window: Span, raw: float) -> Support:
        if raw <= 0:
            return Support(NO_SIMILARITY, 0, 0)
        point = self._points.claims
        conflicts = find_conflicts(claim, response[window.start : window.end], window.start)
        return Support(_similarity(raw * point if conflicts else raw, point), window.start, window.end, conflicts)

    def _nearest(self, place: int, raw: float) -> Nearest:
        return Nearest(place, _similarity(raw, self._points.for_passages)) if raw > 0 else Nearest(-1, NO_SIMILARITY)

    async def _of_passages(self, passages: tuple[str, ...]) -> "Matrix":
        """Return the vectors of the passages.

        The last few long lists are cached, however long they are: each response is held against the same ground truth.
        """
        if len(passages) <= _SHORT_LIST:
            return await self._vectors(passages)
        async with self._one_at_a_time:
            kept = self._lists.pop(passages, None)
            if kept is None:
                vectors = await self._vectors(passages)
                kept = _Listed(vectors, dict(zip(passages, vectors, strict=True)))
            self._lists[passages] = kept
            while len(self._lists) > _LISTS:
                self._lists.pop(next(iter(self._lists)))
            return kept.vectors

    async def _vectors(self, texts: Sequence[str]) -> "Matrix":
        """Return a unit vector for each text; zero for a blank one."""
        import numpy as np

        listed = {text: kept.by_text[text] for kept in self._lists.values() for text in texts if text in kept.by_text}
        pieces = {text: self._pieces(text) for text in texts if text not in listed}
        known = await self._known([piece for cut in pieces.values() for piece in cut])
        joined = np.zeros((len(texts), common_length([*listed.values(), *known.values()])), dtype=np.float32)
        for place, text in enumerate(texts):
            if text in listed:
                joined[place] = listed[text]
            for piece in pieces.get(text, ()):
                joined[place] += known[piece] * len(piece)
        return unit_vectors(joined)

    def _pieces(self, text: str) -> list[str]:
        cut = portions(text, Span(0, len(text)), self._tokens)
        return [text[span.start : span.end] for span in cut if span.start < span.end]

    async def _known(self, texts: Sequence[str]) -> "dict[str, Matrix]":
        """Return the unit vectors of the texts, each embedded once."""
        known: dict[str, Matrix] = {}
        missing: list[str] = []
        for text in dict.fromkeys(texts):
            vector = self._kept.get(text)
            if vector is None:
                missing.append(text)
            else:
                known[text] = vector
        for first in range(0, len(missing), self._batch):
            batch = missing[first : first + self._batch]
            for text, vector in zip(batch, await self._embedded(batch), strict=True):
                known[text] = vector
                self._kept.put(text, vector)
        return known

    async def _embedded(self, texts: Sequence[str]) -> "Matrix":
        vectors = await self.embed(texts)
        if len(vectors) != len(texts):
            problem = f"{self.name} gave {len(vectors)} vectors for {len(texts)} texts."
            raise ProviderError(problem, "Try another model.", kind="protocol")
        return unit_vectors(vectors)


def _similarity(raw: float, point: float) -> Similarity:
    return Similarity(calibrated(raw, point), raw)
