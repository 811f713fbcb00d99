"""What stands behind `--verifier grounding:`, and what is made of it."""

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field

from ralph.errors import UsageError

if TYPE_CHECKING:
    from ralph.plugins import VerifierMaterials
    from ralph.verifiers import Verifier

__all__ = ["GroundingKeys", "build"]

_SCORE: Any = Field(default=None, ge=0, le=100)


class GroundingKeys(BaseModel, frozen=True, extra="forbid"):
    """The keys of the verifier. Several places or patterns in one key have commas in between, and quotes around."""

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


def build(keys: GroundingKeys, materials: "VerifierMaterials") -> "Verifier":
    """The verifier. Raises `UsageError` where the keys name nothing to hold documents against."""
    from ralph_grounding.settings import GroundingSettings
    from ralph_grounding.verifier import GroundingVerifier

    if not (keys.claims or keys.reference or keys.domain or keys.brand):
        raise UsageError(
            "The verifier 'grounding' has nothing to hold a document against.",
            "Name claims, a reference or a domain, as in grounding:claims=claims.yaml,min_completeness=80.",
        )
    own = materials.own if isinstance(materials.own, GroundingSettings) else GroundingSettings()
    return GroundingVerifier(keys, own, timeout=keys.timeout or materials.timeout)
