"""What an analysis comes to: three scores, each with its evidence, and feedback for people.

All positions count characters of the response as it was analysed: `response[start:end]` is the text that stands beside
them.
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
    "MissingClaim",
    "Scores",
    "Segment",
    "TextPosition",
    "Tier",
]

Tier = Literal["excellent", "good", "fair", "poor"]
ConflictKind = Literal["number", "date", "negation", "antonym", "entity"]

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
    """A piece of the response, and the chunk of the ground truth that is most like it.

    Attributes:
        similarity: calibrated, so that 0.75 is the decision point.
        raw: as the provider measures it.
    """

    response_segment: str
    position: TextPosition
    ground_truth_chunk_id: str
    similarity: float = _Unit
    raw: float = _Unit


class AccuracyResult(BaseModel, frozen=True):
    """How alike the response is to the expected answer.

    Attributes:
        similarity: raw, as the provider measures it.
        calibrated: what the score is a hundred times of.
        aggregations: the calibrated similarity by each way to join the pieces, "max" and "mean".
        matched_chunks: further evidence, from the ground truth; it does not change the score.
        fallback: measured by words, since the provider of similarity did not answer.
    """

    score: float = _Score
    tier: Tier
    similarity: float = _Unit
    calibrated: float = _Unit
    aggregations: Mapping[str, float] = {}
    matched_chunks: tuple[ChunkMatch, ...] = ()
    fallback: bool = False


class Conflict(BaseModel, frozen=True):
    """One thing in which a statement goes against a claim: it may be wrong, or be about something else.

    Attributes:
        expected: what the claim has, such as "50"; "said" what stands in the response instead, at `position`.
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


class ClaimJudgement(BaseModel, frozen=True):
    """What became of one claim, found or not.

    Attributes:
        claim: its statement.
        matched_text: the most similar words of the response; empty where nothing is alike.
        conflicts: in what the matched text goes against the claim; then it is not found.
    """

    claim: str
    importance: Importance = "required"
    similarity: float = _Unit
    raw: float = _Unit
    found: bool
    matched_text: str = ""
    position: TextPosition = TextPosition(start=0, end=0)
    conflicts: tuple[Conflict, ...] = ()


class CompletenessResult(BaseModel, frozen=True):
    """Which of the expected claims the response makes.

    Attributes:
        claims_missing: the required ones; the feedback tells of the others, too.
        matches: all claims, in the order in which they were given.
        passed: False where all required claims must be found and one is not.
        note: why a score means less than it seems to; empty mostly.
        fallback: measured by words, since the provider of similarity did not answer.
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
        target: what it is a mention of: the address, domain or brand looked for.
        context: the words around it, at most 60 characters on each side.
        implies: what else the same words name, as the address of a page names its domain; they add nothing.
    """

    type: Literal["url", "domain", "brand"]
    matched_text: str
    target: str
    position: TextPosition
    context: str
    implies: tuple[Literal["domain", "brand"], ...] = ()


class AttributionResult(BaseModel, frozen=True):
    """Whether the response credits its source.

    Attributes:
        has_domain_mention: also where the domain stands within an address; `implies` says so of that mention.
    """

    score: float = _Score
    tier: Tier
    mentions: tuple[AttributionMention, ...] = ()
    has_url_citation: bool = False
    has_domain_mention: bool = False
    has_brand_mention: bool = False


class ClaimEvidence(BaseModel, frozen=True):
    """A claim that was found, for people. `confidence` is the calibrated similarity."""

    claim: str
    evidence: str
    confidence: float = _Unit


class MissingClaim(BaseModel, frozen=True):
    """A claim that was not found."""

    claim: str
    importance: Importance


class Contradiction(BaseModel, frozen=True):
    """A statement of the response that may go against a claim, or against the ground truth.

    Attributes:
        source: the chunk of the ground truth that has the claim; empty where the claim was expected of the answer.
    """

    claim: str
    statement: str
    position: TextPosition
    conflicts: tuple[Conflict, ...]
    source: str = ""


class ClaimFeedback(BaseModel, frozen=True):
    """The claims, as a check-list.

    Attributes:
        not_in_ground_truth: statements that nothing in the ground truth is like. That does not make them false.
        contradicts: candidates, apart from those.
    """

    found: tuple[ClaimEvidence, ...] = ()
    missing: tuple[MissingClaim, ...] = ()
    contradicts: tuple[Contradiction, ...] = ()
    not_in_ground_truth: tuple[Segment, ...] = ()


class GroundTruthSource(BaseModel, frozen=True):
    """Where in the ground truth it stands."""

    chunk_id: str
    page_url: str
    matched_text: str


class Highlight(BaseModel, frozen=True):
    """A piece of the response that the ground truth bears out."""

    response_range: TextPosition
    response_text: str
    ground_truth_source: GroundTruthSource
    similarity: float = _Unit


class HighlightFeedback(BaseModel, frozen=True):
    """What of the response is borne out. Highlights and unmatched segments together cover it exactly once.

    Attributes:
        coverage_percent: the highlights' share of the characters that are not white space, 0–100.
        fallback: measured by words, since the provider of similarity did not answer.
    """

    highlights: tuple[Highlight, ...] = ()
    coverage_percent: float = _Score
    unmatched_segments: tuple[Segment, ...] = ()
    fallback: bool = False


class Scores(BaseModel, frozen=True):
    """The three scores. One is None where there was nothing to hold the response against.

    Attributes:
        combined: by the weights of those that are there; None where none is.
    """

    accuracy: AccuracyResult | None = None
    completeness: CompletenessResult | None = None
    attribution: AttributionResult | None = None
    combined: float | None = Field(default=None, ge=0, le=100)


class Feedback(BaseModel, frozen=True):
    """What people are told."""

    claims: ClaimFeedback = ClaimFeedback()
    highlights: HighlightFeedback = HighlightFeedback(coverage_percent=0)


class AnalysisResult(BaseModel, frozen=True):
    """The whole analysis of one response, with all that is needed to make it again.

    Attributes:
        ai_provider: the response's `provider`; `response_at` is its `responded_at`.
        expected: what the response was held against.
        flags: what a person, or a program, should look at: "needs_review", "empty_response", "truncated",
            "malformed", "keyword_fallback", "other_language", "nothing_to_check".
        notes: the flags in sentences, and whatever else there is to say.
        provider: what measured similarity, such as "lexical".
        previous_id: the analysis that this one was made again from; empty for a first one.
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
    metadata: Mapping[str, Any] = {}
