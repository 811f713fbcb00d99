"""Similarity by vectors: what is made of them, wherever they come from."""

import math
from collections.abc import Sequence
from itertools import pairwise
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ralph_grounding.errors import ProviderError
from ralph_grounding.similarity import lexical
from ralph_grounding.similarity.base import NO_SIMILARITY, Nearest, Similarity, Support
from ralph_grounding.similarity.calibration import UNFITTED, DecisionPoints
from ralph_grounding.similarity.embeddings import (
    EmbeddingProvider,
    Vector,
    VectorCache,
    cosine,
    portions,
    unit_vectors,
    windows,
)
from ralph_grounding.similarity.hybrid import HybridProvider
from ralph_grounding.similarity.lexical import LexicalProvider
from ralph_grounding.text.sentences import Span


class Triples(EmbeddingProvider):
    """Counts the letter triples of a text, so that texts that share words are alike.

    Attributes:
        calls: the texts of each call.
    """

    def __init__(self, points: DecisionPoints = UNFITTED, *, batch: int = 64, kept: int = 4096) -> None:
        super().__init__("local:triples", points, batch=batch, kept=kept)
        self.calls: list[list[str]] = []

    async def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        self.calls.append(list(texts))
        return [self.vector(text) for text in texts]

    def vector(self, text: str) -> Vector:
        counts = [0.0] * 256
        for word in text.lower().split():
            padded = f" {word.strip('.,;:!?')} "
            for place in range(len(padded) - 2):
                counts[crc32(padded[place : place + 3].encode("utf-8", "replace")) % 256] += 1.0
        return counts


class Given(Triples):
    """Gives what it is told to, whatever it is asked."""

    def __init__(self, vectors: Sequence[Vector], points: DecisionPoints = UNFITTED) -> None:
        super().__init__(points)
        self.vectors = vectors

    async def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        return self.vectors


# Cosines


@pytest.mark.parametrize(
    ("left", "right", "alike"),
    [
        ([1, 0], [1, 0], 1.0),
        ([1, 0], [0, 1], 0.0),
        ([1, 0], [-1, 0], 0.0),
        ([0, 0], [1, 0], 0.0),
        ([0, 0], [0, 0], 0.0),
        ([], [], 0.0),
        ([3, 4], [6, 8], 1.0),
        ([1e200, 0], [1e200, 1e200], math.sqrt(0.5)),
        ([1e-200, 0], [1e-200, 1e-200], math.sqrt(0.5)),
    ],
)
def test_a_cosine_is_clamped_and_that_of_a_zero_vector_is_none(  # covers: S3-19, K3-3
    left: Vector, right: Vector, alike: float
) -> None:
    assert cosine(left, right) == pytest.approx(alike, abs=1e-6)


def test_vectors_of_two_lengths_are_an_error_that_names_both() -> None:  # covers: K3-3
    with pytest.raises(ProviderError, match="Vectors of 2 and of 3 numbers"):
        cosine([1, 2], [1, 2, 3])


@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_a_number_that_is_none_is_an_error(number: float) -> None:
    with pytest.raises(ProviderError, match="not finite"):
        cosine([number, 1], [1, 1])


_numbers = st.floats(-1e150, 1e150)


@given(st.lists(st.tuples(_numbers, _numbers), max_size=20))
def test_every_cosine_is_from_0_to_1_and_the_same_both_ways(pairs: list[tuple[float, float]]) -> None:
    left, right = [one for one, _ in pairs], [other for _, other in pairs]
    assert 0 <= cosine(left, right) <= 1
    assert cosine(left, right) == pytest.approx(cosine(right, left), abs=1e-6)


# Providers of vectors

_points = st.floats(0.001, 0.999)


@given(_points, _points, _points)
async def test_a_higher_similarity_never_gets_a_lower_value(point: float, one: float, other: float) -> None:
    # covers: S3-23
    values: list[Similarity] = []
    for share in sorted([one, other]):
        vectors = [[1.0, 0.0], [share, math.sqrt(1 - share * share)]]
        values.append(await Given(vectors, DecisionPoints(claims=0.5, agreement=point)).agreement("one", "other"))
    low, high = values
    assert low.raw <= high.raw + 1e-6
    assert low.value <= high.value + 1e-3


