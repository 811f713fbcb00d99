"""What the verifiers said of a claim of completion."""

from typing import Self

from pydantic import BaseModel, NonNegativeFloat, NonNegativeInt

from ralph.types.output import Usage

__all__ = ["Verdict", "Verification"]


class Verdict(BaseModel, frozen=True):
    """What one verifier said.

    Attributes:
        undecided: it speaks neither for the claim nor against it: the verifier could not find out, as when a review
            cannot be had. Then `passed` is False, and `output` says why.
        output: what it printed, masked, at most 4,000 characters: the beginning and the end.
        signature: the failure with paths, numbers and times taken out, the same for the same failure; empty where
            it passed.
        duration: in seconds.
        usage: what it used of a model; a program uses nothing.
        sessions: how many sessions of an agent it took.
    """

    verifier: str
    passed: bool
    undecided: bool = False
    output: str = ""
    signature: str = ""
    duration: NonNegativeFloat = 0.0
    usage: Usage = Usage()
    sessions: NonNegativeInt = 0

    @classmethod
    def unknown(cls, verifier: str, why: str) -> Self:
        """That of a verifier that could not find out."""
        return cls(verifier=verifier, passed=False, undecided=True, output=why)

    @property
    def word(self) -> str:
        """What it says, in a word or two: "succeeds", "fails" or "is undecided"."""
        return "succeeds" if self.passed else "is undecided" if self.undecided else "fails"


class Verification(BaseModel, frozen=True):
    """What all verifiers said: a claim holds when every one passed. Without a verifier nothing is verified.

    Attributes:
        cut_short: why it was ended before all had spoken, such as the limit that was reached; empty where it was not.
            Then the claim neither holds nor is it refuted by those who did not speak.
    """

    verdicts: tuple[Verdict, ...] = ()
    cut_short: str = ""

    @property
    def passed(self) -> bool:
        """Whether there was a verifier and all passed."""
        return bool(self.verdicts) and not self.cut_short and all(verdict.passed for verdict in self.verdicts)

    @property
    def refuted(self) -> tuple[Verdict, ...]:
        """The verdicts against the claim."""
        return tuple(verdict for verdict in self.verdicts if not verdict.passed and not verdict.undecided)

    @property
    def errors(self) -> tuple[str, ...]:
        """The failures of the verdicts against the claim, each with its verifier; the same for the same failure."""
        return tuple(f"{verdict.verifier}: {verdict.signature}" for verdict in self.refuted)

    @property
    def undecided(self) -> tuple[Verdict, ...]:
        """The verdicts that are none: what could not be found out."""
        return tuple(verdict for verdict in self.verdicts if verdict.undecided)

    @property
    def usage(self) -> Usage:
        """Of all verifiers together."""
        return sum((verdict.usage for verdict in self.verdicts), Usage())

    @property
    def sessions(self) -> int:
        """The sessions of an agent that it took, all verifiers together."""
        return sum(verdict.sessions for verdict in self.verdicts)
