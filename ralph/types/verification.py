"""The verdicts of the verifiers on a claim of completion."""

from collections.abc import Iterable
from typing import NamedTuple, Self

from pydantic import BaseModel, NonNegativeFloat, NonNegativeInt

from ralph.types.output import Usage


class CheckFiles(NamedTuple):
    """The files that a check depends on.

    Attributes:
        named: scripts that the command itself runs; paths from the workspace on.
        fixed: patterns of further scripts and of settings. A new file counts as a change, as it can take over.
        tests: patterns of tests. A new file does not count: writing tests is work like any other.
    """

    named: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()

    def __or__(self, other: "CheckFiles") -> "CheckFiles":
        return CheckFiles(*(tuple(dict.fromkeys((*ours, *theirs))) for ours, theirs in zip(self, other, strict=True)))


class Verdict(BaseModel, frozen=True):
    """The verdict of one verifier.

    Attributes:
        fresh: the verifier judges anew, such as a review: its word counts without an earlier failure.
        undecided: it speaks neither for the claim nor against it: the verifier could not find out, as when a review is
            not possible. Then `passed` is False, and `output` says why.
        changed: files that the verdict depends on, such as tests, and that the run has changed: at most twenty.
        output: its output, masked, at most 4,000 characters: the beginning and the end.
        signature: the failure without paths, numbers and times, the same for the same failure; empty if it passed.
        duration: in seconds.
        usage: of a model; a program uses nothing.
        sessions: the number of agent sessions that it took.
    """

    verifier: str
    passed: bool
    fresh: bool = False
    undecided: bool = False
    changed: tuple[str, ...] = ()
    output: str = ""
    signature: str = ""
    duration: NonNegativeFloat = 0.0
    usage: Usage = Usage()
    sessions: NonNegativeInt = 0

    @classmethod
    def unknown(cls, verifier: str, why: str) -> Self:
        """Return the verdict of a verifier that could not find out."""
        return cls(verifier=verifier, passed=False, undecided=True, output=why)

    @property
    def word(self) -> str:
        """The verdict in a word or two: "succeeds", "fails" or "is undecided"."""
        return "succeeds" if self.passed else "is undecided" if self.undecided else "fails"


class Verification(BaseModel, frozen=True):
    """The verdicts of all verifiers: a claim holds if every one passed. Without a verifier nothing is verified.

    Attributes:
        cut_short: why it ended before all verifiers had finished, such as a limit that was reached; empty if they all
            did. Then the claim neither holds nor is it refuted by the others.
    """

    verdicts: tuple[Verdict, ...] = ()
    cut_short: str = ""

    @property
    def passed(self) -> bool:
        """True if there was a verifier and all passed."""
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
        """The verdicts of verifiers that could not find out."""
        return tuple(verdict for verdict in self.verdicts if verdict.undecided)

    @property
    def usage(self) -> Usage:
        """The usage of all verifiers together."""
        return sum((verdict.usage for verdict in self.verdicts), Usage())

    @property
    def sessions(self) -> int:
        """The number of agent sessions of all verifiers together."""
        return sum(verdict.sessions for verdict in self.verdicts)


class PriorChecks(BaseModel, frozen=True):
    """The results of a run's checks so far, by the names of the verifiers: a check proves a change only if it failed.

    Attributes:
        passed, failed: before the first iteration. A name of several verifiers failed if one of them did.
        refuted: they refuted a claim during the run.
    """

    passed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    refuted: tuple[str, ...] = ()

    @classmethod
    def before_run(cls, verification: Verification | None) -> Self:
        """Return the results before the first iteration."""
        verdicts = verification.verdicts if verification is not None else ()
        failed = _names(verdict for verdict in verdicts if not verdict.passed and not verdict.undecided)
        passed = _names(verdict for verdict in verdicts if verdict.passed)
        return cls(passed=tuple(name for name in passed if name not in failed), failed=failed)

    def __or__(self, more: "PriorChecks") -> "PriorChecks":
        """Return the results with those of checks that joined the run later, from before their first iteration."""
        return PriorChecks(
            passed=(*self.passed, *more.passed), failed=(*self.failed, *more.failed), refuted=self.refuted
        )

    def after(self, verification: Verification | None) -> Self:
        """Return the results with those of one more claim."""
        if verification is None or not verification.refuted:
            return self
        names = dict.fromkeys((*self.refuted, *_names(verification.refuted)))
        return self.model_copy(update={"refuted": tuple(names)})


def _names(verdicts: Iterable[Verdict]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(verdict.verifier for verdict in verdicts))
