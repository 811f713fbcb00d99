"""Answers as JSON lines: an object per line, each with its expected answer, and a result for each."""

from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, BeforeValidator, Field

from ralph_grounding.ground_truth.pages import GroundTruth
from ralph_grounding.materials import AIResponse, ExpectedAnswer, ExpectedClaim, Query
from ralph_grounding.result import AnalysisResult

__all__ = ["Line", "result_line"]


def _as_claim(given: object) -> object:
    return {"statement": given} if isinstance(given, str) else given


def _as_page(given: object) -> object:
    return {"text": given} if isinstance(given, str) else given


class PageLine(BaseModel, frozen=True):
    """A page within a line: its text, or an object with its address, too."""

    text: str
    url: str = ""
    title: str = ""


class Line(BaseModel, frozen=True):
    """One answer, and the material to judge it against. Missing material leaves its metric unmeasured."""

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
        """Return the question, as far as the line gives it."""
        expected = ExpectedAnswer(text=self.reference or "", claims=self.claims)
        return Query(id=f"line {number}", text=self.question, domain=self.domain, expected=expected)

    def answer(self, number: int) -> AIResponse:
        """Return the answer."""
        return AIResponse(query_id=f"line {number}", response=self.response, provider=self.provider, model=self.model)

    def ground(self, shared: GroundTruth) -> GroundTruth:
        """Return the line's own ground truth; for what it lacks, the shared one applies."""
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


def result_line(result: AnalysisResult) -> dict[str, Any]:
    """Return the printed result: the three scores, null if not measured, and the feedback."""
    said = result.model_dump(
        mode="json", include={"feedback", "flags", "notes", "provider", "ground_truth_version", "judge"}
    )
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
        **({"judge": said["judge"]} if said["judge"] else {}),
    }
