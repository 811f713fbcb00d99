"""What is done for the workspace around the iterations of a run: checkpoints, protected paths, commits.

None of it can end a run: what goes wrong is told.
"""

from typing import Literal

import anyio

from ralph.loop.event_log import Journal
from ralph.records.events import Diagnosed, ProtectedRestored
from ralph.system.clock import Clock
from ralph.system.redact import Redactor
from ralph.types.changes import Checkpoint
from ralph.workspace.base import Snapshot, Workspace

__all__ = ["Upkeep"]

_GRACE = 30.0
"""Seconds for which an agent may go on after its run was last heard of."""

_HURRY = 2.0
"""Seconds for a checkpoint where the run is being ended."""


class Upkeep:
    """Looks after a run's workspace.

    Args:
        commit: when what the run has changed is committed to the branch: never, after each iteration, or when it is
            completed.
    """

    def __init__(
        self,
        workspace: Workspace,
        journal: Journal,
        run_id: str,
        *,
        commit: Literal["none", "iteration", "completion"] = "none",
        redactor: Redactor,
        clock: Clock,
    ) -> None:
        self._workspace = workspace
        self._journal = journal
        self._run_id = run_id
        self._commit = commit
        self._redactor = redactor
        self._clock = clock
        self._told = ""
        self._said = ""

    async def before(self, iteration: int, seen: Snapshot | None) -> str | None:
        """Takes note of the protected paths, and a checkpoint: its commit, or None where none could be made."""
        if problem := await self._workspace.guard(self._run_id):
            self._tell(iteration, problem)
        return (await self._hold(iteration, "before", seen)).commit

    async def mend(self, iteration: int, *, until: float | None = None) -> None:
        """Gives protected paths back that were changed.

        Args:
            until: when the run was last heard of, in seconds since the epoch; what was changed well after that is a
                person's, and is left alone.
        """
        mended = await self._workspace.mend(self._run_id, until=until + _GRACE if until else None)
        if mended.restored or mended.left:
            self._journal.note(
                ProtectedRestored(
                    run_id=self._run_id,
                    iteration=iteration,
                    at=self._clock.now(),
                    paths=mended.restored,
                    aside=str(mended.aside) if mended.aside else None,
                    left=mended.left,
                )
            )

    async def after(self, iteration: int, seen: Snapshot | None, *, hurried: bool) -> Checkpoint:
        """A checkpoint of what the iteration has left; one that takes long is not waited for where there is hurry."""
        with anyio.move_on_after(_HURRY if hurried else None):
            return await self._hold(iteration, "after", seen)
        return Checkpoint(problem="There was no time left for a checkpoint.")

    async def commit(
        self, when: Literal["iteration", "completion"], iteration: int, summary: str, since: str | None
    ) -> bool:
        """Commits what differs from the checkpoint `since`, where that is wanted now; whether there is a new commit.

        Why there is none is told once.
        """
        if self._commit != when:
            return False
        if since is None:
            self._tell(
                iteration, "What was changed is not committed: no checkpoint tells what was there before the run."
            )
            return False
        subject = " ".join(summary.split()) or f"Iteration {iteration} of a Ralph run"
        made = await self._workspace.commit(since, f"{_shortened(subject)}\n\nRalph-Run: {self._run_id}\n")
        if made.told and made.told != self._said:
            self._tell(iteration, made.told)
        self._said = made.told
        return made.commit is not None

    async def end(self, iteration: int, summary: str | None, since: str | None) -> None:
        """The run ends: protected paths need no memory any more, and what a completed run has changed is committed.

        Args:
            summary: of a completed run's last iteration; None where the run was not completed.
        """
        await self.mend(iteration)
        await self._workspace.unguard()
        if summary is not None:
            await self.commit("completion", iteration, summary, since)

    async def _hold(self, iteration: int, moment: Literal["before", "after"], seen: Snapshot | None) -> Checkpoint:
        """A checkpoint. What it does not hold is told once."""
        made = await self._workspace.checkpoint(self._run_id, iteration, moment, seen=seen)
        if made.problem and made.problem != self._told:
            self._tell(iteration, made.problem)
        self._told = made.problem
        return made

    def _tell(self, iteration: int, text: str) -> None:
        told = Diagnosed(run_id=self._run_id, iteration=iteration, at=self._clock.now(), text=self._redactor(text))
        self._journal.note(told)


def _shortened(subject: str) -> str:
    """A commit's first line."""
    return subject if len(subject) <= 72 else f"{subject[:71].rstrip()}…"
