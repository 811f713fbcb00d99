"""The interface of similarity providers: two texts in, one similarity out, on the provider's and the common scale."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Self

from ralph_grounding.errors import ProviderError
from ralph_grounding.result import Conflict

__all__ = ["NO_SIMILARITY", "Nearest", "Similarity", "SimilarityProvider", "Support", "check"]


class Similarity(NamedTuple):
    """The similarity of two texts.

    Attributes:
        value: calibrated, 0–1: at 0.75 the provider is as likely right as wrong to call them the same.
        raw: the provider's own measure, clamped to 0–1. A higher raw value never has a lower calibrated one.
        fallback: measured by words, because the requested provider did not answer (see `Fallback`).
    """

    value: float
    raw: float
    fallback: bool = False


NO_SIMILARITY = Similarity(0.0, 0.0)


class Support(NamedTuple):
    """The degree to which a response makes a claim, and its words for it.

    Attributes:
        start, end: the most similar stretch of the response, usually a sentence; equal if nothing is similar.
        conflicts: the differences between that stretch and the claim, with positions in the response.
    """

    similarity: Similarity
    start: int
    end: int
    conflicts: tuple[Conflict, ...] = ()


class Nearest(NamedTuple):
    """The most similar passage to a segment: its place in the list, or -1 if none exists."""

    passage: int
    similarity: Similarity


class SimilarityProvider:
    """A measure of similarity. Subclass it, give it a name, and implement the three questions.

    Each provider has its own calibration, because a cosine of one model means nothing for another. Enter it before use
    (`async with`); several tasks may share it. Empty texts are similar to nothing: they get `NO_SIMILARITY`.

    Attributes:
        name: as in `providers.similarity`, with a model's name after a colon.

    Raises:
        ProviderError: the provider cannot be reached or refuses to answer.
    """

    name: str = ""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None

    async def supports(self, claims: Sequence[str], response: str) -> list[Support]:
        """Measure how far the response makes each of the claims; as many results as claims, in their order."""
        raise NotImplementedError

    async def agreement(self, reference: str, response: str, question: str = "") -> Similarity:
        """Measure how far the response, or a piece, says what the reference says, as an answer to the question."""
        raise NotImplementedError

    async def nearest(self, segments: Sequence[str], passages: Sequence[str]) -> list[Nearest]:
        """Find, for each segment of a response, the passage of the ground truth that supports it best."""
        raise NotImplementedError


def check(provider: SimilarityProvider, similarities: Iterable[Similarity]) -> None:
    """Check that a provider's values are on its scale.

    Raises:
        ProviderError: a value is not a number from 0 to 1.
    """
    for similarity in similarities:
        for value in (similarity.value, similarity.raw):
            if not 0 <= value <= 1:
                name = provider.name or type(provider).__name__
                raise ProviderError(
                    f"The provider {name} gave a similarity of {value}.",
                    "A similarity is a number from 0 to 1. Correct the provider, or use another one.",
                    kind="protocol",
                )
