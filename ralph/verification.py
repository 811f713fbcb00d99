"""What the verifiers said of a claim of completion."""

from pydantic import BaseModel, NonNegativeFloat

__all__ = ["Verdict", "Verification"]


class Verdict(BaseModel, frozen=True):
    """What one verifier said.

    Attributes:
        output: what it printed, masked, at most 4,000 characters: the beginning and the end.
        signature: the failure with paths, numbers and times taken out, the same for the same failure; empty where
            it passed.
        duration: in seconds.
    """

    verifier: str
    passed: bool
    output: str = ""
    signature: str = ""
    duration: NonNegativeFloat = 0.0


class Verification(BaseModel, frozen=True):
    """What all verifiers said: a claim holds when every one passed. Without a verifier nothing is verified."""

    verdicts: tuple[Verdict, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether there was a verifier and all passed."""
        return bool(self.verdicts) and all(verdict.passed for verdict in self.verdicts)

    @property
    def refuted(self) -> tuple[Verdict, ...]:
        """The verdicts against the claim."""
        return tuple(verdict for verdict in self.verdicts if not verdict.passed)