@given(_points)
async def test_three_quarters_is_the_decision_point_of_every_model(point: float) -> None:
    vectors = [[1.0, 0.0], [point, math.sqrt(1 - point * point)]]
    agreement = await Given(vectors, DecisionPoints(claims=0.5, agreement=point)).agreement("one", "other")
    assert agreement.raw == pytest.approx(point, abs=1e-5)
    assert agreement.value == pytest.approx(0.75, abs=0.01)


RESPONSE = "The museum opens at nine. Tickets cost twelve euros. Dogs have to wait outside."


async def test_a_claim_is_found_where_the_response_makes_it() -> None:  # covers: S3-33, S3-34
    claims = ["Tickets cost twelve euros", "Dogs wait outside", "The cafe serves lunch"]
    tickets, dogs, lunch = await Triples().supports(claims, RESPONSE)
    assert RESPONSE[tickets.start : tickets.end] == "Tickets cost twelve euros."
    assert RESPONSE[dogs.start : dogs.end] == "Dogs have to wait outside."
    assert tickets.similarity.raw == pytest.approx(1)
    assert lunch.similarity.value < 0.75 < dogs.similarity.value


async def test_a_claim_may_be_made_by_two_sentences_together() -> None:
    (support,) = await Triples().supports(["The museum opens at nine and tickets cost twelve euros"], RESPONSE)
    assert RESPONSE[support.start : support.end] == "The museum opens at nine. Tickets cost twelve euros."


async def test_the_sentence_that_a_model_picks_is_held_against_the_claim() -> None:
    (support,) = await Triples().supports(["Tickets cost 12 euros"], "Tickets cost 15 euros.")
    assert [(one.kind, one.said) for one in support.conflicts] == [("number", "15")]
    assert support.similarity.raw < UNFITTED.claims
    assert support.similarity.value < 0.75


async def test_responses_and_references_are_compared_as_wholes() -> None:  # covers: S3-17, S3-18
    provider = Triples()
    same = await provider.agreement(RESPONSE, RESPONSE, "When does it open?")
    other = await provider.agreement("Bring an umbrella.", RESPONSE)
    assert same.raw == pytest.approx(1)
    assert other.value < 0.75 < same.value
    assert not same.fallback


async def test_a_segment_gets_the_passage_that_is_most_like_it() -> None:
    passages = ["All dogs wait outside of the house.", "Tickets cost twelve euros, for children six."]
    first, second, none = await Triples().nearest(["Tickets cost twelve euros.", "Dogs wait outside.", " "], passages)
    assert (first.passage, second.passage, none) == (1, 0, Nearest(-1, NO_SIMILARITY))


async def test_each_question_has_a_calibration_of_its_own() -> None:
    points = DecisionPoints(claims=0.2, agreement=0.5, passages=0.8)
    provider = Triples(points)
    (support,) = await provider.supports(["Dogs wait"], "Dogs wait.")
    (nearest,) = await provider.nearest(["Dogs eat"], ["Dogs wait"])
    agreement = await provider.agreement("Dogs eat", "Dogs wait")
    assert support.similarity.value == pytest.approx(1)
    assert nearest.similarity.raw == agreement.raw
    assert nearest.similarity.value < agreement.value


async def test_no_text_is_embedded_twice() -> None:
    provider = Triples()
    await provider.supports(["Dogs wait.", "Dogs wait."], "Dogs wait.")
    await provider.agreement("Dogs wait.", "Cats wait.")
    assert provider.calls == [["Dogs wait."], ["Cats wait."]]


async def test_the_vectors_that_were_not_used_for_longest_are_forgotten() -> None:
    provider = Triples(kept=2)
    for one, other in (("a b", "c d"), ("a b", "e f"), ("c d", "a b")):
        await provider.agreement(one, other)
    assert provider.calls == [["a b", "c d"], ["e f"], ["c d"]]


async def test_a_call_that_has_more_texts_than_are_kept_is_answered() -> None:
    provider = Triples(kept=1, batch=2)
    claims = [f"Claim number {number} is here." for number in range(7)]
    supports = await provider.supports(claims, " ".join(claims))
    assert all(support.similarity.raw > 0.99 for support in supports)
    assert max(len(call) for call in provider.calls) == 2


