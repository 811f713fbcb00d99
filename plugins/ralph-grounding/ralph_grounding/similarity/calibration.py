"""The lexical provider's parameters and decision points, which give its raw similarity a meaning.

They are in `lexical.json` beside this module. `tests/fit_lexical.py` of the plug-in's sources fits them on claims with
human labels.
"""

from collections.abc import Sequence
from functools import lru_cache
from importlib import resources
from math import exp

from pydantic import BaseModel, Field

__all__ = ["DECISION", "LexicalParameters", "TokenWeights", "calibrated", "lexical_parameters"]

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
        weights = (self.function, self.number, self.last, self.length, self.common, self.shared)
        return exp(sum(weight * feature for weight, feature in zip(weights, features, strict=True)))


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
