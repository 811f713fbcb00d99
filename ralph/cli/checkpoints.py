"""Finding the checkpoints of a run, and the workspace that they are of."""

from collections.abc import Iterable
from pathlib import Path

import anyio
import anyio.to_thread

from ralph.errors import UsageError, WorkspaceError
from ralph.records.record import IterationRecord, RunRecord
from ralph.store import Store
from ralph.workspace import Workspace, open_workspace
from ralph.workspace.checkpoints import forget_folder

__all__ = ["commit_after", "forget", "iteration_of", "workspace_of"]

_SHORTEST_ID = 7


def workspace_of(run: RunRecord, *, to_read: bool = False, apart: Iterable[Path] = ()) -> Workspace:
    """The workspace of a run. Raises `UsageError` where it had none, `WorkspaceError` where it is gone.

    Args:
        to_read: only its checkpoints are wanted; those of a worktree that is gone are in the repository it was of.
        apart: files that this process writes; what was held when none did must not take them away.
    """
    if run.workspace is None:
        raise UsageError(f"Run {run.id} had no workspace.", "Only a run with a workspace has checkpoints.")
    folder = Path(run.workspace)
    if not folder.exists():
        if to_read and run.origin:
            return open_workspace(Path(run.origin))
        raise WorkspaceError(
            f"The folder of run {run.id} no longer exists: {folder}.", "Its checkpoints belong to that folder."
        )
    return open_workspace(folder, apart=apart)


async def commit_after(store: Store, run: RunRecord, workspace: Workspace, to: str) -> str:
    """The checkpoint after an iteration, for "0" the one before the run, or the one whose commit's id begins so.

    Raises:
        UsageError: there is none.
    """
    number = int(to) if to.isascii() and to.isdigit() and len(to) < _SHORTEST_ID else None
    if number is None:
        found = await workspace.checkpoints.find(run.id, to.lower()) if workspace.checkpoints else None
        if found is None or len(to) < _SHORTEST_ID:
            raise UsageError(
                f"Run {run.id} has no checkpoint {to[:80]!r}.",
                "Name an iteration, as in --to 3, or 0 for before the run.",
            )
        return found
    if number == 0:
        commit, problem = run.checkpoint, ""
    else:
        iteration = await iteration_of(store, run, number)
        commit, problem = iteration.checkpoint.commit, iteration.checkpoint.problem
    if commit is None:
        when = f"after iteration {number}" if number else "before its first iteration"
        raise UsageError(f"Run {run.id} has no checkpoint from {when}. {problem}".strip(), "Name another one.")
    return commit


async def forget(run: RunRecord) -> None:
    """Lets go of the checkpoints of a run that is gone from the store; those of a copy stay for the original."""
    if run.workspace is None or run.imported:
        return
    if not await anyio.Path(run.workspace).exists():
        await anyio.to_thread.run_sync(forget_folder, Path(run.workspace))
    try:
        workspace = workspace_of(run, to_read=True)
    except WorkspaceError:
        return
    await workspace.forget(run.id)


async def iteration_of(store: Store, run: RunRecord, number: int) -> IterationRecord:
    """The record of an iteration. Raises `UsageError` where there is none."""
    async for iteration in store.iterations(run.id):
        if iteration.number == number:
            return iteration
    raise UsageError(f"Run {run.id} has no iteration {number}.", f"`ralph show {run.id}` lists those that it has.")
