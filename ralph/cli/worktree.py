"""`ralph run --worktree`: a worktree for one run, which is kept, merged or discarded at the end."""

import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ralph.errors import WorkspaceError
from ralph.system.text import some_of

if TYPE_CHECKING:
    from ralph.records.record import RunRecord
    from ralph.types.choices import WorktreeEnd
    from ralph.workspace.worktree import Worktree


@contextmanager
def new_worktree(folder: Path, *, hooks: bool = False, confined: bool = False) -> "Generator[Worktree]":
    """Make a worktree for a new run, and discard it if the run cannot start.

    Raises:
        WorkspaceError: a worktree is not possible here.
    """
    import anyio

    from ralph.loop.runner import new_run_id
    from ralph.workspace.worktree import make_worktree

    made = anyio.run(partial(make_worktree, folder, new_run_id(datetime.now(UTC)), hooks=hooks, confined=confined))
    if missing := "; ".join(f"{why}: {some_of(paths)}" for why, paths in made.missing.items()):
        _report(f"Not in the worktree, which has only what is committed: {missing}.")
    _report(f"The run works on {made.branch}, in {made.path}.")
    try:
        yield made
    except Exception:
        _report(anyio.run(made.discard, None))
        raise


def end_worktree(worktree: "Worktree", how: "WorktreeEnd", record: "RunRecord") -> None:
    """Keep, merge or discard the worktree, and report the result."""
    import anyio

    from ralph.workspace import open_workspace

    async def end() -> str:
        if how == "merge":
            return await worktree.merge(completed=record.stop_reason == "completed")
        if how == "keep":
            return await worktree.kept()
        workspace = open_workspace(worktree.path, confined=worktree.confined)
        made = await workspace.checkpoint(record.id, record.iterations, "after", seen=await workspace.snapshot())
        return await worktree.discard(None if made.problem else made.commit)

    _report(anyio.run(end))


def end_resumed_worktree(
    record: "RunRecord", how: "WorktreeEnd", *, hooks: bool = False, confined: bool = False
) -> None:
    """End the worktree of a resumed run. An imported copy keeps it: the worktree belongs to the original run."""
    from ralph.workspace.worktree import find_worktree

    origin, path = Path(record.origin or ""), Path(record.workspace or "")
    worktree = find_worktree(origin, path, record.id, record.onto, hooks=hooks, confined=confined)
    if worktree is not None:
        end_worktree(worktree, "keep" if record.imported else how, record)


async def report_remaining_worktree(record: "RunRecord", *, would: bool) -> list[str]:
    """Report the worktree that remains, with its branch, after a run is removed from the store, or `would` be.

    Return its folder; empty if none exists.
    """
    from ralph.workspace.worktree import find_worktree

    worktree = None
    if record.origin and record.workspace:
        with suppress(WorkspaceError):
            worktree = find_worktree(Path(record.origin), Path(record.workspace), record.id)
    if worktree is None:
        return []
    _report(await worktree.kept(f"The worktree of run {record.id} {'would stay' if would else 'stays'}."))
    return [str(worktree.top)]


def _report(text: str) -> None:
    """Print to standard error: standard output belongs to the display."""
    from ralph.system.text import printable

    sys.stderr.write(f"{printable(text)}\n")
    sys.stderr.flush()
