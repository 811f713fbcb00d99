from collections.abc import Sequence
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ralph_grounding.errors import ProviderError
from ralph_grounding.ground_truth.pages import Chunk, GroundTruth, Page
from ralph_grounding.result import AccuracyResult
from ralph_grounding.scoring.accuracy import AccuracyScorer
from ralph_grounding.settings import AccuracySettings, TierSettings
from ralph_grounding.similarity.answers import agreement
from ralph_grounding.similarity.base import NO_SIMILARITY, Nearest, Similarity, SimilarityProvider
from ralph_grounding.similarity.calibration import UNFITTED
from ralph_grounding.similarity.embeddings import EmbeddingProvider

pytestmark = pytest.mark.anyio

NO_TRUTH = GroundTruth()
SAID = ("the deposit", "is paid back", "in March", "in May", "not", "5", "6", "\n\n", "to whom it belongs", "Sorry.")
Strategy = Literal["none", "sentences", "paragraphs"]
Aggregation = Literal["max", "mean"]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class ByWords(SimilarityProvider):
    """Compares words; a passage is near where it has the segment's first word."""

    async def agreement(self, reference: str, response: str, question: str = "") -> Similarity:
        return agreement(reference, response, question)

    async def nearest(self, segments: Sequence[str], passages: Sequence[str]) -> list[Nearest]:
        found = [
            next((at for at, passage in enumerate(passages) if segment.split()[0] in passage), -1)
            for segment in segments
        ]
        return [Nearest(at, Similarity(0.8, 0.7) if at >= 0 else NO_SIMILARITY) for at in found]


class Given(SimilarityProvider):
    """Finds the likenesses that it is given for a text, and keeps what it is asked."""

    def __init__(self, likenesses: dict[str, Similarity]) -> None:
        self.likenesses = likenesses
        self.asked: list[tuple[str, str, str]] = []

    async def agreement(self, reference: str, response: str, question: str = "") -> Similarity:
        self.asked.append((reference, response, question))
        return self.likenesses.get(response, NO_SIMILARITY)


def scorer(
    provider: SimilarityProvider | None = None, cut: Strategy = "paragraphs", by: Aggregation = "max"
) -> AccuracyScorer:
    return AccuracyScorer(
        provider or ByWords(), AccuracySettings(chunking_strategy=cut, aggregation=by), TierSettings()
    )


# covers: S3-17, S3-18, S3-20, S3-24, S3-25, S3-26, S3-27
async def test_score_is_a_hundred_times_the_calibrated_likeness() -> None:
    provider = Given({"It is blue.": Similarity(0.72, 0.41)})

    result = await scorer(provider).score("It is blue.", "blue", NO_TRUTH, "What colour?")

    assert result == AccuracyResult(
        score=72, tier="good", similarity=0.41, calibrated=0.72, aggregations={"max": 0.72, "mean": 0.72}
    )
    assert provider.asked == [("blue", "It is blue.", "What colour?")]


async def test_tiers_are_those_of_the_settings() -> None:
    strict = AccuracyScorer(Given({"x": Similarity(0.9, 0.9)}), AccuracySettings(), TierSettings(excellent=95, good=91))

    assert (await strict.score("x", "x", NO_TRUTH)).tier == "fair"


class Counting(EmbeddingProvider):
    """Embeds by lengths, and counts how often it is called."""

    calls = 0

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.calls += 1
        return [[1.0, float(len(text))] for text in texts]


async def test_a_response_of_many_pieces_costs_a_model_few_calls() -> None:
    provider = Counting("local:lengths", UNFITTED)
    response = "\n\n".join("word " * count for count in range(1, 21))
    truth = GroundTruth(pages=(Page(url="a", text="A passage.", chunks=(Chunk(id="1", text="A passage."),)),))

    result = await scorer(provider).score(response, "the expected text", truth)

    assert len(result.matched_chunks) == 20
    assert provider.calls <= 4


# covers: S3-21, S3-22, S3-134, S3-135, K3-4
@pytest.mark.parametrize(("by", "score", "raw"), [("max", 80, 0.6), ("mean", 50, 0.45)])
async def test_pieces_are_joined_either_way_and_both_are_told(by: Aggregation, score: float, raw: float) -> None:
    provider = Given({"aaaaaa": Similarity(0.8, 0.6), "bbbbbb": Similarity(0.2, 0.3)})

    result = await scorer(provider, by=by).score("aaaaaa\n\nbbbbbb\n", "a", NO_TRUTH)

    assert result.score == pytest.approx(score)
    assert result.similarity == pytest.approx(raw)
    assert result.aggregations == pytest.approx({"max": 0.8, "mean": 0.5})


async def test_provider_that_leaves_its_scale_is_named() -> None:
    with pytest.raises(ProviderError, match=r"provider Given gave a similarity of nan"):
        await scorer(Given({"One.": Similarity(float("nan"), 0.5)})).score("One.", "reference", GroundTruth())


async def test_mean_is_weighted_by_length() -> None:
    provider = Given({"a" * 30: Similarity(1.0, 1.0), "b" * 10: NO_SIMILARITY})

    result = await scorer(provider, by="mean").score("a" * 30 + "\n\n" + "b" * 10, "a", NO_TRUTH)

    assert result.score == pytest.approx(75)


