"""`ralph run --worktree`: the run works in a worktree of its own, which is kept, merged or discarded at the end."""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ralph.records.record import RunRecord
    from ralph.workspace.worktree import End, Worktree

__all__ = ["end_again", "end_worktree", "new_worktree", "tell_left"]

_NAMED = 5


@contextmanager
def new_worktree(folder: Path) -> "Generator[Worktree]":
    """A worktree for a run that is about to begin; it goes again where that fails before any work is done.

    Raises:
        WorkspaceError: there can be none.
    """
    import anyio

    from ralph.loop.runner import new_run_id
    from ralph.workspace.worktree import make_worktree

    made = anyio.run(make_worktree, folder, new_run_id(datetime.now(UTC)))
    if made.missing:
        more = f" and {len(made.missing) - _NAMED:,} more" if len(made.missing) > _NAMED else ""
        _tell(f"Not committed, so not in the worktree: {', '.join(made.missing[:_NAMED])}{more}.")
    _tell(f"The run works on {made.branch}, in {made.path}.")
    try:
        yield made
    except Exception:
        _tell(anyio.run(made.discard, None))
        raise


def end_worktree(worktree: "Worktree", how: "End", record: "RunRecord") -> None:
    """Does with the worktree what is wanted at the end, and tells what became of it."""
    import anyio

    from ralph.workspace import open_workspace

    async def whole() -> str:
        if how == "merge":
            return await worktree.merge(completed=record.stop_reason == "completed")
        if how == "keep":
            return await worktree.kept()
        workspace = open_workspace(worktree.path)
        made = await workspace.checkpoint(record.id, record.iterations, "after", seen=await workspace.snapshot())
        return await worktree.discard(None if made.problem else made.commit)

    _tell(anyio.run(whole))


def end_again(record: "RunRecord", how: "End") -> None:
    """Ends the worktree of a run that was resumed in it; that of a copy is kept: it is the original's to end."""
    from ralph.workspace.worktree import find_worktree

    worktree = find_worktree(Path(record.origin or ""), Path(record.workspace or ""), record.id, record.onto)
    if worktree is not None:
        end_worktree(worktree, "keep" if record.imported else how, record)


async def tell_left(record: "RunRecord", *, would: bool) -> list[str]:
    """Tells of the worktree that a run leaves behind when it is removed from the store, which stays with its branch.

    Returns its folder, where there is one.

    Args:
        would: the run is not removed yet, and this only tells what would stay.
    """
    from ralph.errors import WorkspaceError
    from ralph.workspace.worktree import find_worktree

    if not record.origin or not record.workspace:
        return []
    try:
        worktree = find_worktree(Path(record.origin), Path(record.workspace), record.id)
    except WorkspaceError:
        return []
    if worktree is None:
        return []
    _tell(await worktree.kept(f"The worktree of run {record.id} {'would stay' if would else 'stays'}."))
    return [str(worktree.top)]


def _tell(text: str) -> None:
    """To standard error: standard output is the display's."""
    from ralph.records.projection import printable

    sys.stderr.write(f"{printable(text)}\n")
    sys.stderr.flush()
