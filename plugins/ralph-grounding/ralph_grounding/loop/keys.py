"""The keys of `--verifier grounding:`."""

from typing import Any

from pydantic import BaseModel, Field

__all__ = ["GroundingKeys"]

_SCORE: Any = Field(default=None, ge=0, le=100)


class GroundingKeys(BaseModel, frozen=True, extra="forbid"):
    """The keys of the verifier. Separate several places or patterns in one key by commas, and quote them."""

    file: str = Field(
        default="", description="Patterns of the documents that are judged; unset: those that the run has changed."
    )
    claims: str = Field(default="", description="A file of claims, as YAML or JSON.")
    reference: str = Field(default="", description="A file with the expected text.")
    ground_truth: str = Field(default="", description="Files and folders that are true.")
    domain: str = Field(default="", description="The site that the documents should credit.")
    brand: str = Field(default="", description="Brands that credit it as well.")
    min_completeness: float | None = _SCORE
    min_accuracy: float | None = _SCORE
    min_attribution: float | None = _SCORE
    timeout: float | None = Field(default=None, gt=0, description="In seconds; unset: verify_timeout.")
