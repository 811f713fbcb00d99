"""What people are told of a response."""

import time
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ralph_grounding.feedback import claim_feedback, give_feedback, highlight_feedback
from ralph_grounding.feedback.matching import evidence, is_statement, match, pieces
from ralph_grounding.ground_truth.chunks import page_of_text
from ralph_grounding.ground_truth.pages import GroundTruth
from ralph_grounding.materials import ExpectedClaim
from ralph_grounding.result import ClaimJudgement, ClaimMatch, CompletenessResult, Conflict, TextPosition
from ralph_grounding.similarity.base import Nearest, Similarity
from ralph_grounding.similarity.conflicts import find_conflicts
from ralph_grounding.similarity.lexical import LexicalProvider

PROVIDER = LexicalProvider()
GROUND = GroundTruth(
    pages=(
        page_of_text(
            "# Plans\n\nThe Harbour plan costs 50 euros a month. It includes storage for twenty boats.\n\n"
            "# Support\n\nThe support desk answers e-mails within two working days. Weekend calls are not answered.",
            url="https://example.com/plans",
        ),
        page_of_text("The company was founded in Lisbon by two sailors.", url="https://example.com/about"),
    )
)
THRESHOLD = 0.75


def _completeness(*judgements: ClaimJudgement) -> CompletenessResult:
    found = tuple(
        ClaimMatch(
            claim=ExpectedClaim(statement=judged.claim, importance=judged.importance),
            matched_text=judged.matched_text,
            similarity=judged.similarity,
            raw=judged.raw,
            position=judged.position,
        )
        for judged in judgements
        if judged.found
    )
    return CompletenessResult(
        score=0, tier="poor", claims_found=found, total_required=0, total_found=0, matches=judgements
    )


def _judged(claim: str, importance: str, **more: object) -> ClaimJudgement:
    values = {"similarity": 0.5, "raw": 0.4, "found": False, **more}
    return ClaimJudgement.model_validate({"claim": claim, "importance": importance, **values})


# covers: S3-11, S3-15, S3-79, S3-80, S3-81, S3-82, K3-10
async def test_claims_of_every_importance_are_found_or_missing() -> None:
    response = "The Harbour plan costs 50 euros a month."
    completeness = _completeness(
        _judged("It costs 50 euros", "required", found=True, similarity=0.9, matched_text=response),
        _judged("It is monthly", "required"),
        _judged("Storage is included", "expected"),
        _judged("It was founded in Lisbon", "optional"),
    )
    told = await claim_feedback(completeness, response, GROUND, PROVIDER, THRESHOLD)
    assert [(one.claim, one.evidence, one.confidence) for one in told.found] == [("It costs 50 euros", response, 0.9)]
    assert [(one.claim, one.importance) for one in told.missing] == [
        ("It is monthly", "required"),
        ("Storage is included", "expected"),
        ("It was founded in Lisbon", "optional"),
    ]


# covers: S3-83, K3-15
async def test_statements_that_no_passage_is_like_are_listed_with_their_places() -> None:
    response = (
        "The Harbour plan costs 50 euros a month. Penguins rarely visit supermarkets. Do you like boats? Yes.\n\n"
        "## Zebras and umbrellas forever\n\nMushrooms grow beneath ancient oaks."
    )
    told = await claim_feedback(None, response, GROUND, PROVIDER, THRESHOLD)
    assert [segment.text for segment in told.not_in_ground_truth] == [
        "Penguins rarely visit supermarkets.",
        "Mushrooms grow beneath ancient oaks.",
    ]
    for segment in told.not_in_ground_truth:
        assert response[segment.position.start : segment.position.end] == segment.text
    assert told.found == told.missing == ()


async def test_without_ground_truth_nothing_is_unknown_to_it() -> None:
    told = await give_feedback(None, "Penguins rarely visit supermarkets.", GroundTruth(), PROVIDER, THRESHOLD)
    assert told.claims.not_in_ground_truth == ()
    assert told.highlights.coverage_percent == 0
    assert [segment.text for segment in told.highlights.unmatched_segments] == ["Penguins rarely visit supermarkets."]


async def test_with_ground_truth_that_nothing_is_like_all_statements_are_listed() -> None:
    told = await claim_feedback(None, "Penguins rarely visit supermarkets.", GROUND, PROVIDER, THRESHOLD)
    assert len(told.not_in_ground_truth) == 1


