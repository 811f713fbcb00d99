"""`ralph diff` and `ralph rollback`: the files of a run by its checkpoints, compared and restored."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ralph.cli.options import AsJson, RunId, StoreName
from ralph.cli.output import console, print_json
from ralph.cli.store_url import store_option
from ralph.errors import UsageError, WorkspaceError
from ralph.system.text import printable
from ralph.watch.terminal import one_line

if TYPE_CHECKING:
    from ralph.records.record import RunRecord
    from ralph.store import Store
    from ralph.workspace import Workspace
    from ralph.workspace.restore import Restored

__all__ = ["diff", "forget_checkpoints", "rollback"]

_MOST = 20_000_000
"""The greatest number of characters of a difference that are shown."""

_STYLES = (("+++", "bold"), ("---", "bold"), ("diff ", "bold"), ("@@", "cyan"), ("+", "green"), ("-", "red"))
_SHORTEST_ID = 7

Iteration = Annotated[
    int | None, typer.Option("--iteration", metavar="N", min=1, help="Only that iteration; else the whole run.")
]
To = Annotated[
    str,
    typer.Option(
        "--to", metavar="N", help="The iteration to go back to (0: before the run), or a checkpoint's commit."
    ),
]
Force = Annotated[
    bool, typer.Option("--force", help="Go back even if no checkpoint holds some changes; they are saved first.")
]
ResetBranch = Annotated[
    bool, typer.Option("--reset-branch", help="Also remove the commits made since from the branch; a ref keeps them.")
]


def diff(run: RunId = "last", *, iteration: Iteration = None, as_json: AsJson = False, store: StoreName = None) -> None:
    """Show what a run has changed, in commits and in uncommitted files, according to its checkpoints."""
    import anyio

    compared = anyio.run(_compare, run, iteration, store)
    if as_json:
        print_json(compared)
    else:
        _print_diff(compared["diff"])


async def _compare(name: str, number: int | None, store: str | None) -> dict[str, Any]:
    from ralph.cli.lookup import opened_run

    async with opened_run(name, store) as (opened, run):
        before, after = await _ends(opened, run, number)
        async with _workspace_of(run, read_only=True) as workspace:
            checkpoints = workspace.checkpoints
            files = await checkpoints.files(before, after) if checkpoints else []
            text = await workspace.difference(before, after, limit=_MOST)
            lost = [each for each in (before, after) if checkpoints and not await checkpoints.holds(each)]
    if lost:
        raise UsageError(f"Checkpoint {lost[0][:12]} of run {run.id} no longer exists.", "It cannot be compared.")
    return {
        "run": run.id,
        "iteration": number,
        "before": before,
        "after": after,
        "files": [file._asdict() for file in files],
        "diff": text,
    }


async def _ends(store: "Store", run: "RunRecord", number: int | None) -> tuple[str, str]:
    """Return the checkpoints before and after an iteration, or the whole run. Raises `UsageError` if one is missing."""
    from ralph.cli.lookup import find_iteration
    from ralph.loop.recovery import checkpoint_before

    last: str | None = None
    if number is None:
        first = run.checkpoint
        async for iteration in store.iterations(run.id):
            last = iteration.checkpoint.commit or last
    else:
        last = (await find_iteration(store, run, number)).checkpoint.commit
        first = await checkpoint_before(store, run.id, number)
    if first is None or last is None:
        what = "the run" if number is None else f"iteration {number}"
        raise UsageError(f"Run {run.id} lacks a checkpoint from before or after {what}.", "`ralph show` says why.")
    return first, last


def _print_diff(text: str) -> None:
    """Print a difference without control characters: coloured on a terminal, else as git prints it."""

    lines = [printable(line, len(line) + 1) for line in text.split("\n")[:-1]]
    if not sys.stdout.isatty():
        sys.stdout.writelines(f"{line}\n" for line in lines)
        return
    from rich.text import Text

    out = console()
    for line in lines:
        style = next((style for start, style in _STYLES if line.startswith(start)), "")
        out.print(Text(line, style=style), soft_wrap=True)


def rollback(
    run: RunId,
    *,
    to: To,
    force: Force = False,
    reset_branch: ResetBranch = False,
    as_json: AsJson = False,
    store: StoreName = None,
) -> None:
    """Restore the files as they were after an iteration.

    Branch, commits, index and ignored files stay as they are. Nothing is
    discarded unless a checkpoint holds it.
    """
    import anyio

    result = anyio.run(_roll_back, run, to, force, reset_branch, store)
    if as_json:
        print_json(result)
    else:
        _print_result(result, store)


async def _roll_back(name: str, to: str, force: bool, reset_branch: bool, store: str | None) -> dict[str, Any]:  # noqa: FBT001
    from ralph.cli.lookup import is_alive, opened_run
    from ralph.loop.assembly import own_files

    async with opened_run(name, store) as (opened, run):
        if is_alive(run):
            raise UsageError(f"Run {run.id} is running in {run.workspace}.", f"`ralph stop {run.id}` ends it.")
        async with _workspace_of(run, apart=own_files(store)) as workspace:
            workspace.hold(run.id)
            commit = await _commit_after(opened, run, workspace, to)
            restored = await workspace.restore(commit, force=force)
            branch_was_at = await workspace.take_off(run.id, commit) if reset_branch else ""
            result = _as_json(run, commit, restored)
            return {
                **result,
                "commits_since": await workspace.commits_since(commit),
                "branch_was_at": branch_was_at or None,
            }


def _as_json(run: "RunRecord", commit: str, restored: "Restored") -> dict[str, Any]:
    return {
        "run": run.id,
        "workspace": run.workspace,
        "checkpoint": commit,
        "written": restored.written,
        "removed": restored.removed,
        "before": restored.saved,
        "aside": str(restored.aside) if restored.aside else None,
        "repositories_inside": list(restored.inner),
        "problem": restored.problem,
    }


def _print_result(result: dict[str, Any], store: str | None) -> None:
    from rich.text import Text

    out = console()

    def say(text: str, style: str = "") -> None:
        out.print(Text(one_line(text, 1000), style=style), soft_wrap=True)

    if result["written"] or result["removed"]:
        changed = f"{result['written']} written, {result['removed']} removed"
        say(f"{result['workspace']} is back at checkpoint {result['checkpoint'][:12]}: {changed}.")
    else:
        say("The files are already in that state.")
    if result["before"]:
        say(f"To undo this: ralph rollback{store_option(store)} {result['run']} --to {result['before'][:12]}")
    if result["aside"]:
        say(f"Files that were in the way are now in {result['aside']}.", "yellow")
    if result["repositories_inside"]:
        say(f"Left unchanged, as repositories of their own: {', '.join(result['repositories_inside'])}.", "yellow")
    if result["branch_was_at"]:
        was = result["branch_was_at"][:12]
        say(f"The branch was at {was}: `git reset {was}` brings its commits back.")
    elif result["commits_since"]:
        commits = "a commit" if result["commits_since"] == 1 else f"{result['commits_since']} commits"
        say(f"The branch still has {commits} made since; --reset-branch removes them.", "yellow")
    if result["problem"]:
        say(result["problem"], "red")


def _workspace_of(run: "RunRecord", *, read_only: bool = False, apart: Iterable[Path] = ()) -> "Workspace":
    """Return the workspace of a run.

    Args:
        run: the run.
        read_only: only its checkpoints are needed; those of a removed worktree are in its main repository.
        apart: the files that this process itself writes, which are not restored.

    Raises:
        UsageError: the run had no workspace.
        WorkspaceError: its folder no longer exists.
    """
    from ralph.workspace import open_workspace

    if run.workspace is None:
        raise UsageError(f"Run {run.id} had no workspace.", "Only a run with a workspace has checkpoints.")
    folder = Path(run.workspace)
    if folder.exists():
        return open_workspace(folder, apart=apart)
    if read_only and run.origin:
        return open_workspace(Path(run.origin))
    raise WorkspaceError(
        f"The folder of run {run.id} no longer exists: {folder}.", "Its checkpoints belong to that folder."
    )


async def _commit_after(store: "Store", run: "RunRecord", workspace: "Workspace", to: str) -> str:
    """Return the checkpoint after an iteration, for "0" the one before the run, or the one with an id that starts so.

    Raises:
        UsageError: there is no such checkpoint.
    """
    from ralph.cli.lookup import find_iteration

    if not (to.isascii() and to.isdigit() and len(to) < _SHORTEST_ID):
        found = await workspace.checkpoints.find(run.id, to.lower()) if workspace.checkpoints else None
        if found is None or len(to) < _SHORTEST_ID:
            raise UsageError(
                f"Run {run.id} has no checkpoint {to[:80]!r}.",
                "Name an iteration, as in --to 3, or 0 for before the run.",
            )
        return found
    if int(to) == 0:
        commit, problem, when = run.checkpoint, "", "before its first iteration"
    else:
        checkpoint = (await find_iteration(store, run, int(to))).checkpoint
        commit, problem, when = checkpoint.commit, checkpoint.problem, f"after iteration {int(to)}"
    if commit is None:
        raise UsageError(f"Run {run.id} has no checkpoint from {when}. {problem}".strip(), "Name another one.")
    return commit


async def forget_checkpoints(run: "RunRecord") -> None:
    """Release the checkpoints of a run that was removed from the store; those of an imported copy stay."""
    import anyio
    import anyio.to_thread

    from ralph.workspace.checkpoints import forget_folder

    if run.workspace is None or run.imported:
        return
    if not await anyio.Path(run.workspace).exists():
        await anyio.to_thread.run_sync(forget_folder, Path(run.workspace))
    try:
        workspace = _workspace_of(run, read_only=True)
    except WorkspaceError:
        return
    await workspace.forget(run.id)
