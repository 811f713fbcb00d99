"""What an iteration did to the workspace, and whether that is progress.

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
    """What an iteration did to the workspace.

    Attributes:
        fingerprint: of the workspace after the iteration: its commit, its differences from that, its untracked
            files; equal for equal states. None where it could not be taken; nothing follows from that.
        files: paths that differ from how they were before the iteration, relative to the workspace, sorted, at most
            200 of them.
        files_changed: how many they are in all.
        commits: how many commits were made.
        problem: why the workspace could not be read, where it could not.
    """

    fingerprint: str | None = None
    files: tuple[str, ...] = ()
    files_changed: NonNegativeInt = 0
    commits: NonNegativeInt = 0
    problem: str = ""

    @property
    def known(self) -> bool:
        """Whether anything can be concluded from it."""
        return self.fingerprint is not None


class Checkpoint(BaseModel, frozen=True):
    """The workspace's files as they were at one moment, kept so that one can go back to them.

    Attributes:
        commit: the id of the commit that holds them; None where none was made.
        problem: why there is none, or what of the workspace it does not hold.
    """

    commit: str | None = None
    problem: str = ""


def is_new(fingerprint: str | None, earlier: Sequence[Collection[str]]) -> bool:
    """Whether a state of the workspace was not there before.

    Args:
        fingerprint: of the state; None is never new.
        earlier: fingerprints of the iterations before, oldest first, with that of the start of the run in front;
            an iteration has more than one where its verifiers left something behind. The last ten iterations count.
    """
    recent = earlier[-FINGERPRINTS_KEPT:]
    return fingerprint is not None and not any(fingerprint in marks for marks in recent)
