"""The input of a score: questions, their expected answers, and the answers."""

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
        importance: only "required" ones count for the score; the feedback lists all.
        source_claim_id: the claim of the ground truth that it was made from; empty if the user gave it.
    """

    statement: str = Field(min_length=1)
    importance: Importance = "required"
    source_claim_id: str = ""


class ExpectedAnswer(BaseModel, frozen=True):
    """The material to judge an answer against. Accuracy needs a text, completeness needs claims.

    Attributes:
        claims: None if unknown; an empty tuple if there is nothing to check.
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
        priority: higher ones come first.
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
    """A provider's answer to a query.

    Attributes:
        response: usually a text; anything else is converted as far as possible.
        provider: who answered, such as "openai"; "" if unknown.
        responded_at: with a time zone; None if unknown.
        tokens: as the provider reports them; None if it does not.
        latency: in seconds; None if not measured.
        citations: the sources that the provider lists beside the answer: addresses, or objects with a "url". Without
            them those in the metadata are used.
        trial: the number of the answer, if a model answers a query several times.
    """

    query_id: str = Field(min_length=1)
    response: Any
    provider: str = ""
    model: str = ""
    responded_at: datetime | None = None
    tokens: int | None = None
    latency: float | None = None
    citations: tuple[Any, ...] = ()
    trial: int = Field(default=1, ge=1)
    metadata: Mapping[str, Any] = {}
