"""Calibration: the lexical provider's parameters, and the decision points that give a raw similarity a meaning.

The parameters are in `lexical.json` beside this module. `tests/fit_lexical.py` of the plug-in's sources fits them on
claims with human labels.

Each model has decision points of its own, and none is fitted here: without a file a model gets a guess, which finds too
much or too little. `python -m ralph_grounding.similarity.fit` finds the decision points on your own data.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import resources
from math import exp
from pathlib import Path

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from ralph.errors import UsageError, plainly

__all__ = [
    "DECISION",
    "UNFITTED",
    "UNFITTED_HYBRID",
    "DecisionPoints",
    "LexicalParameters",
    "TokenWeights",
    "calibrated",
    "lexical_parameters",
    "read_decision_points",
]

DECISION = 0.75
"""The calibrated similarity of every decision point."""


class TokenWeights(BaseModel, frozen=True, extra="forbid"):
    """The weight of a claim's token: e to the power of the sum of the values that apply to it.

    Attributes:
        function: of a word that only holds the sentence together.
        number: of a number.
        last: of the last content word, usually the new information of a claim.
        length: for every five characters, up to ten: long words are rare.
        common: of an everyday word that has synonyms.
        shared: of a word in all claims of the same call; in proportion for one in some of them.
    """

    function: float
    number: float
    last: float
    length: float
    common: float
    shared: float

    def of(self, features: Sequence[float]) -> float:
        """Return the weight of a token with these features, in the order of the attributes. Above 0."""
        function, number, last, length, common, shared = features
        return exp(
            self.function * function + self.number * number + self.last * last
            + self.length * length + self.common * common + self.shared * shared
        )  # fmt: skip


class LexicalParameters(BaseModel, frozen=True, extra="forbid"):
    """All fitted parameters.

    Attributes:
        decision: the raw similarity at which a claim is as likely made as not.
    """

    weights: TokenWeights
    decision: float = Field(gt=0, lt=1)


def calibrated(raw: float, decision: float) -> float:
    """Map a raw similarity to the common scale: 0 at 0, 0.75 at the decision point, 1 at 1, and linear in between."""
    raw = max(0.0, min(1.0, raw))
    if raw <= decision:
        return DECISION * (raw / decision)
    return DECISION + (1 - DECISION) * ((raw - decision) / (1 - decision))


@lru_cache(maxsize=1)
def lexical_parameters() -> LexicalParameters:
    """Load the shipped parameters."""
    written = resources.files("ralph_grounding.similarity").joinpath("lexical.json").read_bytes()
    return LexicalParameters.model_validate_json(written)


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
