"""Answers as lines of JSON: an object a line, each with what its answer is held against, and an answer to each."""

from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, BeforeValidator, Field

from ralph_grounding.ground_truth.pages import GroundTruth
from ralph_grounding.materials import AIResponse, ExpectedAnswer, ExpectedClaim, Query
from ralph_grounding.result import AnalysisResult

__all__ = ["Line", "answer_to"]


def _as_claim(given: object) -> object:
    return {"statement": given} if isinstance(given, str) else given


def _as_page(given: object) -> object:
    return {"text": given} if isinstance(given, str) else given


class PageLine(BaseModel, frozen=True):
    """A page within a line: its text, or an object that also says where it is."""

    text: str
    url: str = ""
    title: str = ""


class Line(BaseModel, frozen=True):
    """One answer, and what it is held against. What is missing is not measured."""

    response: Any
    reference: str | None = None
    claims: tuple[Annotated[ExpectedClaim, BeforeValidator(_as_claim)], ...] | None = None
    ground_truth: tuple[Annotated[PageLine, BeforeValidator(_as_page)], ...] = ()
    domain: str = ""
    brands: tuple[str, ...] = ()
    provider: str = ""
    model: str = ""
    question: str = Field(default="", validation_alias=AliasChoices("question", "query"))

    def query(self, number: int) -> Query:
        """What was asked, as far as the line says."""
        expected = ExpectedAnswer(text=self.reference or "", claims=self.claims)
        return Query(id=f"line {number}", text=self.question, domain=self.domain, expected=expected)

    def answer(self, number: int) -> AIResponse:
        """What was answered."""
        return AIResponse(query_id=f"line {number}", response=self.response, provider=self.provider, model=self.model)

    def ground(self, shared: GroundTruth) -> GroundTruth:
        """The line's own ground truth; what it does not say holds as for all lines."""
        if not (self.ground_truth or self.domain or self.brands):
            return shared
        from ralph_grounding.ground_truth.chunks import page_of_text

        pages = tuple(
            page_of_text(page.text, url=page.url or f"ground truth {number}", title=page.title)
            for number, page in enumerate(self.ground_truth, start=1)
        )
        return GroundTruth(
            pages=pages or shared.pages,
            domain=self.domain or shared.domain,
            brands=self.brands or shared.brands,
        )


def answer_to(result: AnalysisResult) -> dict[str, Any]:
    """What is told of an answer: the three scores, or null where one was not measured, and the feedback."""
    said = result.model_dump(mode="json", include={"feedback", "flags", "notes", "provider", "ground_truth_version"})
    scores = result.scores.model_dump(mode="json")
    return {
        "accuracy": scores["accuracy"],
        "completeness": scores["completeness"],
        "attribution": scores["attribution"],
        "combined": scores["combined"],
        "feedback": said["feedback"],
        "flags": said["flags"],
        "notes": said["notes"],
        "similarity": said["provider"],
        "ground_truth_version": said["ground_truth_version"],
    }
