"""Care for the workspace around the iterations of a run: checkpoints, protected paths, commits.

None of it can end a run: problems are reported as events.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import anyio

from ralph.loop.event_log import EventLog
from ralph.loop.lease import Stop
from ralph.records.events import ProtectedRestored
from ralph.system.secrets import Redactor
from ralph.types.choices import CommitPolicy
from ralph.types.output import Checkpoint
from ralph.workspace.base import CommitResult, Snapshot, Workspace

_GRACE = 30.0
"""Seconds for which an agent may continue after its run was last heard of."""

_HURRY = 2.0
"""Seconds for a checkpoint when the run is being ended."""


@dataclass(slots=True)
class Checkpointing:
    """Checkpoints, protected paths and commits of a run.

    Attributes:
        commits: when changes are committed to the branch: never, after each iteration, or when the run is completed.
        uncommitted: why the last commit was not made; empty if it was, or nothing was to be committed.
    """

    workspace: Workspace
    log: EventLog
    commits: CommitPolicy
    redactor: Redactor
    uncommitted: str = ""
    _last_problem: str = ""
    _last_message: str = ""

    async def before(self, iteration: int, seen: Snapshot | None) -> str | None:
        """Record the protected paths and make a checkpoint; return its commit, or None if none could be made."""
        if problem := await self.workspace.guard(self.log.run_id):
            self._report(iteration, problem)
        return (await self._checkpoint(iteration, "before", seen)).commit

    async def restore_protected(self, iteration: int, *, until: float | None = None) -> None:
        """Restore protected paths that were changed.

        Args:
            until: when the run was last heard of, in seconds since the epoch; later changes are the user's, and stay.
        """
        protected = await self.workspace.restore_protected(self.log.run_id, until=until + _GRACE if until else None)
        if protected.restored or protected.left:
            aside = str(protected.aside) if protected.aside else None
            keeper = self.workspace.protection
            also: Mapping[Path, str] = keeper.also if keeper is not None else {}
            because = {path: why for path in protected.restored if (why := also.get(self.workspace.path / path))}
            facts: dict[str, Any] = {
                "paths": protected.restored,
                "aside": aside,
                "left": protected.left,
                "because": because,
                "parts": dict(protected.parts),
            }
            self.log.note(ProtectedRestored(**self.log.stamp(iteration), **self.redactor.within(facts)))

    async def after(self, iteration: int, seen: Snapshot | None, stop: Stop) -> Checkpoint:
        """Make a checkpoint after an iteration; do not wait for a slow one once the run is asked to stop."""
        if not stop.reason:
            with stop.watched(), self.workspace.reporting_progress():
                return await self._checkpoint(iteration, "after", seen)
        with anyio.move_on_after(_HURRY):  # what was read before is not read again
            return await self._checkpoint(iteration, "after", seen)
        return Checkpoint(problem="There was no time left for a checkpoint.")

    async def commit(
        self, when: Literal["iteration", "completion"], iteration: int, summary: str, since: str | None, stop: Stop
    ) -> bool:
        """Commit the changes since a checkpoint, if the run commits at this moment; a stop ends hooks that run.

        The reason why nothing was committed is reported once. Returns True if there may be a new commit.
        """
        if self.commits != when:
            return False
        if since is None:
            self.uncommitted = "The changes are not committed: there is no checkpoint from before the run."
            self._report(iteration, self.uncommitted)
            return False
        subject = " ".join(summary.split()) or f"Iteration {iteration} of a Ralph run"
        subject = subject if len(subject) <= 72 else f"{subject[:71].rstrip()}…"
        made = CommitResult("", "The run was stopped during the commit; `git log` shows whether it was made.")
        with anyio.CancelScope() if stop.reason else stop.watched():
            made = await self.workspace.commit(since, f"{subject}\n\nRalph-Run: {self.log.run_id}\n")
        if made.message and made.message != self._last_message:
            self._report(iteration, made.message)
        self._last_message = made.message
        self.uncommitted = "" if made.commit else self.redactor(made.message)
        return made.commit is not None

    async def end(self, iteration: int, summary: str | None, since: str | None, stop: Stop) -> None:
        """Release protected paths, and commit what a run changed since; without a `summary`, it is not completed."""
        await self.restore_protected(iteration)
        await self.workspace.unguard()
        if summary is not None:
            await self.commit("completion", iteration, summary, since, stop)

    async def _checkpoint(
        self, iteration: int, moment: Literal["before", "after"], seen: Snapshot | None
    ) -> Checkpoint:
        """Make a checkpoint; report once what it leaves out."""
        made = await self.workspace.checkpoint(self.log.run_id, iteration, moment, seen=seen)
        if made.problem and made.problem != self._last_problem:
            self._report(iteration, made.problem)
        self._last_problem = made.problem
        return made

    def _report(self, iteration: int, text: str) -> None:
        self.log.diagnose(self.redactor(text), iteration)
