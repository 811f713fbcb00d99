"""The meaning of a model's cosines: for each question the value at which the model is as likely right as wrong.

Each model has its own, and none is fitted here: without a file a model gets a guess, which finds too much or too
little. `python -m ralph_grounding.similarity.fit` finds the decision points on your own data.
"""

from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from ralph.errors import UsageError, plainly
from ralph_grounding.similarity.calibration import DECISION

__all__ = ["UNFITTED", "UNFITTED_HYBRID", "DecisionPoints", "read_decision_points"]

_REMEDY = "Write it with `python -m ralph_grounding.similarity.fit`."


class DecisionPoints(BaseModel, frozen=True, extra="forbid"):
    """The raw similarity of the decision point, for each question that a provider answers.

    Attributes:
        claims: of a claim and a stretch of a response.
        agreement: of the expected answer and a response.
        passages: of a stretch of a response and a passage of the ground truth; None: as for claims.
        rows: the number of labelled pairs behind them; none for a guess.
    """

    claims: float = Field(gt=0, lt=1)
    agreement: float = Field(gt=0, lt=1)
    passages: float | None = Field(default=None, gt=0, lt=1)
    rows: int = Field(default=0, ge=0)

    @property
    def for_passages(self) -> float:
        """The point for passages; by default that for claims."""
        return self.claims if self.passages is None else self.passages


_FILE = TypeAdapter(dict[str, DecisionPoints])

UNFITTED = DecisionPoints(claims=0.6, agreement=0.6)
"""A guess, for cosines of a model without a calibration."""

UNFITTED_HYBRID = DecisionPoints(claims=DECISION, agreement=DECISION)
"""For the mean of two calibrated similarities: the point at which both decide."""


def read_decision_points(path: Path) -> Mapping[str, DecisionPoints]:
    """Read the decision points in a file of the fitting script, by the names of their providers.

    Raises:
        UsageError: the file cannot be read or is not valid.
    """
    try:
        return _FILE.validate_json(path.read_bytes())
    except OSError as error:
        raise UsageError(f"The calibration {path} cannot be read: {error.strerror or error}.", _REMEDY) from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the file"
        raise UsageError(
            f"{path} is not a calibration: {place[:200]}: {plainly(first['msg'][:200])}.", _REMEDY
        ) from None