async def test_whole_counts_where_no_piece_says_it_all() -> None:
    reference = "The keys go to the porter.\n\nThe deposit is paid back in March."

    result = await scorer().score(reference, reference, NO_TRUTH)

    assert result.score == 100
    assert result.aggregations["mean"] < 1


async def test_one_right_paragraph_is_enough_by_default() -> None:
    response = "The deposit is paid back in March.\n\n" + "\n\n".join(
        ["Many people move in summer, when it is dry."] * 6
    )

    result = await AccuracyScorer(ByWords()).score(response, "The deposit is paid back in March", NO_TRUTH)

    assert result.tier == "excellent"
    assert result.aggregations["mean"] < 0.5


@pytest.mark.parametrize(("cut", "asked"), [("none", 1), ("paragraphs", 3), ("sentences", 4)])
async def test_response_is_cut_as_the_settings_say(cut: Strategy, asked: int) -> None:
    provider = Given({})

    await scorer(provider, cut).score("One is here. Two is here.\n\nThree is here.", "x", NO_TRUTH)

    assert len(provider.asked) == asked


# covers: S3-164
async def test_response_of_very_many_pieces_costs_few_questions() -> None:
    provider = Given({})
    response = "\n\n".join(f"Paragraph {number}." for number in range(5_000))

    await scorer(provider).score(response, "x", NO_TRUTH)

    assert len(provider.asked) <= 33
    assert all(
        f"Paragraph {number}." in "".join(text for _, text, _ in provider.asked[:-1]) for number in (0, 77, 4_999)
    )


# covers: S3-160
@pytest.mark.parametrize("response", ["", " \n\n\t "])
async def test_empty_response_scores_nothing(response: str) -> None:
    result = await scorer().score(response, "blue", GroundTruth(pages=(page("blue"),)))

    assert result == AccuracyResult(
        score=0, tier="poor", similarity=0, calibrated=0, aggregations={"max": 0, "mean": 0}
    )


async def test_empty_reference_scores_nothing() -> None:
    assert (await scorer().score("It is blue.", "", NO_TRUTH)).score == 0


# covers: S3-23
@settings(deadline=None)
@given(data=st.data(), cut=st.sampled_from(["none", "sentences", "paragraphs"]), by=st.sampled_from(["max", "mean"]))
async def test_higher_similarity_never_scores_lower(data: st.DataObject, cut: Strategy, by: Aggregation) -> None:
    unit = st.floats(0, 1)
    lower = {text: data.draw(unit) for text in ("One.", "Two.", "One.\n\nTwo.")}
    higher = {text: data.draw(st.floats(value, 1)) for text, value in lower.items()}

    def provider(values: dict[str, float]) -> Given:
        return Given({text: Similarity(value**2, value) for text, value in values.items()})

    less = await scorer(provider(lower), cut, by).score("One.\n\nTwo.", "x", NO_TRUTH)
    more = await scorer(provider(higher), cut, by).score("One.\n\nTwo.", "x", NO_TRUTH)

    assert more.similarity >= less.similarity
    assert more.score >= less.score


# covers: S3-23
@settings(deadline=None)
@given(st.lists(st.sampled_from(SAID), min_size=1))
async def test_score_grows_with_the_similarity_of_any_response(words: list[str]) -> None:
    reference = "The deposit is paid back in March, all 5 of it."
    results = [await scorer().score(" ".join(words[:length]), reference, NO_TRUTH) for length in range(len(words) + 1)]

    ordered = sorted(results, key=lambda result: (result.similarity, result.score))

    assert [result.score for result in ordered] == sorted(result.score for result in results)


# covers: S3-28, S3-29, S3-30, S3-31, K3-2
async def test_ground_truth_is_further_evidence_and_changes_no_score() -> None:
    response = "  Deposits are paid back in March.\n\nNobody knows why.\n\nKeys go to the porter. "
    truth = GroundTruth(pages=(page("Keys: the porter", "Deposits: in March"), page("Keys again")))

    result = await scorer().score(response, "in March", truth)
    without = await scorer().score(response, "in March", NO_TRUTH)

    assert [(match.response_segment, match.ground_truth_chunk_id) for match in result.matched_chunks] == [
        ("Deposits are paid back in March.", "Deposits: in March"),
        ("Keys go to the porter.", "Keys: the porter"),
    ]
    for match in result.matched_chunks:
        assert response[match.position.start : match.position.end] == match.response_segment
        assert (match.similarity, match.raw) == (0.8, 0.7)
    assert without.matched_chunks == ()
    assert without == result.model_copy(update={"matched_chunks": ()})


async def test_says_that_words_were_compared_instead() -> None:
    provider = Given({"bbbb": Similarity(0.5, 0.5, fallback=True), "aaaa": Similarity(0.8, 0.8)})

    assert (await scorer(provider).score("aaaa\n\nbbbb", "a", NO_TRUTH)).fallback


@pytest.mark.parametrize("text", ["\n\n" * 50_000 + "x", "x. " * 10_000, "\ud800\n\n\0", "(\n\n" * 10_000])
@pytest.mark.parametrize("cut", ["none", "sentences", "paragraphs"])
async def test_hostile_responses_are_scored(text: str, cut: Strategy) -> None:
    result = await scorer(cut=cut).score(text, "x", NO_TRUTH)

    assert 0 <= result.score <= 100


def page(*passages: str) -> Page:
    return Page(url="a.md", text="", chunks=tuple(Chunk(id=passage, text=passage) for passage in passages))
