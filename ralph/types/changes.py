"""The effect of an iteration on the workspace, and the rule for progress.

Progress means that the workspace's fingerprint differs from every fingerprint of the last ten iterations (the one
before the run included), or that boxes of the plan moved. So editing and reverting is no progress, and neither is a
tree that was dirty before.
"""

from collections.abc import Collection, Sequence

from pydantic import BaseModel, NonNegativeInt

__all__ = ["FINGERPRINTS_KEPT", "Changes", "Checkpoint", "is_new"]

FINGERPRINTS_KEPT = 10
"""Iterations whose states of the workspace are remembered."""


class Changes(BaseModel, frozen=True):
    """The effect of an iteration on the workspace.

    Attributes:
        fingerprint: of the workspace after the iteration: its commit, its differences from that, its untracked files;
            equal for equal states. None if it could not be taken; then nothing follows from the other fields.
        files: paths that differ from before the iteration, relative to the workspace, sorted, at most 200 of them.
        files_changed: how many they are in all.
        commits: how many commits were made.
        problem: why the workspace could not be read, if it could not.
    """

    fingerprint: str | None = None
    files: tuple[str, ...] = ()
    files_changed: NonNegativeInt = 0
    commits: NonNegativeInt = 0
    problem: str = ""

    @property
    def known(self) -> bool:
        """True if the state of the workspace is known."""
        return self.fingerprint is not None


class Checkpoint(BaseModel, frozen=True):
    """The workspace's files at one moment, kept so that they can be restored.

    Attributes:
        commit: the id of the commit that holds them; None if none exists.
        problem: the reason why there is no checkpoint, or which part of the workspace it does not hold.
    """

    commit: str | None = None
    problem: str = ""


def is_new(fingerprint: str | None, earlier: Sequence[Collection[str]]) -> bool:
    """Return whether a state of the workspace was not there before.

    Args:
        fingerprint: of the state; None is never new.
        earlier: fingerprints of the iterations before, oldest first, with that of the start of the run in front; an
            iteration has more than one if its verifiers left something behind. The last ten iterations count.
    """
    recent = earlier[-FINGERPRINTS_KEPT:]
    return fingerprint is not None and not any(fingerprint in marks for marks in recent)
