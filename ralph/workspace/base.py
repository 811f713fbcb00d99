"""What a workspace is: the folder that the agent works in, and how to see what became of it."""

import hashlib
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Literal, NamedTuple, Self

import anyio.to_thread
from pydantic import BaseModel

from ralph.errors import WorkspaceError
from ralph.types.changes import Changes, Checkpoint
from ralph.types.plan import TaskPlan, read_plan
from ralph.workspace.checkpoints import Checkpoints
<<<<<<< HEAD
from ralph.workspace.committing import Committed
from ralph.workspace.lock import Hold
from ralph.workspace.looking import Looking, announced
=======
from ralph.workspace.lock import WorkspaceLock
>>>>>>> 4c28bd3 (Merge modules of workspace and testing that are read together)
from ralph.workspace.protection import Protection, RestoredPaths
from ralph.workspace.response import keep_response
from ralph.workspace.restore import Restored
from ralph.workspace.scan import ScanProgress, reporting_progress

__all__ = ["NoWorkspace", "Snapshot", "Workspace", "fingerprint", "summarize"]

FILES_NAMED = 200


class Snapshot(BaseModel, frozen=True):
    """The state of a workspace at one moment.

    Attributes:
        fingerprint: equal for equal states; None where the workspace could not be read.
        head: the commit that is checked out; None in a plain folder or before the first commit.
        files: content hashes by path, of the files that differ from `head` (of all files in a plain folder);
            what two snapshots have to be compared by.
        seen_by: what read the workspace. Only snapshots by the same can be compared file by file.
        problem: why it could not be read, or not wholly.
    """

    fingerprint: str | None = None
    head: str | None = None
    files: dict[str, str] = {}
    seen_by: Literal["git", "folder"] = "folder"
    problem: str = ""


class CommitResult(NamedTuple):
    """What came of it.

    Attributes:
        commit: the new commit's id; None where there is none.
        message: what a person should know of it; empty where there was nothing to commit.
    """

    commit: str | None = None
    message: str = ""


class Workspace:
    """The folder that the agent works in. Used in `async with`, which gives it back at the end.

    Subclass it and implement `snapshot` and `changes`.

    Args:
        path: the folder; absolute.
        state_dir: where the lock lies that keeps other runs out; None for the user's state folder.

    Attributes:
        own_files: paths in the folder that Ralph writes itself: no work, and in no checkpoint. Those of a run's earlier
            processes are added when it is taken up.
        origin: the folder whose worktree it is, where Ralph made one for the run; None otherwise.
        onto: the branch that was checked out there; None where none was.
        on_progress: told how far a look at the workspace is that takes longer than a second; see `reporting_progress`.
        checkpoints: what holds the files as they were at certain moments; None in a workspace that cannot.
        protection: what gives protected paths back; None in a workspace that has none.
    """

    origin: Path | None = None
    onto: str | None = None
    on_progress: ScanProgress | None = None
    checkpoints: Checkpoints | None = None
    protection: Protection | None = None

    def __init__(self, path: Path, *, state_dir: Path | None = None) -> None:
        self.path = path
        self.own_files: set[str] = set()
        self._lock = WorkspaceLock(path, state_dir)

    def reporting_progress(self) -> AbstractContextManager[None]:
        """While the block takes a look at the workspace, `looking` is told how far it is."""
        if self.on_progress is None:
            return nullcontext()
        return reporting_progress(self.on_progress, lambda: self.checkpoints.read if self.checkpoints else (0, 0))

    async def snapshot(self) -> Snapshot:
        """The state as it is now. It never raises on what an agent may have done to the folder."""
        raise NotImplementedError

    async def changes(self, before: Snapshot, after: Snapshot) -> Changes:
        """What happened between two snapshots."""
        raise NotImplementedError

    async def checkpoint(
        self, run_id: str, iteration: int, moment: Literal["before", "after"], *, seen: Snapshot | None = None
    ) -> Checkpoint:
        """Holds the files as they are now, so that one can go back to them; what is ignored is not held.

        It never raises on what an agent may have done. Where nothing has changed since the run's last checkpoint,
        it is that one again.

        Args:
            seen: the last snapshot, which knows the commit that is checked out.
        """
        if self.checkpoints is None:
            return Checkpoint()
        head = seen.head if seen is not None and seen.seen_by == "git" else None
        return await self.checkpoints.take(run_id, f"{iteration}/{moment}", head=head)

    async def difference(self, before: str, after: str | None = None, *, limit: int | None = None) -> str:
        """What two checkpoints differ in, as git shows it; empty where one of them is not there.

        Args:
            before, after: the checkpoints' commits; None for the files as they are now.
            limit: in characters; of a longer text the beginning is given, and a line that says so.
        """
        return await self.checkpoints.difference(before, after, limit=limit) if self.checkpoints else ""

    async def restore(self, commit: str, *, force: bool = False) -> Restored:
        """Gives the files back what a checkpoint holds, and takes away what was not there then.

        The branch, its commits, the index and what is ignored stay as they are.

        Args:
            force: also where the files are in a state that no checkpoint holds, or something that cannot be held is
                in the way; then that state is held first, or put aside.

        Raises:
            WorkspaceError: the checkpoint is not there, the files cannot be given back, or `force` would be needed.
        """
        if self.checkpoints is None:
            raise WorkspaceError(
                f"{self.path} has no checkpoints.", "They are turned off, or a workspace of this kind has none."
            )
        return await self.checkpoints.restore(commit, force=force)

    async def commits_since(self, commit: str) -> int:
        """How many commits were made since a checkpoint; 0 where that cannot be told."""
        return 0

    async def reset_branch(self, run_id: str, commit: str) -> str:
        """Moves the branch that is checked out back to where it was at a run's checkpoint; the files stay.

        Returns the commit that it was at before, which is kept as long as the run's checkpoints are; empty where there
        was nothing to do.

        Raises:
            WorkspaceError: it cannot be done without dropping other work.
        """
        raise WorkspaceError(f"{self.path} has no branch: it is not under git.", "Leave --reset-branch away.")

    async def commit(self, since: str, message: str) -> CommitResult:
        """Commits what differs from a checkpoint to the branch that is checked out. It never raises.

        What was changed before the checkpoint and not since stays uncommitted.
        """
        return CommitResult(message="What was changed is not committed: the workspace is not under git.")

    async def guard(self, run_id: str) -> str:
        """Takes note of the protected paths before an iteration. Returns why it could not, or the empty string."""
        if self.protection is None:
            return ""
        try:
            await anyio.to_thread.run_sync(self.protection.remember, run_id)
        except OSError as error:
            return f"The protected paths could not be noted: {error.strerror or error}."
        return ""

    async def unguard(self) -> None:
        """Forgets what `guard` took note of: from now on a person may change it."""
        if self.protection is not None:
            await anyio.to_thread.run_sync(self.protection.forget)

    async def restore_protected(self, run_id: str, *, until: float | None = None) -> RestoredPaths:
        """Gives back the protected paths that differ from how the run's last iteration found them.

        Args:
            until: changes from after this time, in seconds since the epoch, are left alone.
        """
        if self.protection is None:
            return RestoredPaths()
