"""What every provider of similarity does, whatever it measures by."""

from collections.abc import Sequence
from zlib import crc32

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ralph_grounding.similarity.base import NO_SIMILARITY, Nearest, SimilarityProvider, Support
from ralph_grounding.similarity.calibration import UNFITTED
from ralph_grounding.similarity.embeddings import EmbeddingProvider, Vector
from ralph_grounding.similarity.fallback import Fallback
from ralph_grounding.similarity.hybrid import HybridProvider
from ralph_grounding.similarity.lexical import LexicalProvider


class Words(EmbeddingProvider):
    """Counts words."""

    async def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> Vector:
        counts = [0.0] * 512
        for word in text.lower().split():
            counts[crc32(word.strip(".,").encode("utf-8", "replace")) % 512] += 1
        return counts


def made(name: str) -> SimilarityProvider:
    model = Words("local:words", UNFITTED)
    match name:
        case "lexical":
            return LexicalProvider()
        case "hybrid":
            return HybridProvider(LexicalProvider(), model, UNFITTED)
        case "fallback":
            return Fallback(model, LexicalProvider())
        case _:
            return model


NAMES = ["lexical", "model", "hybrid", "fallback"]
RESPONSE = "The museum opens at nine.\n\nTickets cost twelve euros. Dogs have to wait outside."
CLAIMS = ["Dogs have to wait outside", "The cafe serves lunch", "Tickets cost twelve euros"]


@pytest.fixture(params=NAMES)
def provider(request: pytest.FixtureRequest) -> SimilarityProvider:
    return made(request.param)


async def test_the_words_of_a_claim_are_found_where_they_stand(provider: SimilarityProvider) -> None:
    async with provider:
        dogs, lunch, tickets = await provider.supports(CLAIMS, RESPONSE)
    assert "Dogs have to wait outside" in RESPONSE[dogs.start : dogs.end]
    assert "Tickets cost twelve euros" in RESPONSE[tickets.start : tickets.end]
    assert lunch.similarity.value < 0.75 < min(dogs.similarity.value, tickets.similarity.value)


async def test_the_same_is_more_alike_than_another(provider: SimilarityProvider) -> None:
    async with provider:
        same = await provider.agreement("Dogs have to wait outside.", "Dogs have to wait outside.")
        other = await provider.agreement("Dogs have to wait outside.", "The cafe serves lunch.")
    assert other.value < 0.75 < same.value


async def test_each_segment_gets_the_passage_that_says_so(provider: SimilarityProvider) -> None:
    passages = ["The museum opens at nine.", "Tickets cost twelve euros.", "Dogs have to wait outside."]
    async with provider:
        found = await provider.nearest([passages[2], passages[0], " "], passages)
    assert [one.passage for one in found] == [2, 0, -1]
    assert found[2].similarity == NO_SIMILARITY


async def test_nothing_is_like_nothing(provider: SimilarityProvider) -> None:
    async with provider:
        assert await provider.supports([], RESPONSE) == []
        assert await provider.supports(["Dogs wait", ""], " ") == [Support(NO_SIMILARITY, 0, 0)] * 2
        assert (await provider.agreement("", RESPONSE)).value == 0
        assert (await provider.agreement("Dogs wait", "")).value == 0
        assert await provider.nearest(["Dogs wait"], []) == [Nearest(-1, NO_SIMILARITY)]
        assert await provider.nearest([], ["Dogs wait"]) == []


@given(st.text(max_size=200), st.lists(st.text(max_size=40), max_size=3))
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_whatever_the_texts_are_the_answers_have_their_form(
    provider: SimilarityProvider, response: str, texts: list[str]
) -> None:
    supports = await provider.supports(texts, response)
    found = await provider.nearest(texts, [response, *texts])
    agreement = await provider.agreement(response, " ".join(texts))
    assert len(supports) == len(found) == len(texts)
    for support in supports:
        assert 0 <= support.start <= support.end <= len(response)
    for similarity in (agreement, *(one.similarity for one in (*supports, *found))):
        assert 0 <= similarity.raw <= 1
        assert 0 <= similarity.value <= 1
    assert all(-1 <= one.passage <= len(texts) for one in found)
