"""Similarity by words and a model together: words see numbers and names, a model sees synonyms."""

from collections.abc import Sequence
from typing import Self

from ralph_grounding.similarity.base import NO_SIMILARITY, Nearest, Similarity, SimilarityProvider, Support
from ralph_grounding.similarity.calibration import DecisionPoints, calibrated

__all__ = ["HybridProvider"]


class HybridProvider(SimilarityProvider):
    """Provider that measures by words and by a model. Its raw similarity is the mean of their calibrated ones.

    The stretch of a response that supports a claim, and its conflicts, come from the more certain of the two.

    Args:
        words: measures by words.
        model: the other provider.
        points: the decision points of the mean.
    """

    def __init__(self, words: SimilarityProvider, model: SimilarityProvider, points: DecisionPoints) -> None:
        self.name = self.name_with(model)
        self._words, self._model, self._points = words, model, points

    @staticmethod
    def name_with(model: SimilarityProvider) -> str:
        """Return the name of a hybrid with this model: "hybrid:" and the model's name."""
        return f"hybrid:{model.name.partition(':')[2] or model.name}"

    async def __aenter__(self) -> Self:
        await self._words.__aenter__()
        try:
            await self._model.__aenter__()
        except BaseException:
            await self._words.__aexit__(None, None, None)
            raise
        return self

    async def __aexit__(self, *raised: object) -> None:
        try:
            await self._model.__aexit__(*raised)
        finally:
            await self._words.__aexit__(*raised)

    async def supports(self, claims: Sequence[str], response: str) -> list[Support]:
        by_words = await self._words.supports(claims, response)
        by_model = await self._model.supports(claims, response)
        return [self._both(one, other) for one, other in zip(by_words, by_model, strict=True)]

    async def agreement(self, reference: str, response: str, question: str = "") -> Similarity:
        by_words = await self._words.agreement(reference, response, question)
        by_model = await self._model.agreement(reference, response, question)
        raw = (by_words.value + by_model.value) / 2
        return Similarity(calibrated(raw, self._points.agreement), raw)

    async def nearest(self, segments: Sequence[str], passages: Sequence[str]) -> list[Nearest]:
        by_words = await self._words.nearest(segments, passages)
        by_model = await self._model.nearest(segments, passages)
        return [
            await self._better(segment, passages, one, other)
            for segment, one, other in zip(segments, by_words, by_model, strict=True)
        ]

    def _both(self, one: Support, other: Support) -> Support:
        raw = (one.similarity.value + other.similarity.value) / 2
        if raw <= 0:
            return Support(NO_SIMILARITY, 0, 0)
        surer = other if other.similarity.value > one.similarity.value else one
        return surer._replace(similarity=Similarity(calibrated(raw, self._points.claims), raw))

    async def _better(self, segment: str, passages: Sequence[str], one: Nearest, other: Nearest) -> Nearest:
        """Return the passage that both together find more similar; usually they agree."""
        found = [Nearest(-1, NO_SIMILARITY)]
        for place in sorted({one.passage, other.passage} - {-1}):
            by_words = one if one.passage in {place, -1} else await _alone(self._words, segment, passages[place])
            by_model = other if other.passage in {place, -1} else await _alone(self._model, segment, passages[place])
            raw = (by_words.similarity.value + by_model.similarity.value) / 2
            found.append(Nearest(place, Similarity(calibrated(raw, self._points.for_passages), raw)))
        return max(found, key=lambda nearest: nearest.similarity.raw)


async def _alone(provider: SimilarityProvider, segment: str, passage: str) -> Nearest:
    (nearest,) = await provider.nearest([segment], [passage])
    return nearest