<<<<<<< HEAD
        return await anyio.to_thread.run_sync(partial(self.protection.restore_protected, run_id, until=until))
=======
        return await anyio.to_thread.run_sync(partial(self.protection.restore, run_id, until=until))
>>>>>>> 4c28bd3 (Merge modules of workspace and testing that are read together)

    async def forget(self, run_id: str) -> None:
        """Lets go of a run's checkpoints."""
        if self.checkpoints is not None:
            await self.checkpoints.forget(run_id)

    def plan(self, name: str | None) -> TaskPlan | None:
        """The task plan, or None where there is none; see `read_plan`."""
        return read_plan(self.path, name)

    def acquire(self, run_id: str) -> None:
        """Marks the workspace as taken by a run. Raises `WorkspaceBusyError` where a run has it already."""
        self._lock.acquire(run_id)

    def release(self) -> None:
        """Gives the workspace back; safe to call when it is not held."""
        self._lock.release()

    def keep_response(self, text: str) -> str:
        """Writes the agent's last answer to `.ralph/last-response.md`, by rename and never through a link.

        Returns why it could not be written, or the empty string.
        """
        return keep_response(self.path, text)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


class NoWorkspace(Workspace):
    """No workspace at all: nothing is known of what the agent changes, nothing is written, and nothing is held."""

    async def snapshot(self) -> Snapshot:
        return Snapshot()

    async def changes(self, before: Snapshot, after: Snapshot) -> Changes:
        return Changes()

    def plan(self, name: str | None) -> TaskPlan | None:
        return None

    def acquire(self, run_id: str) -> None: ...

    def keep_response(self, text: str) -> str:
        return ""


def fingerprint(head: str | None, hashes: Mapping[str, str]) -> str:
    """One name for a commit and the content hashes by path, whatever their order."""
    digest = hashlib.blake2b((head or "").encode(), digest_size=16)
    for path, mark in sorted(hashes.items()):
        digest.update(f"\0{path}\0{mark}".encode())
    return digest.hexdigest()


def summarize(after: Snapshot, paths: Iterable[str], *, commits: int = 0, problem: str = "") -> Changes:
    """The changes that led to a snapshot, of the paths that differ."""
    files = sorted(paths)
    return Changes(
        fingerprint=after.fingerprint,
        files=tuple(files[:FILES_NAMED]),
        files_changed=len(files),
        commits=commits,
        problem=problem or after.problem,
    )
