"""What is to be judged: questions, what is expected of their answers, and the answers."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field

__all__ = ["AIResponse", "ExpectedAnswer", "ExpectedClaim", "Importance", "Query", "QueryKind"]

Importance = Literal["required", "expected", "optional"]
QueryKind = Literal["informational", "navigational", "comparison", "transactional"]


class ExpectedClaim(BaseModel, frozen=True):
    """A statement that a right answer makes.

    Attributes:
        importance: only "required" ones count for the score; the feedback tells of all.
        source_claim_id: the ground truth's claim that it was made from; empty where it was given.
    """

    statement: str = Field(min_length=1)
    importance: Importance = "required"
    source_claim_id: str = ""


class ExpectedAnswer(BaseModel, frozen=True):
    """What an answer is held against. Without a text accuracy is not measured, without claims completeness is not.

    Attributes:
        claims: None where nobody said which; an empty tuple where there is nothing to be checked.
    """

    text: str = ""
    claims: tuple[ExpectedClaim, ...] | None = None


class Query(BaseModel, frozen=True):
    """A question, and what is expected of its answer.

    Attributes:
        id: unique among the queries of a set.
        domain: of the site that the answer should credit; empty: the ground truth's.
        variations: other wordings of the same question.
        difficulty: 0 (easy) to 1.
        priority: higher ones are asked first.
    """

    id: str = Field(min_length=1)
    text: str
    domain: str = ""
    expected: ExpectedAnswer = ExpectedAnswer()
    variations: tuple[str, ...] = ()
    kind: QueryKind = "informational"
    topic: str = ""
    difficulty: float = Field(default=0.5, ge=0, le=1)
    priority: float = Field(default=0.0, allow_inf_nan=False)
    source_urls: tuple[str, ...] = ()
    ground_truth_version: str = ""


class AIResponse(BaseModel, frozen=True):
    """What a provider answered to a query.

    Attributes:
        response: mostly a text; what is none is made the best of.
        provider: who was asked, such as "openai"; "" where that is not known.
        responded_at: with a time zone; None where that is not known.
        tokens: that the provider says it used; None where it does not say.
        latency: in seconds; None where it was not measured.
    """

    query_id: str = Field(min_length=1)
    response: Any
    provider: str = ""
    model: str = ""
    responded_at: datetime | None = None
    tokens: int | None = None
    latency: float | None = None
    metadata: Mapping[str, Any] = {}
