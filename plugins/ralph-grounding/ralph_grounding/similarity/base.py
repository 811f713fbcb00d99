"""What a similarity provider is: something that says how alike two texts are, on a scale of its own and on ours."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Self

from ralph_grounding.errors import ProviderError
from ralph_grounding.result import Conflict

__all__ = ["NO_SIMILARITY", "Nearest", "Similarity", "SimilarityProvider", "Support", "check"]


class Similarity(NamedTuple):
    """How alike two texts are.

    Attributes:
        value: calibrated, 0–1: 0.75 is where the provider is as likely right as wrong to call them the same.
        raw: as the provider measures it, clamped to 0–1. A higher raw value never has a lower calibrated one.
        fallback: measured by words, since the provider that was asked did not answer (see `Fallback`).
    """

    value: float
    raw: float
    fallback: bool = False


NO_SIMILARITY = Similarity(0.0, 0.0)


class Support(NamedTuple):
    """How far a response makes a claim, and with which of its words.

    Attributes:
        start, end: the most similar stretch of the response, mostly a sentence; equal where nothing is alike.
        conflicts: in what that stretch goes against the claim, with positions in the response.
    """

    similarity: Similarity
    start: int
    end: int
    conflicts: tuple[Conflict, ...] = ()


class Nearest(NamedTuple):
    """The passage that a segment is most like: its place in the list, or -1 where it is like none."""

    passage: int
    similarity: Similarity


class SimilarityProvider:
    """Measures similarity. Subclass it, give it a name, and implement the three questions.

    A provider has a calibration of its own, since a cosine of one model says nothing about that of another. It is
    entered before it is used (`async with`), and may be used by several tasks at once. Empty texts are like nothing:
    they get `NO_SIMILARITY`.

    Attributes:
        name: as in `providers.similarity`, with the model's behind a colon where there is one.

    Raises:
        ProviderError: where the provider cannot be reached or will not answer.
    """

    name: str = ""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None

    async def supports(self, claims: Sequence[str], response: str) -> list[Support]:
        """How far the response makes each of the claims; as many as claims, in their order."""
        raise NotImplementedError

    async def agreement(self, reference: str, response: str, question: str = "") -> Similarity:
        """How far the response, or a piece of one, says what the reference says, as an answer to the question."""
        raise NotImplementedError

    async def nearest(self, segments: Sequence[str], passages: Sequence[str]) -> list[Nearest]:
        """For each segment of a response the passage of the ground truth that bears it out best."""
        raise NotImplementedError


def check(provider: SimilarityProvider, similarities: Iterable[Similarity]) -> None:
    """Holds what a provider measured to its scale.

    Raises:
        ProviderError: a value is no number from 0 to 1.
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
