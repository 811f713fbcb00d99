"""Completeness: which claims count, what the score is made of, and where found begins."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ralph_grounding.errors import ProviderError
from ralph_grounding.materials import ExpectedClaim, Importance
from ralph_grounding.result import CompletenessResult, Conflict, TextPosition
from ralph_grounding.scoring.completeness import CompletenessScorer
from ralph_grounding.settings import CompletenessSettings, GroundingSettings, TierSettings
from ralph_grounding.similarity.base import Similarity, SimilarityProvider, Support
from ralph_grounding.similarity.lexical import LexicalProvider

REPLY = "The Team plan costs $29 per month. It includes 500 projects. Support answers within two hours."


class Given(SimilarityProvider):
    """Answers what it is told to."""

    def __init__(self, *values: float, conflicts: tuple[Conflict, ...] = (), fallback: bool = False) -> None:
        self._supports = [Support(Similarity(value, value, fallback), 0, 3, conflicts) for value in values]

    async def supports(self, claims: object, response: str) -> list[Support]:
        return self._supports


def claim(statement: str, importance: Importance = "required") -> ExpectedClaim:
    return ExpectedClaim(statement=statement, importance=importance)


async def score(*claims: ExpectedClaim, response: str = REPLY, **settings: object) -> CompletenessResult:
    return await CompletenessScorer(LexicalProvider(), CompletenessSettings.model_validate(settings)).score(
        response, claims
    )


# covers: S3-32, S3-33, S3-36, S3-38, S3-39, S3-40, S3-41, S3-42, S3-43, S3-44
async def test_the_score_is_the_share_of_the_required_claims_that_are_found() -> None:
    found, missing = claim("The Team plan costs $29 a month."), claim("The plan can be cancelled at any time.")
    third = claim("The plan includes 500 projects.")

    result = await score(found, missing, third)

    assert result.score == pytest.approx(200 / 3)
    assert (result.total_found, result.total_required, result.tier) == (2, 3, "fair")
    assert [match.claim for match in result.claims_found] == [found, third]
    assert result.claims_missing == (missing,)
    assert [match.found for match in result.matches] == [True, False, True]


# covers: S3-45, S3-46, S3-47, S3-48, S3-49
async def test_a_match_is_text_of_the_response_and_says_where_it_stands() -> None:
    (match,) = (await score(claim("The plan includes 500 projects."))).claims_found

    assert match.matched_text == "It includes 500 projects."
    assert REPLY[match.position.start : match.position.end] == match.matched_text
    assert 0.75 < match.similarity <= 1


# covers: S3-35, S3-37, S3-136, K3-5
@pytest.mark.parametrize(
    ("value", "threshold", "found"),
    [
        (0.75, 0.75, False),
        (0.7500004, 0.75, False),
        (0.7499999, 0.75, False),
        (0.750001, 0.75, True),
        (0.1 + 0.2, 0.3, False),
        (0.7, 0.75, False),
        (0.7, 0.69, True),
        (0.000001, 0, True),
        (0, 0, False),
    ],
)
async def test_exactly_the_threshold_is_not_found(value: float, threshold: float, found: bool) -> None:
    scorer = CompletenessScorer(Given(value), CompletenessSettings(similarity_threshold=threshold))

    assert (await scorer.score("any response", [claim("A claim.")])).matches[0].found is found


# covers: S3-136
def test_the_threshold_is_three_quarters_where_nobody_says_otherwise() -> None:
    assert GroundingSettings().completeness.similarity_threshold == 0.75


# covers: K3-6
@pytest.mark.parametrize("claims", [(), (claim("Unheard of.", "expected"), claim("Unheard of, too.", "optional"))])
async def test_without_required_claims_there_is_nothing_to_check(claims: tuple[ExpectedClaim, ...]) -> None:
    result = await score(*claims)

    assert (result.score, result.tier, result.total_required, result.passed) == (100, "excellent", 0, True)
    assert "nothing to check" in result.note
    assert result.claims_missing == ()
    assert len(result.matches) == len(claims)


# covers: K3-6, K3-10
async def test_claims_that_are_not_required_are_judged_but_do_not_count() -> None:
    optional = claim("The plan includes 500 projects.", "optional")
    result = await score(claim("The Team plan costs $29 per month."), optional, claim("Unheard of.", "expected"))

    assert (result.score, result.total_required, result.note) == (100, 1, "")
    assert [(match.importance, match.found) for match in result.matches[1:]] == [
        ("optional", True),
        ("expected", False),
    ]
    assert result.claims_missing == ()


# covers: S3-137, K3-6
async def test_where_all_are_required_one_that_is_missing_fails_the_result_and_leaves_the_score() -> None:
    claims = claim("The Team plan costs $29 per month."), claim("Unheard of.")

    lenient, strict = await score(*claims), await score(*claims, require_all_required=True)

    assert (lenient.passed, strict.passed) == (True, False)
    assert lenient.score == strict.score == 50
    assert (await score(claims[0], require_all_required=True)).passed


# covers: K3-20
@pytest.mark.parametrize(
    ("expected", "kind"),
    [("The plan includes 50 projects.", "number"), ("The plan does not include 500 projects.", "negation")],
)
async def test_a_claim_that_the_response_goes_against_is_missing_and_says_why(expected: str, kind: str) -> None:
    result = await score(claim(expected), similarity_threshold=0.1)

    assert result.score == 0
    assert [conflict.kind for conflict in result.matches[0].conflicts] == [kind]
    assert result.matches[0].matched_text == "It includes 500 projects."


@pytest.mark.parametrize("value", [float("nan"), -0.1, 1.5])
async def test_a_provider_that_leaves_its_scale_is_named(value: float) -> None:
    with pytest.raises(ProviderError, match=rf"provider Given gave a similarity of {value}"):
        await CompletenessScorer(Given(value)).score("any response", [claim("A claim.")])


async def test_a_conflict_outweighs_any_similarity() -> None:
    conflict = Conflict(kind="number", expected="5", said="any", position=TextPosition(start=0, end=3))
    scorer = CompletenessScorer(Given(1.0, conflicts=(conflict,)))

    assert (await scorer.score("any response", [claim("A claim.")])).total_found == 0


# covers: S3-160
@pytest.mark.parametrize("response", ["", "  \n\t"])
async def test_an_empty_response_makes_no_claim(response: str) -> None:
    result = await score(claim("The plan includes 500 projects."), response=response)

    assert (result.score, result.tier, result.total_found) == (0, "poor", 0)
    assert result.matches[0].position == TextPosition(start=0, end=0)


# covers: S3-163
async def test_it_says_that_words_were_counted_since_the_provider_did_not_answer() -> None:
    assert (await CompletenessScorer(Given(0.9, fallback=True)).score("any", [claim("A claim.")])).fallback
    assert not (await CompletenessScorer(Given(0.9)).score("any", [claim("A claim.")])).fallback


# covers: S3-40, S3-143
async def test_the_tiers_are_those_of_the_settings() -> None:
    tiers = TierSettings(excellent=51, good=50, fair=10)
    scorer = CompletenessScorer(Given(0.9, 0.1), tiers=tiers)

    assert (await scorer.score("any", [claim("A claim."), claim("Another.")])).tier == "good"


WORDS = [*REPLY.split(), "not", "5", "漢字"]
STATEMENTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join)
RESPONSES = st.lists(st.sampled_from([*WORDS, "\ud800", "\x00", "\n\n"]), max_size=20).map(" ".join)
CLAIMS = st.builds(
    ExpectedClaim, statement=STATEMENTS, importance=st.sampled_from(["required", "expected", "optional"])
)


@settings(deadline=None)
@given(st.lists(CLAIMS, max_size=6), RESPONSES)
async def test_the_numbers_agree_with_each_other(claims: list[ExpectedClaim], response: str) -> None:
    result = await score(*claims, response=response)
    required = [claim for claim in claims if claim.importance == "required"]

    assert len(result.matches) == len(claims)
    assert result.total_required == len(required) == result.total_found + len(result.claims_missing)
    assert result.total_found == len(result.claims_found)
    assert result.score == (100 * result.total_found / len(required) if required else 100)
    assert all(response[match.position.start : match.position.end] == match.matched_text for match in result.matches)
    assert not any(match.found and match.conflicts for match in result.matches)