async def test_passages_are_embedded_once_for_all_responses_however_many_there_are() -> None:
    provider = Triples(kept=2)
    passages = [f"Passage number {number} is here." for number in range(300)]
    for number in range(3):
        (nearest,) = await provider.nearest([f"Passage number {number} is here"], passages)
        assert (nearest.passage, nearest.similarity.raw) == (number, pytest.approx(1))
        await provider.nearest(["Dogs wait."], [passages[number]])
    assert sum(text in passages for call in provider.calls for text in call) == 300


def test_kept_vectors_are_bounded() -> None:
    cache = VectorCache(3)
    for number in range(10):
        cache.put(str(number), unit_vectors([[1.0, number]])[0])
    assert len(cache) == 3
    assert cache.get("0") is None
    assert cache.get("9") is not None


async def test_a_long_text_is_embedded_in_pieces() -> None:
    provider = Triples()
    long = "The museum opens at nine. " * 400
    agreement = await provider.agreement(long, long)
    assert agreement.raw == pytest.approx(1)
    assert max(len(text) for call in provider.calls for text in call) <= 1500


@pytest.mark.parametrize("blank", ["", " \n\t"])
async def test_blank_texts_are_like_nothing(blank: str) -> None:  # covers: S3-160
    provider = Triples()
    assert await provider.supports(["Dogs wait.", blank], blank) == [Support(NO_SIMILARITY, 0, 0)] * 2
    assert (await provider.supports([blank], "Dogs wait."))[0] == Support(NO_SIMILARITY, 0, 0)
    assert await provider.agreement(blank, "Dogs wait.") == NO_SIMILARITY
    assert await provider.agreement("Dogs wait.", blank) == NO_SIMILARITY
    assert await provider.nearest([blank], ["Dogs wait."]) == [Nearest(-1, NO_SIMILARITY)]
    assert await provider.nearest(["Dogs wait."], [blank]) == [Nearest(-1, NO_SIMILARITY)]
    assert await provider.nearest(["Dogs wait."], []) == [Nearest(-1, NO_SIMILARITY)]
    assert await provider.supports([], "Dogs wait.") == []


