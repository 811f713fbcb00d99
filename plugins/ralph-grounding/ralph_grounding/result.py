"""The result of an analysis: three scores, each with its evidence, and feedback for readers.

All positions count characters of the response as it was analysed: `response[start:end]` is the text next to them.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field

from ralph_grounding.materials import ExpectedAnswer, ExpectedClaim, Importance

__all__ = [
    "AccuracyResult",
    "AnalysisResult",
    "AttributionMention",
    "AttributionResult",
    "ChunkMatch",
    "ClaimEvidence",
    "ClaimFeedback",
    "ClaimJudgement",
    "ClaimMatch",
    "CompletenessResult",
    "Conflict",
    "ConflictKind",
    "Contradiction",
    "Feedback",
    "GroundTruthSource",
    "Highlight",
    "HighlightFeedback",
    "JudgeUse",
    "Judged",
    "MissingClaim",
    "Outcome",
    "Scores",
    "Segment",
    "TextPosition",
    "Tier",
]

Tier = Literal["excellent", "good", "fair", "poor"]
ConflictKind = Literal["number", "date", "negation", "antonym", "entity", "meaning"]
"""The kind of a difference; "meaning" is one that a judge reports."""
Outcome = Literal["present", "absent", "contradicted"]
"""The verdict on a claim."""

_Unit = Field(ge=0, le=1)
_Score = Field(ge=0, le=100)


class TextPosition(BaseModel, frozen=True):
    """A stretch of the response: 0 ≤ `start` ≤ `end` ≤ its length."""

    start: int = Field(ge=0)
    end: int = Field(ge=0)


class Segment(BaseModel, frozen=True):
    """A piece of the response."""

    text: str
    position: TextPosition


class ChunkMatch(BaseModel, frozen=True):
    """A piece of the response, and the most similar chunk of the ground truth.

    Attributes:
        similarity: calibrated, so that 0.75 is the decision point.
        raw: the provider's own measure.
    """

    response_segment: str
    position: TextPosition
    ground_truth_chunk_id: str
    similarity: float = _Unit
    raw: float = _Unit


class AccuracyResult(BaseModel, frozen=True):
    """The similarity between the response and the expected answer.

    Attributes:
        similarity: raw, the provider's own measure.
        calibrated: a hundredth of the score.
        aggregations: the calibrated similarity by each way to join the pieces, "max" and "mean".
        matched_chunks: further evidence, from the ground truth; it does not change the score.
        fallback: measured by words, because the similarity provider did not answer.
    """

    score: float = _Score
    tier: Tier
    similarity: float = _Unit
    calibrated: float = _Unit
    aggregations: Mapping[str, float] = {}
    matched_chunks: tuple[ChunkMatch, ...] = ()
    fallback: bool = False


class Conflict(BaseModel, frozen=True):
    """One difference between a statement and a claim: the statement may be wrong, or about something else.

    Attributes:
        expected: the claim's version, such as "50"; `said` is the response's version, at `position`.
    """

    kind: ConflictKind
    expected: str
    said: str
    position: TextPosition


class ClaimMatch(BaseModel, frozen=True):
    """A claim that was found, and the words of the response that make it."""

    claim: ExpectedClaim
    matched_text: str
    similarity: float = _Unit
    raw: float = _Unit
    position: TextPosition


class Judged(BaseModel, frozen=True):
    """The outcome of a question to a judge about a claim.

    Attributes:
        judge: its name.
        outcome: its verdict; None if none was taken, so that the offline one stands.
        offline: the verdict without the judge.
        quote: the words of the response that it quotes.
        trouble: the reason if no verdict was taken.
        cached: the verdict is an earlier one.
    """

    judge: str
    outcome: Outcome | None = None
    offline: Outcome
    quote: str = ""
    trouble: str = ""
    cached: bool = False


class ClaimJudgement(BaseModel, frozen=True):
    """The judgement on one claim, found or not.

    Attributes:
        claim: its statement.
        matched_text: the most similar words of the response; empty if nothing is similar.
        conflicts: the differences between the matched text and the claim; with one the claim is not found.
        unsure: no single sentence decides; the similarity does.
        judged: the judge's verdict; None if it was not asked.
    """

    claim: str
    importance: Importance = "required"
    similarity: float = _Unit
    raw: float = _Unit
    found: bool
    matched_text: str = ""
    position: TextPosition = TextPosition(start=0, end=0)
    conflicts: tuple[Conflict, ...] = ()
    unsure: bool = False
    judged: Judged | None = None

    @property
    def outcome(self) -> Outcome:
        """The verdict."""
        return "contradicted" if self.conflicts else "present" if self.found else "absent"


class CompletenessResult(BaseModel, frozen=True):
    """The expected claims that the response makes, and those that it does not.

    Attributes:
        claims_missing: the required ones; the feedback lists the others, too.
        matches: all claims, in the given order.
        passed: False if all required claims must be found and one is not.
        note: the reason if a score means less than it seems; usually empty.
        fallback: measured by words, because the similarity provider did not answer.
    """

    score: float = _Score
    tier: Tier
    claims_found: tuple[ClaimMatch, ...] = ()
    claims_missing: tuple[ExpectedClaim, ...] = ()
    total_required: int = Field(ge=0)
    total_found: int = Field(ge=0)
    passed: bool = True
    matches: tuple[ClaimJudgement, ...] = ()
    note: str = ""
    fallback: bool = False


class AttributionMention(BaseModel, frozen=True):
    """A place where the response names its source.

    Attributes:
        target: the address, domain or brand that is mentioned.
        context: the words around it, at most 60 characters on each side.
        implies: what else the same words name, as the address of a page names its domain; it does not add to the score.
    """

    type: Literal["url", "domain", "brand"]
    matched_text: str
    target: str
    position: TextPosition
    context: str
    implies: tuple[Literal["domain", "brand"], ...] = ()


class AttributionResult(BaseModel, frozen=True):
    """The mentions of the source in the response.

    Attributes:
        has_domain_mention: true also for a domain within an address; `implies` of that mention says so.
    """

    score: float = _Score
    tier: Tier
    mentions: tuple[AttributionMention, ...] = ()
    has_url_citation: bool = False
    has_domain_mention: bool = False
    has_brand_mention: bool = False


class ClaimEvidence(BaseModel, frozen=True):
    """A claim that was found, for readers. `confidence` is the calibrated similarity."""

    claim: str
    evidence: str
    confidence: float = _Unit


class MissingClaim(BaseModel, frozen=True):
    """A claim that was not found."""

    claim: str
    importance: Importance


class Contradiction(BaseModel, frozen=True):
    """A statement of the response that may contradict a claim, or the ground truth.

    Attributes:
        source: the chunk of the ground truth with the claim; empty for an expected claim.
    """

    claim: str
    statement: str
    position: TextPosition
    conflicts: tuple[Conflict, ...]
    source: str = ""


class ClaimFeedback(BaseModel, frozen=True):
    """The claims, as a checklist.

    Attributes:
        not_in_ground_truth: statements without a counterpart in the ground truth. They need not be false.
        contradicts: candidates, apart from those.
    """

    found: tuple[ClaimEvidence, ...] = ()
    missing: tuple[MissingClaim, ...] = ()
    contradicts: tuple[Contradiction, ...] = ()
    not_in_ground_truth: tuple[Segment, ...] = ()


class GroundTruthSource(BaseModel, frozen=True):
    """A place in the ground truth."""

    chunk_id: str
    page_url: str
    matched_text: str


class Highlight(BaseModel, frozen=True):
    """A piece of the response that the ground truth supports."""

    response_range: TextPosition
    response_text: str
    ground_truth_source: GroundTruthSource
    similarity: float = _Unit


class HighlightFeedback(BaseModel, frozen=True):
    """The supported parts of the response. Highlights and unmatched segments together cover it exactly once.

    Attributes:
        coverage_percent: the highlights' share of the characters that are not white space, 0–100.
        fallback: measured by words, because the similarity provider did not answer.
    """

    highlights: tuple[Highlight, ...] = ()
    coverage_percent: float = _Score
    unmatched_segments: tuple[Segment, ...] = ()
    fallback: bool = False


class Scores(BaseModel, frozen=True):
    """The three scores. One is None if there was nothing to hold the response against.

    Attributes:
        combined: the mean by the weights of the measured ones; None if there are none.
        support_rate: the share of the answer's statements that the ground truth supports, in percent; None without
            ground truth, or without a statement.
        contradiction_rate: the share that contradicts it, or a claim; without ground truth the share of the expected
            claims that the answer contradicts.
    """

    accuracy: AccuracyResult | None = None
    completeness: CompletenessResult | None = None
    attribution: AttributionResult | None = None
    combined: float | None = Field(default=None, ge=0, le=100)
    support_rate: float | None = Field(default=None, ge=0, le=100)
    contradiction_rate: float | None = Field(default=None, ge=0, le=100)


class JudgeUse(BaseModel, frozen=True):
    """The questions to a judge, and their cost.

    Attributes:
        judge: its name.
        questions: those sent, cached ones not included.
        cached: answered from the store.
        untaken: questions without a verdict that counts; the offline one stands there.
        input_tokens, output_tokens: as reported, else estimated.
        cost: by the prices of the settings; None without them.
    """

    judge: str
    questions: int = 0
    cached: int = 0
    untaken: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None


class Feedback(BaseModel, frozen=True):
    """The feedback for readers."""

    claims: ClaimFeedback = ClaimFeedback()
    highlights: HighlightFeedback = HighlightFeedback(coverage_percent=0)


class AnalysisResult(BaseModel, frozen=True):
    """The whole analysis of one response, with all that is needed to repeat it.

    Attributes:
        ai_provider: the response's `provider`; `response_at` is its `responded_at`.
        expected: what the response was held against.
        flags: findings for a reader, or a program: "needs_review", "empty_response", "truncated", "malformed",
            "keyword_fallback", "judge_fallback", "other_language", "nothing_to_check".
        notes: the flags in sentences, and further remarks.
        provider: the similarity provider, such as "lexical".
        previous_id: the analysis that this one repeats; empty for a first one.
        judge: what a judge was asked; None without one.
        trial: the response's.
    """

    id: str
    query_id: str
    query: str = ""
    domain: str = ""
    ai_provider: str = ""
    model: str = ""
    response: str
    response_at: datetime | None = None
    expected: ExpectedAnswer = ExpectedAnswer()
    scores: Scores = Scores()
    feedback: Feedback = Feedback()
    flags: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    provider: str = ""
    analyzed_at: datetime
    analyzer_version: str
    ground_truth_version: str = ""
    previous_id: str = ""
    judge: JudgeUse | None = None
    trial: int = 1
    metadata: Mapping[str, Any] = {}