# covers: S3-180
async def test_what_goes_against_an_expected_claim_is_a_candidate_and_not_unknown() -> None:
    response = "Hello there everybody. The Garden plan costs 70 dollars."
    start = response.index("70")
    conflict = Conflict(kind="number", expected="90", said="70", position=TextPosition(start=start, end=start + 2))
    statement = "The Garden plan costs 70 dollars."
    at = TextPosition(start=response.index("The"), end=len(response))
    completeness = _completeness(
        _judged(
            "The Garden plan costs 90 dollars", "expected", matched_text=statement, position=at, conflicts=(conflict,)
        )
    )
    told = await claim_feedback(completeness, response, GROUND, PROVIDER, THRESHOLD)
    (contradiction,) = told.contradicts
    assert (contradiction.claim, contradiction.statement) == ("The Garden plan costs 90 dollars", statement)
    assert (contradiction.conflicts, contradiction.source) == ((conflict,), "")
    assert [one.claim for one in told.missing] == ["The Garden plan costs 90 dollars"]
    assert statement not in {segment.text for segment in told.not_in_ground_truth}


@pytest.mark.parametrize(
    ("response", "kind", "said"),
    [
        ("Good news. The Harbour plan costs 500 euros a month.", "number", "500"),
        ("Good news. The support desk does not answer e-mails within two working days.", "negation", None),
    ],
)
async def test_what_goes_against_the_ground_truth_is_a_candidate_and_not_borne_out(
    response: str, kind: str, said: str | None
) -> None:
    told = await give_feedback(None, response, GROUND, PROVIDER, THRESHOLD)
    (contradiction,) = told.claims.contradicts
    assert contradiction.statement == response.removeprefix("Good news. ")
    assert response[contradiction.position.start : contradiction.position.end] == contradiction.statement
    (conflict,) = contradiction.conflicts
    assert conflict.kind == kind
    assert response[conflict.position.start : conflict.position.end] == conflict.said
    assert said is None or conflict.said == said
    assert contradiction.source in {chunk.id for chunk, _ in GROUND.chunks}
    assert contradiction.claim in {
        "The Harbour plan costs 50 euros a month.",
        "The support desk answers e-mails within two working days.",
    }
    assert told.claims.not_in_ground_truth == ()
    assert told.highlights.highlights == ()


async def test_what_the_ground_truth_denies_with_another_verb_is_not_borne_out() -> None:
    ground = GroundTruth(
        pages=(page_of_text("Sail runs on Linux and macOS, and does not support Windows.", url="sail"),)
    )
    told = await give_feedback(None, "Sail runs on Linux. It also runs on Windows!", ground, PROVIDER, THRESHOLD)

    assert [one.statement for one in told.claims.contradicts] == ["It also runs on Windows!"]
    assert [one.response_text.strip() for one in told.highlights.highlights] == ["Sail runs on Linux."]


# covers: S3-7, S3-84, S3-85, S3-86, S3-87, S3-88, S3-89, S3-90, S3-91, S3-92
async def test_what_the_ground_truth_bears_out_is_highlighted_with_its_source() -> None:
    response = "The company was founded in Lisbon.  \nPenguins rarely visit supermarkets."
    told = await highlight_feedback(response, GROUND, PROVIDER, THRESHOLD)
    (highlight,) = told.highlights
    assert highlight.response_text.strip() == "The company was founded in Lisbon."
    source = highlight.ground_truth_source
    assert source.page_url == "https://example.com/about"
    assert source.matched_text == "The company was founded in Lisbon by two sailors."
    assert source.chunk_id == GROUND.pages[1].chunks[0].id
    assert highlight.similarity > THRESHOLD
    (unmatched,) = told.unmatched_segments
    assert unmatched.text == "Penguins rarely visit supermarkets."
    visible = len("".join(response.split()))
    assert told.coverage_percent == pytest.approx(100 * len("ThecompanywasfoundedinLisbon.") / visible)


# covers: K3-5
async def test_the_threshold_is_not_reached_by_being_equal_to_six_decimals() -> None:
    response = "The company was founded in Lisbon. "
    (found,) = await match(response, GROUND, PROVIDER)
    assert not (await highlight_feedback(response, GROUND, PROVIDER, found.similarity)).highlights
    assert not (await highlight_feedback(response, GROUND, PROVIDER, found.similarity - 1e-9)).highlights
    assert (await highlight_feedback(response, GROUND, PROVIDER, found.similarity - 2e-6)).highlights


async def test_both_together_are_the_same_as_each() -> None:
    response = "The company was founded in Lisbon. The Harbour plan costs 500 euros a month. Penguins swim very fast."
    told = await give_feedback(None, response, GROUND, PROVIDER, THRESHOLD)
    assert told.claims == await claim_feedback(None, response, GROUND, PROVIDER, THRESHOLD)
    assert told.highlights == await highlight_feedback(response, GROUND, PROVIDER, THRESHOLD)


async def test_other_scripts_are_borne_out_too() -> None:
    ground = GroundTruth(
        pages=(page_of_text("本公司成立于里斯本。每月费用为五十欧元。", url="https://example.com/zh"),)
    )
    told = await give_feedback(None, "本公司成立于里斯本。企鹅很少去超市买东西。", ground, PROVIDER, THRESHOLD)
    assert [one.response_text for one in told.highlights.highlights] == ["本公司成立于里斯本。"]
    assert [one.text for one in told.claims.not_in_ground_truth] == ["企鹅很少去超市买东西。"]