HOSTILE = {
    "one long word": "a" * 300_000,
    "no sentence": "word " * 60_000,
    "many sentences": "A. " * 100_000,
    "lone surrogates": "\ud800 is \udfff" * 1000,
    "zeros": "\0 \0" * 1000,
    "both ways": "\u202eabc\u202c. " * 1000,
    "Japanese": "犬は外で待ちます。" * 3000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
async def test_hostile_texts_are_measured_like_all_others(text: str) -> None:
    provider = Triples()
    (support,) = await provider.supports(["Dogs wait outside"], text)
    assert 0 <= support.start <= support.end <= len(text)
    assert sum(len(call) for call in provider.calls) < 5_000
    await provider.agreement(text, text)
    await provider.nearest([text], [text])


@given(st.text(max_size=400), st.text(max_size=40))
@settings(max_examples=50)
async def test_whatever_the_texts_a_support_is_a_stretch_of_the_response(response: str, claim: str) -> None:
    (support,) = await Triples().supports([claim], response)
    similarity = support.similarity
    assert 0 <= support.start <= support.end <= len(response)
    assert 0 <= similarity.raw <= 1
    assert 0 <= similarity.value <= 1
    assert response[support.start : support.end].strip() == response[support.start : support.end]


@pytest.mark.parametrize(
    ("vectors", "problem"),
    [
        ([[1.0, 0.0]], "gave 1 vectors for 2 texts"),
        ([[1.0, 0.0], [1.0]], "of 2 and of 1 numbers"),
        ([[1.0, 0.0], [math.nan, 0.0]], "not finite"),
    ],
)
async def test_vectors_that_cannot_be_used_are_an_error(vectors: Sequence[Vector], problem: str) -> None:
    with pytest.raises(ProviderError, match=problem):
        await Given(vectors).agreement("one", "other")


async def test_a_model_that_changes_its_mind_about_lengths_is_an_error() -> None:
    provider = Given([[1.0, 0.0], [0.0, 1.0]])
    await provider.agreement("one", "other")
    provider.vectors = [[1.0, 0.0, 0.0]]
    with pytest.raises(ProviderError, match="of 2 and of 3 numbers"):
        await provider.agreement("one", "third")
    with pytest.raises(ProviderError, match="of 3 and of 2 numbers"):
        await provider.nearest(["one"], ["fourth"])


# Words and a model together


async def test_a_hybrid_is_between_words_and_model() -> None:
    words, model = LexicalProvider(), Triples()
    hybrid = HybridProvider(words, model, DecisionPoints(claims=0.75, agreement=0.75))
    async with hybrid:
        for claim in ("Tickets cost twelve euros.", "Dogs have to sit outside.", "The cafe serves lunch."):
            (both,), (one,), (other,) = [await asked.supports([claim], RESPONSE) for asked in (hybrid, words, model)]
            assert both.similarity.raw == pytest.approx((one.similarity.value + other.similarity.value) / 2)
            assert (both.start, both.end) in {(one.start, one.end), (other.start, other.end)}
        agreement = await hybrid.agreement("Tickets cost twelve euros.", "Tickets cost twelve euros.")
    assert agreement.value > 0.9
    assert hybrid.name == "hybrid:triples"


async def test_a_hybrid_takes_the_better_of_two_passages() -> None:
    hybrid = HybridProvider(LexicalProvider(), Triples(), UNFITTED)
    passages = ["Nothing of that kind.", "Tickets cost twelve euros, for children six.", "Dogs wait outside."]
    nearest = await hybrid.nearest(["Tickets cost twelve euros.", "Dogs wait outside.", " "], passages)
    assert [one.passage for one in nearest] == [1, 2, -1]


async def test_a_hybrid_indexes_the_words_of_the_ground_truth_once_for_all_responses() -> None:
    words, model = LexicalProvider(), Triples()
    hybrid = HybridProvider(words, model, UNFITTED)
    passages = ["The price is 12 euros.", "The prices of the pricing are priced.", "Dogs wait."]
    segments = ["Pricing costs 12"]
    (one,), (other,) = await words.nearest(segments, passages), await model.nearest(segments, passages)
    assert one.passage != other.passage  # so that each is asked about the other's
    made = lexical._kept_index.cache_info().misses
    for _ in range(3):
        await hybrid.nearest(segments, passages)
    assert lexical._kept_index.cache_info().misses == made


async def test_a_claim_that_nothing_is_like_has_no_stretch_in_a_hybrid() -> None:
    hybrid = HybridProvider(LexicalProvider(), Triples(), UNFITTED)
    assert await hybrid.supports([" "], RESPONSE) == [Support(NO_SIMILARITY, 0, 0)]


# Texts in portions that a model reads at once


def portioned(text: str, tokens: int) -> list[str]:
    return [text[span.start : span.end] for span in portions(text, Span(0, len(text)), tokens)]


@pytest.mark.parametrize(
    ("letter", "letters"),
    [("e", 300), ("ä", 300), ("я", 200), ("語", 100), ("の", 100), ("한", 100), ("ท", 100), ("🐕", 50)],
)
def test_how_much_of_a_text_is_read_at_once_depends_on_its_script(letter: str, letters: int) -> None:  # covers: S3-164
    assert [len(portion) for portion in portioned(letter * 1000, 100)] == [letters] * (1000 // letters) + (
        [1000 % letters] if 1000 % letters else []
    )


def test_a_text_of_two_scripts_is_cut_by_each_of_them() -> None:
    first, *_, last = portioned("e" * 600 + "語" * 600, 100)
    assert (len(first), len(last)) == (300, 100)


def test_a_text_is_cut_between_words() -> None:
    assert portioned("one two three four", 3) == ["one two", "three", "four"]


@given(st.text(alphabet="ab語 я\n.🐕", max_size=300), st.integers(1, 20))
def test_nothing_but_white_space_is_lost_and_nothing_is_longer_than_allowed(text: str, tokens: int) -> None:
    spans = list(portions(text, Span(0, len(text)), tokens))
    assert all(one.end <= other.start for one, other in pairwise(spans))
    assert "".join("".join(portioned(text, tokens)).split()) == "".join(text.split())
    assert all(len(portion) <= tokens * 3 for portion in portioned(text, tokens))


@given(st.text(alphabet="ab語 я\n.!", max_size=300), st.integers(2, 50))
def test_windows_are_stretches_of_the_text_that_a_model_reads_at_once(text: str, tokens: int) -> None:
    for span in windows(text, tokens):
        assert text[span.start : span.end].strip() == text[span.start : span.end] != ""
        assert span.end - span.start <= tokens * 3
