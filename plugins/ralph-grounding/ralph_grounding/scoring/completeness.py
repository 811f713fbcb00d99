"""Completeness: the share of the expected claims that a response makes."""

from collections.abc import Sequence
from typing import NamedTuple

from ralph_grounding.materials import ExpectedClaim
from ralph_grounding.result import ClaimJudgement, ClaimMatch, CompletenessResult, TextPosition
from ralph_grounding.scoring.tiers import is_above, tier_of
from ralph_grounding.settings import CompletenessSettings, TierSettings
from ralph_grounding.similarity.base import Similarity, SimilarityProvider, Support, check
from ralph_grounding.similarity.calibration import DECISION
from ralph_grounding.similarity.claim import prepare_claims
from ralph_grounding.similarity.verdicts import Ruling, Verdicts
from ralph_grounding.text.language import guess_language

__all__ = ["NOTHING_TO_CHECK", "CompletenessScorer"]

NOTHING_TO_CHECK = "nothing to check: no claim is required"


class CompletenessScorer:
    """Scorer that looks for each expected claim in a response.

    A claim is found if its calibrated similarity is above the threshold and nothing in the matched text conflicts with
    it. Both are rounded to six decimals first, so that exactly the threshold is not found.

    Args:
        provider: measures similarity; entered by the caller.
        settings: the defaults if not given, like the tiers.
    """

    def __init__(
        self,
        provider: SimilarityProvider,
        settings: CompletenessSettings | None = None,
        tiers: TierSettings | None = None,
    ) -> None:
        self._provider = provider
        self._settings = settings or CompletenessSettings()
        self._tiers = tiers or TierSettings()

    async def score(self, response: str, claims: Sequence[ExpectedClaim], question: str = "") -> CompletenessResult:
        """Return the share of the required claims that are found, 0–100; other claims are judged, but do not count.

        Without required claims the score is 100, and a note says that there was nothing to check. A blank response
        makes no claim. If `require_all_required` is set and one is missing, the result does not pass; the score is the
        same.

        Raises:
            ProviderError: the provider fails.
        """
        said = [claim.statement for claim in claims]
        supports = await self._provider.supports(said, response)
        check(self._provider, (support.similarity for support in supports))
        ruled = _all_ruled(said, response, question, supports)
        matches = tuple(self._judge(claim, at, response) for claim, at in zip(claims, ruled, strict=True))
        return self.result(claims, matches, fallback=any(support.similarity.fallback for support in supports))

    def result(
        self, claims: Sequence[ExpectedClaim], matches: tuple[ClaimJudgement, ...], *, fallback: bool
    ) -> CompletenessResult:
        """Return the result for claims and their judgements, as many and in the same order."""
        required = [
            (claim, match) for claim, match in zip(claims, matches, strict=True) if claim.importance == "required"
        ]
        found = tuple(_match(claim, match) for claim, match in required if match.found)
        missing = tuple(claim for claim, match in required if not match.found)
        score = 100 * len(found) / len(required) if required else 100.0
        return CompletenessResult(
            score=score,
            tier=tier_of(score, self._tiers),
            claims_found=found,
            claims_missing=missing,
            total_required=len(required),
            total_found=len(found),
            passed=not (missing and self._settings.require_all_required),
            matches=matches,
            note="" if required else NOTHING_TO_CHECK,
            fallback=fallback,
        )

    def _judge(self, claim: ExpectedClaim, ruled: "_Ruled", response: str) -> ClaimJudgement:
        support = ruled.support
        similar = is_above(support.similarity.value, self._settings.similarity_threshold)
        return ClaimJudgement(
            claim=claim.statement,
            importance=claim.importance,
            similarity=support.similarity.value,
            raw=support.similarity.raw,
            found=similar and not support.conflicts,
            matched_text=response[support.start : support.end],
            position=TextPosition(start=support.start, end=support.end),
            conflicts=support.conflicts,
            unsure=ruled.unsure,
        )


class _Ruled(NamedTuple):
    """The measure of a claim by a provider, with the verdict; `unsure` if no sentence decides."""

    support: Support
    unsure: bool = False


_LOOKED_AT = 100_000
_FOR_LANGUAGE = 2_000


def _all_ruled(claims: Sequence[str], response: str, question: str, supports: Sequence[Support]) -> list[_Ruled]:
    """Join the provider's measure of each claim with the verdict, in the first 100,000 characters of a response."""
    if not claims or not response.strip():
        return [_Ruled(support) for support in supports]
    language = guess_language(f"{response[:_FOR_LANGUAGE]} {' '.join(claims)[:_FOR_LANGUAGE]}")
    verdicts = Verdicts(response[:_LOOKED_AT], language, question)
    joined: list[_Ruled] = []
    for claim, support in zip(prepare_claims(claims, language), supports, strict=True):
        ruling = verdicts.on(claim)
        if ruling.outcome == "lacking" and (support.conflicts or support.similarity.value > DECISION):
            ruling = ruling if verdicts.is_nowhere(claim, ruling) else ruling._replace(outcome="unsure")
        joined.append(_Ruled(_ruled(support, ruling), ruling.outcome == "unsure"))
    return joined


def _ruled(support: Support, ruling: Ruling) -> Support:
    """Join what a provider measures with the verdict: it prevails where a sentence decides."""
    similarity = support.similarity
    match ruling.outcome:
        case "contradicted":
            return Support(_lowered(similarity), *ruling.span, ruling.conflicts)
        case "present":
            value = max(similarity.value, DECISION + (1 - DECISION) * ruling.share)
            return Support(similarity._replace(value=value), *ruling.span)
        case "lacking":
            other = {"name", "word", "bound"} & set(ruling.lacking)
            lowered = _lowered(similarity) if similarity.value > DECISION else similarity
            return support._replace(similarity=lowered, conflicts=() if other else support.conflicts)
        case _:
            return support


def _lowered(similarity: Similarity) -> Similarity:
    return similarity._replace(value=DECISION * similarity.value)


def _match(claim: ExpectedClaim, judgement: ClaimJudgement) -> ClaimMatch:
    return ClaimMatch(
        claim=claim,
        matched_text=judgement.matched_text,
        similarity=judgement.similarity,
        raw=judgement.raw,
        position=judgement.position,
    )