_SENTENCES = st.sampled_from([
    "The company was founded in Lisbon. ",
    "The Harbour plan costs 50 euros a month.\n",
    "The Harbour plan costs 500 euros a month. ",
    "Penguins rarely visit supermarkets!",
    "本公司成立于里斯本。",
    "- item\n",
    "\n\n",
    "   ",
    "word",
    "\ud800",
    "\x00",
    "\u202e",
    "e.g. ",
    "?",
])


# covers: S3-90, S3-92
@settings(max_examples=200, deadline=None)
@given(st.lists(_SENTENCES | st.text(max_size=5), max_size=15).map("".join), st.sampled_from([0.0, 0.5, 0.75, 0.9]))
async def test_highlights_and_the_rest_cover_the_response_exactly_once(response: str, threshold: float) -> None:
    told = await give_feedback(None, response, GROUND, PROVIDER, threshold)
    highlights = told.highlights
    stretches = [(one.response_range, one.response_text) for one in highlights.highlights]
    stretches += [(one.position, one.text) for one in highlights.unmatched_segments]
    stretches.sort(key=lambda stretch: stretch[0].start)
    assert "".join(text for _, text in stretches) == response
    end = 0
    for position, text in stretches:
        assert position.start == end
        end = position.end
        assert response[position.start : end] == text
    assert 0 <= highlights.coverage_percent <= 100
    assert (highlights.coverage_percent == 0) == (not highlights.highlights)
    for segment in told.claims.not_in_ground_truth:
        assert response[segment.position.start : segment.position.end] == segment.text


@pytest.mark.parametrize(
    ("text", "states"),
    [
        ("Boats are stored in winter.", True),
        ("- Boats are stored in winter", True),
        ("船舶在冬季存放。", True),
        ("Are boats stored in winter?", False),
        ("(Are boats stored in winter?)", False),
        ("Here is what I found:", False),
        ("## Boats in the winter", False),
        ("Certainly.", False),
        ("---", False),
        ("", False),
    ],
)
def test_questions_headings_and_announcements_state_nothing(text: str, states: bool) -> None:
    assert is_statement(text) == states


def test_evidence_is_the_sentence_that_shares_most_words() -> None:
    passage = "The Harbour plan costs 50 euros. Boats are stored in winter. Nothing else is included."
    assert evidence(passage, "In winter all boats are stored").text == "Boats are stored in winter."
    assert evidence(passage, "zebra").shared == 0
    assert evidence("", "zebra").text == ""


@pytest.mark.alone
async def test_long_responses_are_read_in_bounded_pieces_and_linear_time() -> None:
    async def seconds(piece: str, size: int) -> float:
        response = (piece * size)[:size]
        assert len(pieces(response)) <= 2000
        began = time.process_time()
        await give_feedback(None, response, GROUND, PROVIDER, THRESHOLD)
        return time.process_time() - began

    for piece in ("a", "a. ", "word ", "。", "\n", "# a\n", "The Harbour plan costs 500 euros. ", "\ud800"):
        small = max(0.02, await seconds(piece, 4_000))
        assert await seconds(piece, 40_000) < 10 * small * 5, piece


class Fixed(LexicalProvider):
    """Finds the first passage for every segment, always with one similarity."""

    def __init__(self, similarity: float) -> None:
        self._similarity = Similarity(similarity, similarity)

    async def nearest(self, segments: Sequence[str], passages: Sequence[str]) -> list[Nearest]:
        return [Nearest(0, self._similarity) for _ in segments]


@pytest.mark.parametrize(
    ("similarity", "passage", "statement", "contradicts"),
    [
        (0.6, "The Harbour plan costs 50 euros a month.", "The Harbour plan costs 70 euros a month.", True),
        (0.4, "The Harbour plan costs 50 euros a month.", "The Harbour plan costs 70 euros a month.", False),
        (0.6, "We buy on Tuesday.", "Children purchase sweets on Monday.", False),
    ],
)
async def test_only_a_statement_on_the_same_subject_contradicts_the_ground_truth(
    similarity: float, passage: str, statement: str, contradicts: bool
) -> None:
    """It is similar to the passage, and shares most of its words."""
    assert find_conflicts(passage, statement)
    ground = GroundTruth(pages=(page_of_text(passage, url="https://example.com/plans"),))
    told = await claim_feedback(None, statement, ground, Fixed(similarity), THRESHOLD)
    assert [one.statement for one in told.contradicts] == ([statement] if contradicts else [])
    assert [one.text for one in told.not_in_ground_truth] == ([] if contradicts else [statement])
